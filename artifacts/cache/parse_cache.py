"""The parse cache: parsed groups of documents, by the hash of their content and of what affects parsing.

It lies beside the snapshots, as the embedding store does, and is a cache: losing it costs nothing but time. A
segment is named by its own SHA-256, and one with unexpected bytes is ignored.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ...pipeline.identity import canonical_json, sha256_hex
from ...pipeline.model import ReportEntry, SnapshotId
from ..disk import durable, folders
from ..disk.layout import PARSE_CACHE, collections_file
from ..tables.outside_memory import mapped_table
from . import segments
from .parsed_corpus import GROUPS, in_one_piece

# Large enough for columnar work to pay off, and far below the 2 GiB of text that 32-bit offsets reach.
_ROWS_AT_A_TIME = 512
# Of rows in memory; on disk a segment takes about a third.
SEGMENT_BYTES = 64_000_000
_SMALL_BYTES = 4_000_000
_MAX_SMALL_SEGMENTS = 48
_MAX_DEAD_SHARE = 0.5
_FORMAT = 1
_HOLDS = {"kind": "parse-cache", "format": str(_FORMAT)}
_log = logging.getLogger("noctule")


@dataclass(frozen=True, slots=True)
class CollectionRecord:
    """A collection in a snapshot: its groups' keys, a fingerprint of everything else that affects how they
    are parsed, and what was left out.
    """

    keys: tuple[str, ...]
    fingerprint: str
    rejections: tuple[ReportEntry, ...] = ()


class ParseCache:
    """Rows of ``parsed_corpus.GROUPS`` under ``<store>/parse-cache/``; their keys are held in memory."""

    def __init__(self, store: Path) -> None:
        self._store, self._folder = store, store / PARSE_CACHE
        self._paths: list[Path] = []
        self._tables: dict[int, pa.Table] = {}
        self._place: dict[str, tuple[int, int]] = {}
        there = self._segments()
        found = segments.read_all(there, _read_keys, self._folder, "their files are parsed again")
        self._unread = [path for path in there if path not in found]
        for path, keys in found.items():
            self._know(path, keys)

    def __contains__(self, key: str) -> bool:
        return key in self._place

    def add(self, rows: pa.Table) -> None:
        """Add rows, which can be found by key from now on and are on disk; raises ``WriteFailed``."""
        for part in _parts(rows):
            self._know(self._write(part), part["key"].to_pylist())

    def rows(self, keys: Sequence[str]) -> pa.Table:
        """Return the rows of these keys, in their order; every key must exist.

        They are outside memory. Raises ``WriteFailed``.
        """
        places = np.array([self._place[key] for key in keys], dtype=np.int64).reshape(-1, 2)
        # Adjacent rows are one slice, as most are from one night to the next.
        broken = (np.diff(places[:, 0]) != 0) | (np.diff(places[:, 1]) != 1)
        borders = [0, *(np.flatnonzero(broken) + 1).tolist(), len(places)]
        slices = [
            self._table(int(places[start, 0])).slice(places[start, 1], end - start)
            for start, end in pairwise(borders)
            if end > start
        ]
        return pa.concat_tables([GROUPS.empty_table(), *slices])

    def _table(self, number: int) -> pa.Table:
        """Return the rows of a segment, decompressed when they are first used."""
        if number not in self._tables:
            with pa.memory_map(str(self._paths[number])) as file:
                reader = pa.ipc.open_file(file)
                parts = (reader.get_batch(at) for at in range(reader.num_record_batches))
                tables = (pa.Table.from_batches([part]) for part in parts)
                self._tables[number] = mapped_table(GROUPS, tables, self._store)
        return self._tables[number]

    def _segments(self) -> list[Path]:
        return folders.entries(self._folder, "*.arrow")

    def release(self) -> None:
        """Free the rows; they are decompressed again if they are used again."""
        self._tables.clear()

    def collections(self, snapshot: SnapshotId | None) -> dict[str, CollectionRecord]:
        """Return the collections of this snapshot, provided that all their groups are still cached.

        The result is empty if the record of it is missing, damaged or of another snapshot.
        """
        found = self._recorded(snapshot) if snapshot is not None else {}
        return {name: known for name, known in found.items() if all(key in self for key in known.keys)}

    def record(self, snapshot: SnapshotId, collections: Mapping[str, CollectionRecord]) -> None:
        """Write the record of a snapshot's collections before it is published; raises ``WriteFailed``.

        If it were published first, a kill would leave a current snapshot without a record.
        """
        durable.make_directory(self._folder)
        given = {name: asdict(each) for name, each in collections.items()}
        content: dict[str, object] = {
            "collections": given,
            "sha256": _digest(snapshot, given),
            "snapshot": snapshot,
        }
        content |= {"format": _FORMAT, "kind": "collections"}
        durable.replace_file(self._folder / collections_file(snapshot), canonical_json(content).encode())

    def tidy(self, snapshots: Sequence[SnapshotId], held: int) -> None:
        """Remove records of other snapshots, and in time rows that the first ``held`` do not use.

        Raises ``WriteFailed``.
        """
        names = {collections_file(snapshot) for snapshot in snapshots}
        for path in sorted(self._folder.glob("collections*.json")):  # an older version wrote collections.json
            if path.name not in names:
                durable.remove_file(path)
        recorded = (self._recorded(snapshot) for snapshot in snapshots[:held])
        self.forget_all_but([key for found in recorded for each in found.values() for key in each.keys])

    def _recorded(self, snapshot: SnapshotId) -> dict[str, CollectionRecord]:
        """Return the collections recorded for this very snapshot, none if the record is not sound."""
        path = self._folder / collections_file(snapshot)
        try:
            read = json.loads(path.read_bytes())
            given = read["collections"]
            # A record of an older noctule names neither format nor kind; its hash proves it as well.
            named = (
                read.get("format", _FORMAT),
                read.get("kind", "collections"),
                read["snapshot"],
                read["sha256"],
            )
            if named == (_FORMAT, "collections", snapshot, _digest(snapshot, given)):
                return {str(name): _published(each) for name, each in given.items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, AttributeError, TypeError, KeyError, RecursionError):
            pass
        _log.warning("%s is not used: it is not the record of snapshot %s", path, snapshot)
        return {}

    def forget_all_but(self, keys: Sequence[str]) -> None:
        """Rewrite the cache with these rows alone if it holds many others; raises ``WriteFailed``."""
        for path in self._unread:  # damaged, or of an older version
            durable.remove_file(path)
        there = [path for path in self._segments() if path not in self._unread]
        live = [key for key in dict.fromkeys(keys) if key in self._place]
        small = sum(path.stat().st_size < _SMALL_BYTES for path in there)
        if small <= _MAX_SMALL_SEGMENTS and len(live) >= (1 - _MAX_DEAD_SHARE) * len(self._place):
            return
        read = ParseCache(self._store)  # one that was sound may be damaged, or away, by now
        kept = {self._write(part) for part in _parts(read.rows([key for key in live if key in read]))}
        for path in there:
            if path not in kept:
                durable.remove_file(path)

    def _know(self, path: Path, keys: Sequence[str]) -> None:
        number = len(self._paths)
        self._paths.append(path)
        self._place.update((key, (number, at)) for at, key in enumerate(keys))

    def _write(self, rows: pa.Table) -> Path:
        sink = pa.BufferOutputStream()
        options = pa.ipc.IpcWriteOptions(compression="lz4")
        given = segments.marked(rows, _HOLDS)
        with pa.ipc.new_file(sink, given.schema, options=options) as file:
            file.write_table(given)
        path = segments.write(self._folder, sink.getvalue(), ".arrow")
        self._unread = [each for each in self._unread if each != path]
        return path


def _parts(rows: pa.Table) -> Iterator[pa.Table]:
    """Yield the rows in tables of a segment each, in chunks that are long enough for columnar work."""
    chunks, parts = -(-len(rows) // _ROWS_AT_A_TIME), max(1, rows.nbytes // SEGMENT_BYTES)
    size = -(-chunks // parts) * _ROWS_AT_A_TIME
    for first in range(0, len(rows), max(1, size)):
        part = rows.slice(first, size)
        starts = range(0, len(part), _ROWS_AT_A_TIME)
        yield pa.concat_tables([in_one_piece(part.slice(at, _ROWS_AT_A_TIME)) for at in starts])


def _digest(snapshot: SnapshotId, collections: object) -> str:
    return sha256_hex(canonical_json([snapshot, collections]).encode())


def _published(given: Mapping[str, Any]) -> CollectionRecord:
    rejections = tuple(ReportEntry(**each) for each in given["rejections"])
    # Records of older versions call it ``deciding``.
    fingerprint = given["fingerprint" if "fingerprint" in given else "deciding"]
    return CollectionRecord(tuple(map(str, given["keys"])), str(fingerprint), rejections)


def _read_keys(path: Path) -> list[str]:
    """Return the keys of a segment; raises ``UnusableSegment`` if it is damaged or of another version.

    One of an older noctule does not say what it holds, but its columns do, and each row has its key.
    """

    def keys(content: pa.Buffer) -> list[str]:
        schema = pa.ipc.open_file(content).schema
        if segments.marks(schema) not in ({}, _HOLDS) or not schema.equals(GROUPS):
            raise segments.UnusableSegment("of another version")
        alone = pa.ipc.IpcReadOptions(included_fields=[GROUPS.get_field_index("key")])
        found: list[str] = pa.ipc.open_file(content, options=alone).read_all()["key"].to_pylist()
        return found

    return segments.read(path, keys)
