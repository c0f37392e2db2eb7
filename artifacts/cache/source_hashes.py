"""The hashes of files at addresses, by version: what a store calls the same is not read again.

It lies beside the snapshots, as the parse cache does, and is a cache: losing it costs reading everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...pipeline.identity import combined_hash
from ..disk import durable, folders
from ..disk.layout import SOURCE_HASHES
from . import segments

_HOLDS = {"kind": "source-hashes", "format": "1"}
_ROWS = pa.schema(
    [pa.field("key", pa.binary(16), nullable=False), pa.field("sha256", pa.binary(32), nullable=False)]
)
_MAX_SEGMENTS = 48
_MAX_DEAD_SHARE = 0.5


def source_key(fingerprint: str, address: str, location: str, version: str, member: str = "") -> bytes:
    """Return the key of a file's version; ``fingerprint`` says which files are more than their own bytes."""
    return bytes.fromhex(combined_hash((fingerprint, address, location, version, member))[:32])


class SourceHashes:
    """Keys and SHA-256 under ``<store>/source-hashes/``, 48 bytes each, mapped from the disk."""

    def __init__(self, store: Path) -> None:
        self._folder = store / SOURCE_HASHES
        there = folders.entries(self._folder, "*.arrow")
        found = segments.read_all(there, _read, self._folder, "their files are read again")
        self._paths = list(found)
        self._unread = [path for path in there if path not in found]
        self._rows = pa.concat_tables([_ROWS.empty_table(), *found.values()])

    def __len__(self) -> int:
        return len(self._rows)

    def known(self, keys: Sequence[bytes]) -> list[str | None]:
        """Return the SHA-256 of each key, nothing for one that is not known."""
        places = self._places(pa.array(keys, pa.binary(16)))
        found = pc.take(self._rows["sha256"], places).to_pylist()
        return [None if each is None else each.hex() for each in found]

    def add(self, keys: Sequence[bytes], digests: Sequence[str]) -> None:
        """Add what was read, on disk on return; what was known by another hash is replaced.

        Raises ``WriteFailed``.
        """
        if not keys:
            return
        columns = [pa.array(keys, pa.binary(16)), pa.array(map(bytes.fromhex, digests), pa.binary(32))]
        rows = pa.Table.from_arrays(columns, schema=_ROWS)
        again = pc.is_in(self._rows["key"], value_set=rows["key"])
        if pc.any(again).as_py():
            self._replace(pa.concat_tables([self._rows.filter(pc.invert(again)), rows]))
            return
        self._paths.append(self._write(rows))
        self._rows = pa.concat_tables([self._rows, rows])

    def forget_all_but(self, keys: Sequence[bytes]) -> None:
        """Rewrite the cache with these keys alone if it holds many others; raises ``WriteFailed``."""
        for path in self._unread:  # damaged, or of an older version
            durable.remove_file(path)
        self._unread = []
        places = np.unique(self._places(pa.array(keys, pa.binary(16))).drop_null().to_numpy())
        many = len(self._paths) > _MAX_SEGMENTS
        if many or len(places) < (1 - _MAX_DEAD_SHARE) * len(self._rows):
            self._replace(self._rows.take(places))

    def _places(self, keys: pa.Array) -> pa.Array:
        return pc.index_in(keys, value_set=self._rows["key"].combine_chunks())

    def _replace(self, rows: pa.Table) -> None:
        kept = [self._write(rows)] if len(rows) else []
        for path in self._paths:
            if path not in kept:
                durable.remove_file(path)
        self._paths, self._rows = kept, rows

    def _write(self, rows: pa.Table) -> Path:
        sink = pa.BufferOutputStream()
        given = segments.marked(rows.combine_chunks(), _HOLDS)
        with pa.ipc.new_file(sink, given.schema) as file:
            file.write_table(given)
        path = segments.write(self._folder, sink.getvalue(), ".arrow")
        self._unread = [each for each in self._unread if each != path]
        return path


def _read(path: Path) -> pa.Table:
    table = segments.read(path, lambda content: pa.ipc.open_file(content).read_all())
    if segments.marks(table.schema) != _HOLDS or not table.schema.equals(_ROWS):
        raise segments.UnusableSegment("of another version")
    return table.replace_schema_metadata(None)
