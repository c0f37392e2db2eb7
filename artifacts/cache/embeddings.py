"""The embedding store: a cache of computed vectors by the hash of the embedded text.

It lies beside the snapshots and is shared by them. It is a cache: losing it costs nothing but time, and a
segment with unexpected bytes, or of another model, is ignored. A segment is named by its own SHA-256 and says
in its schema which model and configuration its vectors are of. Each batch that a run
finishes is a segment, so an interrupted run continues where it stopped.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ...pipeline.errors import ArtifactError
from ...pipeline.identity import combined_hash
from ..disk import durable, folders
from ..disk.layout import EMBEDDINGS
from ..tables.outside_memory import mapped_zeros
from ..tables.schemas import vectors_schema
from ..tables.vector_columns import fixed_size_lists
from . import segments

Vectors = npt.NDArray[np.float32]
_FORMAT = "1"


@dataclass(frozen=True, slots=True)
class Recall:
    """The stored vectors, one row per content hash, and the positions of the hashes that were not found."""

    vectors: Vectors
    missing: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Segment:
    """A segment whose bytes were verified, and the content hashes of its rows."""

    path: Path
    hashes: pa.ChunkedArray


class EmbeddingStore:
    """The vectors of one model, under ``<store>/embeddings/<key>/``; ``refresh`` recalls none added before.

    Their hashes are held in memory, the vectors themselves are read when they are recalled.
    """

    def __init__(self, store: Path, key: Sequence[str], dimension: int, *, refresh: bool = False) -> None:
        self._store, self._folder = store, store / EMBEDDINGS / folder_name(key)
        self._dimension = dimension
        self._held: list[_Segment] | None = [] if refresh else None
        self._reading = threading.Lock()

    def read_ahead(self) -> None:
        """Read the segments in a thread that does not hold the interpreter; if there is none, later."""
        with suppress(RuntimeError):
            threading.Thread(target=self._read_ahead, name="noctule-embeddings").start()

    def _read_ahead(self) -> None:
        with suppress(ArtifactError):  # whoever needs them is told
            self._segments()

    def recall(self, hashes: Sequence[str] | pa.StringArray) -> Recall:
        """Return the stored vectors of these hashes, shape ``(hashes, dimension)``; unknown ones are 0.

        They are outside memory. Raises ``WriteFailed``.
        """
        held = tuple(self._segments())
        vectors = mapped_zeros((len(hashes), self._dimension), np.float32, self._store)
        stored = [chunk for each in held for chunk in each.hashes.chunks]
        at = pc.index_in(pa.array(hashes, pa.string()), value_set=pa.chunked_array(stored, type=pa.string()))
        place, end = at.fill_null(-1).to_numpy(), 0
        for segment in held:
            start, end = end, end + len(segment.hashes)
            found = np.flatnonzero((place >= start) & (place < end))
            if len(found):
                vectors[found] = _matrix(segment.path, self._dimension)[place[found] - start]
        return Recall(vectors, np.flatnonzero(place < 0))

    def add(self, hashes: Sequence[str] | pa.StringArray, vectors: Vectors) -> None:
        """Write one more segment; raises ``WriteFailed``."""
        columns = [pa.array(hashes, pa.string()), fixed_size_lists(vectors)]
        rows = pa.Table.from_arrays(columns, schema=vectors_schema(self._dimension))
        path = write_segment(self._folder, rows)
        if self._held is not None:
            self._held.append(_Segment(path, rows["content_hash"]))

    def _segments(self) -> list[_Segment]:
        with self._reading:
            if self._held is None:
                paths, again = folders.entries(self._folder, "*.parquet"), "their texts are encoded again"
                found = segments.read_all(paths, self._read, self._folder, again)
                self._held = list(found.values())
            return self._held

    def _read(self, path: Path) -> _Segment:
        def hashes(content: pa.Buffer) -> pa.ChunkedArray:
            file = pq.ParquetFile(pa.BufferReader(content))
            _require_of(path, file.schema_arrow)
            if not file.schema_arrow.equals(vectors_schema(self._dimension)):
                raise segments.UnusableSegment("with other columns or dimensions")
            return file.read(["content_hash"])["content_hash"]

        return _Segment(path, segments.read(path, hashes))


def folder_name(key: Sequence[str]) -> str:
    """Return the name of the folder for the vectors of one model and configuration."""
    return combined_hash(key)[:20]


def write_segment(folder: Path, table: pa.Table) -> Path:
    """Write the rows as a segment of the folder's model, named by its bytes; raises ``WriteFailed``."""
    buffer = pa.BufferOutputStream()
    pq.write_table(segments.marked(table, _holds(folder)), buffer, compression="none", use_dictionary=False)
    return segments.write(folder, buffer.getvalue(), ".parquet")


def read_segment(path: Path) -> pa.Table:
    """Return the rows of a segment; raises ``UnusableSegment`` unless whole and of its folder's model."""
    rows = segments.read(path, lambda content: pq.read_table(pa.BufferReader(content)))
    _require_of(path, rows.schema)
    return rows.replace_schema_metadata(None)


def _require_of(path: Path, schema: pa.Schema) -> None:
    """Raise ``UnusableSegment`` unless the segment says that it is of its folder's model."""
    found, expected = segments.marks(schema), _holds(path.parent)
    if not found:
        raise segments.UnusableSegment("of an older noctule, which do not say of which model they are")
    if found != expected:
        raise segments.UnusableSegment("of another model or format")


def _holds(folder: Path) -> dict[str, str]:
    """Return what a segment in a folder of embeddings says of itself; the name is the hash of the key."""
    return {"kind": "embeddings", "format": _FORMAT, "key": folder.name}


def inherit(store: Path, shard: Path) -> None:
    """Give a new shard the vectors of the store that it is part of, which was one snapshot before.

    Segments are linked, not copied, where the disk can do that.
    """
    if durable.is_directory(shard / EMBEDDINGS):
        return
    for folder in folders.entries(store / EMBEDDINGS):
        durable.make_directory(shard / EMBEDDINGS / folder.name)
        for path in folders.entries(folder):
            target = shard / path.relative_to(store)
            if not durable.link(path, target):
                durable.write_file(target, path.read_bytes())


def _matrix(path: Path, dimension: int) -> Vectors:
    column = pq.read_table(path, columns=["vector"], memory_map=True)["vector"].combine_chunks()
    matrix: Vectors = column.values.to_numpy().reshape(-1, dimension)
    return matrix
