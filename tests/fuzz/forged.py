"""Forged snapshots: files that fit their manifest, and are not what a build would have written.

Bytes decide what is forged: the same bytes give the same forgery, so that a fuzzer can shrink and repeat it.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import cycle, islice
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pyarrow as pa

from noctule.artifacts.disk.layout import MANIFEST, SNAPSHOTS, TABLES, table_file
from noctule.artifacts.disk.manifest import Manifest
from noctule.artifacts.disk.manifest_records import FileEntry, IndexRecord
from noctule.artifacts.store.snapshot import hash_files
from noctule.artifacts.tables.parquet import open_file, read_blocks, read_table, write_table
from noctule.artifacts.tables.schemas import schemas
from noctule.artifacts.tables.vectors import read_index, search
from noctule.pipeline.errors import ArtifactError
from noctule.pipeline.model import SnapshotId
from noctule.pipeline.settings.settings import VectorIndex
from tests.library_builder import build_library
from tests.pictures import png
from tests.snapshot_builder import DIMENSION, unit_rows, write_index

_ROWS = 1_200
_NUMBERS = (-1, 0, 1, 2, 7, 100, 32_767, 1 << 20, (1 << 31) - 1, -(1 << 31), (1 << 62))
_FLOATS = (0.0, -1.0, 1e30, -1e30, math.inf, -math.inf, math.nan)
_TEXTS = (
    "", "\0", "\x1b[2J", "\u202e", "../../etc/passwd", "'); select 1; --", "notes:a.md",
    "javascript:alert(1)", "a" * 5_000, "{", "9999-99-99", "en", "resolved", "0" * 64,
)  # fmt: skip


@dataclass(frozen=True)
class _Original:
    """A sound file, and how its reader is called."""

    content: bytes
    record: IndexRecord


@dataclass(frozen=True)
class Forged:
    """A folder with a forged snapshot, and the name that fits its manifest."""

    path: Path
    id: SnapshotId

    def remove(self) -> None:
        """The snapshot and the store around it are gone."""
        shutil.rmtree(self.path.parents[1])


def edited(content: bytes, script: bytes) -> bytes:
    """Apply a script of edits of five bytes each: where, counted from either end, and what to write there."""
    given = bytearray(content)
    for at in range(0, len(script) - 4, 5):
        kind, high, low, value, times = script[at : at + 5]
        place = (high << 8 | low) % len(given)
        place = (place % 128, len(given) - 1 - place % 512, place, place % 256)[kind & 3]
        piece = bytes([value]) * (1 + times % 9)
        if kind & 12 == 12:
            del given[place : place + len(piece)]
        elif kind & 12 == 8:
            given[place:place] = piece
        else:
            given[place : place + len(piece)] = piece
        if not given:
            break
    return bytes(given)


def faiss_file(script: bytes) -> None:
    """A FAISS file of either kind, read and searched."""
    kind, rest = (script[:1] or b"\0")[0] & 1, script[1:]
    original, path = _indices()[kind], _folder() / "forged.faiss"
    path.write_bytes(edited(original.content, rest))
    try:
        index = read_index(path, _ROWS, DIMENSION, original.record)
    except ArtifactError:
        return
    found = search(index, unit_rows(1)[0], 10)
    assert len(found[0]) <= 10
    assert all(0 <= row < _ROWS for row in found[1])


def parquet_file(script: bytes) -> None:
    """A table's Parquet file, read whole, by block and by row group."""
    name = TABLES[(script[:1] or b"\0")[0] % len(TABLES)]
    content, path = _tables()[name], _folder() / table_file(name)
    path.write_bytes(edited(content, script[1:]))
    schema = schemas(_manifest().model.dimension)[name]
    rows = _manifest().files[path.name].rows
    try:
        read_table(path, schema=schema, rows=rows)
        for _ in read_blocks(path, schema.names[0]):
            pass
        with open_file(path, schema, rows, memory_map=True):
            pass
    except ArtifactError:
        return


def snapshot_of(script: bytes) -> Forged | None:
    """Make a copy of the library's snapshot with one file forged."""
    if len(script) < 5:
        return None
    names, source = sorted(_manifest().files), _library()
    name = names[script[0] % len(names)]
    if name.endswith(".parquet") and script[1] & 3:
        content = _with_cell(Path(name).stem, script[2:])
    else:
        content = edited((source / name).read_bytes(), script[2:])
    return None if content is None else _with_file(name, content)


