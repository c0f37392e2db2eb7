"""The embedding store: vectors that were computed once, by the content they are of.

It lies beside the snapshots and is shared by them. It is a cache: losing it costs time and nothing else, and
a segment whose bytes are not those that were written is left out. A segment is named by its own SHA-256, and
each batch that a run finishes is a segment, so a run that is cut off goes on where it was.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ...pipeline.identity import combined_hash
from ..store.layout import EMBEDDINGS
from ..tables.schemas import vectors_schema
from . import segments

Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Recall:
    """What the store knew: one row a content hash, and the positions of those it did not know."""

    vectors: Vectors
    missing: npt.NDArray[np.int64]


class EmbeddingStore:
    """Vectors of one model, run in one way, under ``<store>/embeddings/<key>/``; segments are read once and held.

    ``anew``: nothing is recalled but what is added from now on.
    """

    def __init__(self, store: Path, key: Sequence[str], dimension: int, *, anew: bool = False) -> None:
        self._folder = store / EMBEDDINGS / folder_name(key)
        self._dimension = dimension
        self._held: list[pa.Table] | None = [] if anew else None
        self._reading = threading.Lock()

    def read_ahead(self) -> None:
        """The segments are read meanwhile, by a thread that leaves the interpreter to others."""
        threading.Thread(target=self._segments, name="noctule-embeddings").start()

    def recall(self, hashes: Sequence[str]) -> Recall:
        """The stored vectors of these content hashes, shape ``(len(hashes), dimension)``; unknown rows are 0."""
        held = tuple(self._segments())
        vectors = np.zeros((len(hashes), self._dimension), dtype=np.float32)
        stored = [chunk for each in held for chunk in each["content_hash"].chunks]
        at = pc.index_in(
            pa.array(hashes, type=pa.string()), value_set=pa.chunked_array(stored, type=pa.string())
        )
        place = at.fill_null(-1).to_numpy()
        end = 0
        for segment in held:
            start, end = end, end + len(segment)
            found = np.flatnonzero((place >= start) & (place < end))
            vectors[found] = _matrix(segment, self._dimension)[place[found] - start]
        return Recall(vectors, np.flatnonzero(place < 0))

    def add(self, hashes: Sequence[str], vectors: Vectors) -> None:
        """One more segment; raises ``WriteFailed``."""
        columns = [pa.array(hashes, type=pa.string()), fixed_size_lists(vectors)]
        rows = pa.Table.from_arrays(columns, schema=vectors_schema(self._dimension))
        write_segment(self._folder, rows)
        if self._held is not None:
            self._held.append(rows)

    def _segments(self) -> list[pa.Table]:
        with self._reading:
            if self._held is None:
                paths = sorted(self._folder.glob("*.parquet")) if self._folder.is_dir() else []
                self._held = [segment for path in paths if (segment := read_segment(path)) is not None]
            return self._held


def folder_name(key: Sequence[str]) -> str:
    """The folder of vectors that one model, run in one way, made."""
    return combined_hash(key)[:20]


def write_segment(folder: Path, table: pa.Table) -> Path:
    """The rows as a segment, named by its bytes; raises ``WriteFailed``."""
    buffer = pa.BufferOutputStream()
    pq.write_table(table, buffer, compression="none", use_dictionary=False)
    return segments.write(folder, buffer.getvalue(), ".parquet")


def read_segment(path: Path) -> pa.Table | None:
    """The rows of a segment; nothing where it cannot be read, or holds other bytes than were written."""
    return segments.read(path, lambda content: pq.read_table(pa.BufferReader(content)))


def fixed_size_lists(vectors: Vectors) -> pa.FixedSizeListArray:
    """A matrix as a column, one row a list."""
    values = pa.array(np.ascontiguousarray(vectors, dtype=np.float32).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(values, vectors.shape[1])


def _matrix(segment: pa.Table, dimension: int) -> Vectors:
    column = segment.column("vector").combine_chunks()
    matrix: Vectors = column.values.to_numpy().reshape(-1, dimension)
    return matrix
