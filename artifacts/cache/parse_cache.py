"""What a store remembers: what groups of documents were understood to say, by the address of their content.

It lies beside the snapshots, as the embedding store does, and is a cache: losing it costs time and nothing else. A segment
is named by its own SHA-256, and one whose bytes are not those that were written is left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ...pipeline.identity import canonical_json, sha256_hex
from ...pipeline.model import Rejection, SnapshotId
from ..store import durable
from ..store.layout import REMEMBERED, collections_file
from . import segments
from .parsed_corpus import GROUPS, in_one_piece

# So many that work on columns pays; their text is mostly far below the 2 GiB that 32-bit offsets reach.
_ROWS_AT_A_TIME = 512
_MAX_SEGMENTS = 48
_MAX_DEAD_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Published:
    """A collection as it is in a snapshot: the keys of its groups, the hash of all that decided them
    besides its files, and what was left out before a group was understood."""

    keys: tuple[str, ...]
    deciding: str
    rejections: tuple[Rejection, ...] = ()


class Remembered:
    """Rows of ``noctule.artifacts.cache.parsed_corpus.GROUPS`` under ``<store>/remembered/``, read once and then held."""

    def __init__(self, store: Path) -> None:
        self._store, self._folder = store, store / REMEMBERED
        self._tables: list[pa.Table] = []
        self._place: dict[str, tuple[int, int]] = {}
        self._unread: list[Path] = []
        self._read = self._segments()
        for path in self._read:
            rows = _read(path)
            self._unread += [] if len(rows) else [path]
            self._hold(rows)

    def __contains__(self, key: str) -> bool:
        return key in self._place

    def add(self, rows: pa.Table) -> None:
        """More rows, each found by its key from now on, and on the disk when this returns. Raises ``WriteFailed``."""
        rows = _chunked(rows)
        self._hold(rows)
        if len(rows):
            self._write(rows)

    def rows(self, keys: Sequence[str]) -> pa.Table:
        """The rows of these keys, in their order; all must be there."""
        places = np.array([self._place[key] for key in keys], dtype=np.int64).reshape(-1, 2)
        # Neighbours that lie side by side are one slice: most are, night after night.
        broken = (np.diff(places[:, 0]) != 0) | (np.diff(places[:, 1]) != 1)
        borders = [0, *(np.flatnonzero(broken) + 1).tolist(), len(places)]
        slices = [
            self._tables[places[start, 0]].slice(places[start, 1], end - start)
            for start, end in pairwise(borders)
            if end > start
        ]
        return pa.concat_tables([GROUPS.empty_table(), *slices])

    def is_as_read(self) -> bool:
        """Whether the same rows lie on the disk as when they were read."""
        return self._segments() == self._read

    def _segments(self) -> list[Path]:
        return sorted(self._folder.glob("*.arrow")) if self._folder.is_dir() else []

    def let_go(self) -> None:
        """Frees the rows: from now on it is only known which keys there are."""
        self._tables = []

    def collections(self, snapshot: SnapshotId | None) -> dict[str, Published]:
        """Return the collections of this snapshot, of whose groups all are still there.

        None are, where the record of it is missing, damaged or that of another snapshot.
        """
        found = self._recorded(snapshot) if snapshot is not None else {}
        return {name: known for name, known in found.items() if all(key in self for key in known.keys)}

    def record(self, snapshot: SnapshotId, collections: Mapping[str, Published]) -> None:
        """Write down what the collections of a snapshot are, before it is published; raise ``WriteFailed``.

        Published first, and killed then, a snapshot would be current of which nothing is known.
        """
        durable.make_directory(self._folder)
        given = {name: asdict(each) for name, each in collections.items()}
        content = {"collections": given, "sha256": _digest(snapshot, given), "snapshot": snapshot}
        durable.replace_file(self._folder / collections_file(snapshot), canonical_json(content).encode())

    def tidy(self, snapshots: Sequence[SnapshotId], held: int) -> None:
        """Remove records of all but these snapshots, and in time the rows that none of the first ``held`` has.

        Raise ``WriteFailed``.
        """
        names = {collections_file(snapshot) for snapshot in snapshots}
        for path in sorted(self._folder.glob("collections*.json")):  # an older version wrote collections.json
            if path.name not in names:
                durable.remove_file(path)
        recorded = (self._recorded(snapshot) for snapshot in snapshots[:held])
        self.forget_all_but([key for found in recorded for each in found.values() for key in each.keys])

    def _recorded(self, snapshot: SnapshotId) -> dict[str, Published]:
        """Return the collections as they were written down for this very snapshot, none if that is not sound."""
        try:
            read = json.loads((self._folder / collections_file(snapshot)).read_bytes())
            given = read["collections"]
            if read["snapshot"] != snapshot or read["sha256"] != _digest(snapshot, given):
                return {}
            return {str(name): _published(each) for name, each in given.items()}
        except (OSError, ValueError, AttributeError, TypeError, KeyError, RecursionError):
            return {}

    def forget_all_but(self, keys: Sequence[str]) -> None:
        """Rewrites what is remembered with these rows alone, if there has come to be much else. Raises ``WriteFailed``."""
        there = self._segments()
        for path in self._unread:  # damaged, or of an older version
            durable.remove_file(path)
        there = [path for path in there if path not in self._unread]
        live = [key for key in dict.fromkeys(keys) if key in self._place]
        if len(there) <= _MAX_SEGMENTS and len(live) >= (1 - _MAX_DEAD_SHARE) * len(self._place):
            return
        kept = self._write(_chunked(Remembered(self._store).rows(live))) if live else None
        for path in there:
            if path != kept:
                durable.remove_file(path)

    def _hold(self, rows: pa.Table) -> None:
        number = len(self._tables)
        self._tables.append(rows)
        self._place.update((key, (number, at)) for at, key in enumerate(rows["key"].to_pylist()))

    def _write(self, rows: pa.Table) -> Path:
        sink = pa.BufferOutputStream()
        options = pa.ipc.IpcWriteOptions(compression="lz4")
        with pa.ipc.new_file(sink, GROUPS, options=options) as file:
            file.write_table(rows)
        path = segments.write(self._folder, sink.getvalue(), ".arrow")
        self._unread = [each for each in self._unread if each != path]
        return path


def _chunked(rows: pa.Table) -> pa.Table:
    """The rows in chunks that are long enough for work on columns."""
    parts = (rows.slice(at, _ROWS_AT_A_TIME) for at in range(0, len(rows), _ROWS_AT_A_TIME))
    return pa.concat_tables([GROUPS.empty_table(), *map(in_one_piece, parts)])


def _digest(snapshot: SnapshotId, collections: object) -> str:
    return sha256_hex(canonical_json([snapshot, collections]).encode())


def _published(given: Mapping[str, Any]) -> Published:
    rejections = tuple(Rejection(**each) for each in given["rejections"])
    return Published(tuple(map(str, given["keys"])), str(given["deciding"]), rejections)


def _read(path: Path) -> pa.Table:
    """The rows of a segment, none if it is damaged or of an older version."""
    table = segments.read(path, lambda content: pa.ipc.open_file(content).read_all())
    return table if table is not None and table.schema.equals(GROUPS) else GROUPS.empty_table()