def with_texts(table: str, column: str, texts: Sequence[str]) -> Forged:
    """Make a copy of the library's snapshot whose column, of texts or of lists of texts, holds these."""
    rows = read_table(_library() / table_file(table))
    given = islice(cycle(texts), rows.num_rows)
    field = rows.schema.field(column)
    cells = [[text] if pa.types.is_list(field.type) else text for text in given]
    forged = rows.set_column(rows.schema.get_field_index(column), field, pa.array(cells, field.type))
    return _with_file(table_file(table), _written(forged))


def _with_file(name: str, content: bytes) -> Forged:
    """Make a copy of the library's snapshot with another file of this name, which its manifest describes."""
    staged, source = Path(mkdtemp(dir=_folder()), SNAPSHOTS, "staged"), _library()
    staged.mkdir(parents=True)
    for each in _manifest().files:
        (staged / each).hardlink_to(source / each)
    (staged / name).unlink()
    (staged / name).write_bytes(content)
    entry = FileEntry(len(content), hash_files([staged / name])[name], _manifest().files[name].rows)
    manifest = replace(_manifest(), files={**_manifest().files, name: entry})
    (staged / MANIFEST).write_bytes(manifest.to_bytes())
    number = manifest.snapshot_id()
    return Forged(staged.rename(staged.parent / number), number)


def _with_cell(table: str, script: bytes) -> bytes | None:
    """Return the table's file with one cell replaced by a value of its type that should not be there."""
    rows = read_table(_library() / table_file(table))
    if not rows.num_rows:
        return None
    column, row, value = script[0] % rows.num_columns, script[1] % rows.num_rows, script[2]
    field = rows.schema.field(column)
    cells = rows.column(column).to_pylist()
    try:
        cells[row] = _value(field.type, cells[row], value)
        forged = rows.set_column(column, field, pa.array(cells, field.type))
    except (pa.ArrowException, OverflowError, TypeError, UnicodeError):
        return None
    return _written(forged)


def _written(table: pa.Table) -> bytes:
    path = _folder() / "forged.parquet"
    path.unlink(missing_ok=True)
    write_table(table, path)
    return path.read_bytes()


def _value(kind: pa.DataType, before: Any, choice: int) -> Any:
    if choice % 13 == 0:
        return None
    if pa.types.is_string(kind):
        return _TEXTS[choice % len(_TEXTS)]
    if pa.types.is_integer(kind):
        return _NUMBERS[choice % len(_NUMBERS)]
    if pa.types.is_floating(kind):
        return _FLOATS[choice % len(_FLOATS)]
    if pa.types.is_large_binary(kind):
        return bytes(choice % 9)
    inner = list(before or ())
    if choice % 5 == 0 and not pa.types.is_fixed_size_list(kind):
        return inner * 2 if choice % 2 else []
    if inner:
        inner[choice % len(inner)] = _value(kind.value_type, None, choice // 5 + 1)
    return inner


def rows(table: str) -> int:
    """The rows of a table of the library, which are forged."""
    return _manifest().files[table_file(table)].rows or 0


def dimension() -> int:
    """The dimension of the library's vectors."""
    return _manifest().model.dimension


@cache
def _folder() -> Path:
    return Path(mkdtemp(prefix="noctule-forged-"))


@cache
def _library() -> Path:
    beside = {  # so that no table that is forged is empty
        "sail.md": b"# Sail\n\n![A sail](sail.png)\n\n```py\nsail()\n```\n",
        "sail.png": png(4, 3),
        "away.md": b"\xff",
    }
    store = build_library(_folder() / "library", beside)
    current = store.current()
    assert current is not None
    return store.root / SNAPSHOTS / current


@cache
def _manifest() -> Manifest:
    return Manifest.from_bytes((_library() / MANIFEST).read_bytes(), where="library")


@cache
def _tables() -> dict[str, bytes]:
    return {name: (_library() / table_file(name)).read_bytes() for name in TABLES}


@cache
def _indices() -> tuple[_Original, _Original]:
    return (_index(VectorIndex(index="flat")), _index(VectorIndex(index="ivf")))


def _index(wanted: VectorIndex) -> _Original:
    path = _folder() / f"{wanted.index}.faiss"
    record = write_index(np.ascontiguousarray(unit_rows(_ROWS)), path, wanted)
    return _Original(path.read_bytes(), record)


def seeds() -> Iterator[bytes]:
    """Yield scripts that forge every column of every table once."""
    for at, name in enumerate(sorted(_manifest().files)):
        if name.endswith(".parquet"):
            columns = len(schemas(_manifest().model.dimension)[Path(name).stem])
            for column in range(columns):
                for value in range(14):
                    yield bytes([at, 1, column, value, value])
