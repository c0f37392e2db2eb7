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

from ...pipeline.identity import combined_hash
from ..disk import durable
from ..disk.layout import EMBEDDINGS
from ..tables.schemas import vectors_schema
from . import segments

Vectors = npt.NDArray[np.float32]
_FORMAT = "1"


@dataclass(frozen=True, slots=True)
class Recall:
    """The stored vectors, one row per content hash, and the positions of the hashes that were not found."""

    vectors: Vectors
    missing: npt.NDArray[np.int64]


class EmbeddingStore:
    """The vectors of one model, under ``<store>/embeddings/<key>/``; ``anew`` recalls none added before."""

    def __init__(self, store: Path, key: Sequence[str], dimension: int, *, anew: bool = False) -> None:
        self._folder = store / EMBEDDINGS / folder_name(key)
        self._dimension = dimension
        self._held: list[pa.Table] | None = [] if anew else None
        self._reading = threading.Lock()

    def read_ahead(self) -> None:
        """Read the segments in a thread that does not hold the interpreter; if there is none, later."""
        with suppress(RuntimeError):
            threading.Thread(target=self._segments, name="noctule-embeddings").start()

    def recall(self, hashes: Sequence[str]) -> Recall:
        """Return the stored vectors of these hashes, shape ``(hashes, dimension)``; unknown ones are 0."""
        held = tuple(self._segments())
        vectors = np.zeros((len(hashes), self._dimension), dtype=np.float32)
        stored = [chunk for each in held for chunk in each["content_hash"].chunks]
        stored_hashes = pa.chunked_array(stored, type=pa.string())
        at = pc.index_in(pa.array(hashes, type=pa.string()), value_set=stored_hashes)
        place, end = at.fill_null(-1).to_numpy(), 0
        for segment in held:
            start, end = end, end + len(segment)
            found = np.flatnonzero((place >= start) & (place < end))
            vectors[found] = _matrix(segment, self._dimension)[place[found] - start]
        return Recall(vectors, np.flatnonzero(place < 0))

    def add(self, hashes: Sequence[str], vectors: Vectors) -> None:
        """Write one more segment; raises ``WriteFailed``."""
        columns = [pa.array(hashes, type=pa.string()), fixed_size_lists(vectors)]
        rows = pa.Table.from_arrays(columns, schema=vectors_schema(self._dimension))
        write_segment(self._folder, rows)
        if self._held is not None:
            self._held.append(rows)

    def _segments(self) -> list[pa.Table]:
        with self._reading:
            if self._held is None:
                paths, again = sorted(self._folder.glob("*.parquet")), "their texts are encoded again"
                found = segments.read_all(paths, self._read, self._folder, again)
                self._held = list(found.values())
            return self._held

    def _read(self, path: Path) -> pa.Table:
        rows = read_segment(path)
        if rows.schema != vectors_schema(self._dimension):
            raise segments.UnusableSegment("with other columns or dimensions")
        return rows


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
    found, expected = segments.marks(rows), _holds(path.parent)
    if not found:
        raise segments.UnusableSegment("of an older noctule, which do not say of which model they are")
    if found != expected:
        raise segments.UnusableSegment("of another model or format")
    return rows.replace_schema_metadata(None)


def _holds(folder: Path) -> dict[str, str]:
    """Return what a segment in a folder of embeddings says of itself; the name is the hash of the key."""
    return {"kind": "embeddings", "format": _FORMAT, "key": folder.name}


def inherit(store: Path, shard: Path) -> None:
    """Give a new shard the vectors of the store that it is part of, which was one snapshot before.

    Segments are linked, not copied, where the disk can do that.
    """
    if (shard / EMBEDDINGS).is_dir():
        return
    for path in sorted((store / EMBEDDINGS).glob("*/*")):
        target = shard / path.relative_to(store)
        durable.make_directory(target.parent)
        if not durable.link(path, target):
            durable.write_file(target, path.read_bytes())


def fixed_size_lists(vectors: Vectors) -> pa.FixedSizeListArray:
    """Return a matrix as a column of lists, one per row."""
    values = pa.array(np.ascontiguousarray(vectors, dtype=np.float32).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(values, vectors.shape[1])


def _matrix(segment: pa.Table, dimension: int) -> Vectors:
    column = segment.column("vector").combine_chunks()
    matrix: Vectors = column.values.to_numpy().reshape(-1, dimension)
    return matrix
