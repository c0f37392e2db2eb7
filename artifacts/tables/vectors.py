"""Unit vectors in a FAISS index: building, saving, bounded reading, checking and searching.

Up to a number of rows the index is exact, above it approximate (``noctule.artifacts.tables.inverted_file``);
``search`` hides the difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ...pipeline.errors import ArtifactError, reports_transient
from ...pipeline.settings.settings import VectorIndex
from ..disk.manifest import damaged, unreadable
from ..disk.manifest_records import IndexRecord
from . import inverted_file
from .faiss_file import check_header
from .outside_memory import mapped_bytes

_TOLERANCE = 1e-3
_CHECK_ROWS = 65_536
# Up to this share, reading some of the rows one by one is faster than multiplying all of them.
_FEW = 0.3

Vectors: TypeAlias = npt.NDArray[np.float32]
Rows: TypeAlias = npt.NDArray[np.int64]
Mask: TypeAlias = npt.NDArray[np.bool_]
Numbers: TypeAlias = npt.NDArray[np.int32] | npt.NDArray[np.int64]


def build_index(vectors: Vectors, wanted: VectorIndex) -> tuple[Any, IndexRecord]:
    """Build the FAISS index of the rows in order, and its record for the manifest.

    Raises ``ArtifactError`` for rows that are not finite unit vectors.
    """
    import faiss

    _require_unit_rows(vectors)
    vectors = np.ascontiguousarray(vectors)
    if not _is_approximate(wanted, len(vectors)):
        index = faiss.IndexFlatIP(vectors.shape[1])
        index.add(vectors)
        return index, flat_record(vectors.shape[1])
    index = inverted_file.build(vectors)
    measured = inverted_file.measure(index, vectors, wanted.nprobe)
    record = IndexRecord("ivf", index.code_size, index.nlist, measured.nprobe, measured.recall_per_mille)
    return index, record


def index_outside_memory(index: Any, folder: Path) -> memoryview:
    """Return the bytes of the index's file, outside memory; raises ``WriteFailed``."""
    import faiss

    def write(file: IO[bytes]) -> None:
        # Piece by piece: the bytes of a large index in memory would be as large again.
        faiss.write_index(index, faiss.PyCallbackIOWriter(file.write))  # type: ignore[attr-defined]

    return mapped_bytes(write, folder)


def flat_record(dimension: int) -> IndexRecord:
    """Return the manifest's record of an exact index."""
    return IndexRecord(kind="flat", code_bytes=4 * dimension)


def _is_approximate(wanted: VectorIndex, rows: int) -> bool:
    if wanted.index == "flat" or rows < inverted_file.LEAST_ROWS:
        return False
    return wanted.index == "ivf" or rows > wanted.flat_up_to


def inner_products(left: Vectors, left_row: Numbers, right: Vectors, right_row: Numbers) -> Vectors:
    """Return the inner product of each pair of rows that the two columns of row numbers name, without copies.

    Raises ``IndexError`` for a missing row, ``ValueError`` for vectors or columns of different lengths.
    """
    import faiss

    if left.shape[1] != right.shape[1] or len(left_row) != len(right_row):
        raise ValueError(f"{left.shape} by {right.shape}, {len(left_row)} rows by {len(right_row)}")
    left, right = np.ascontiguousarray(left, np.float32), np.ascontiguousarray(right, np.float32)
    rows = _rows_of(left, left_row), _rows_of(right, right_row)
    found = np.empty(len(rows[0]), dtype=np.float32)
    given = (faiss.swig_ptr(each) for each in (left, rows[0], right, rows[1], found))
    faiss.pairwise_indexed_inner_product(left.shape[1], len(found), *given)  # type: ignore[attr-defined]
    return found


def _rows_of(vectors: Vectors, number: Numbers) -> Rows:
    """Return the numbers as FAISS reads them, bounds-checked: FAISS reads wherever it is told to."""
    if len(number) and not 0 <= number.min() <= number.max() < len(vectors):
        raise IndexError(f"rows {number.min()} to {number.max()} of {len(vectors)}")
    return np.ascontiguousarray(number, np.int64)


def _require_unit_rows(vectors: Vectors) -> None:
    if vectors.ndim != 2 or vectors.dtype != np.float32 or vectors.shape[1] == 0:
        what = f"vectors must be float32 rows, got {vectors.dtype} {vectors.shape}"
    elif (row := first_unsound_row(vectors)) is not None:
        what = f"vector {row} is not finite, or not of length 1"
    else:
        return
    raise ArtifactError(what, where="the vectors", hint="Check the embedding model; nothing was published.")


def first_unsound_row(vectors: Vectors) -> int | None:
    """Return the first row that is not finite or whose length is not 1 within 0.001, if there is one."""
    for start in range(0, len(vectors), _CHECK_ROWS):
        rows = vectors[start : start + _CHECK_ROWS]
        # A NaN compares false, so it is unsound too; einsum makes no copy of the rows.
        sound = np.abs(np.sqrt(np.einsum("ij,ij->i", rows, rows)) - 1.0) <= _TOLERANCE
        if not sound.all():
            return start + int(np.argmin(sound))
    return None


def read_index(path: Path, rows: int, dimension: int, record: IndexRecord | None = None) -> Any:
    """Read an ``IndexFlatIP``, or an ``IndexIVFScalarQuantizer`` if the record says so, from the file.

    Raises ``DamagedSnapshot`` unless it has these rows, dimensions and parameters.
    """
    record = record or flat_record(dimension)
    check_header(path, rows, dimension, record)
    index = _read(path, path.stat().st_size)
    found = (type(index).__name__, index.ntotal, index.d)
    expected = "IndexFlatIP" if record.kind == "flat" else "IndexIVFScalarQuantizer"
    if found != (expected, rows, dimension):
        raise damaged(f"expected {expected} with {rows} rows of {dimension}, found {found}", path)
    if record.kind == "ivf":
        if not inverted_file.holds_each_row_once(index):
            raise damaged(f"its lists do not hold each of {rows} rows once", path)
        # So that vectors can be read by row: reconstruct, reconstruct_batch.
        index.make_direct_map()
    return index


def _read(path: Path, limit: int) -> Any:
    import faiss

    before = faiss.get_deserialization_vector_byte_limit()
    # No vector in the file is larger than the file.
    faiss.set_deserialization_vector_byte_limit(limit)
    try:
        return faiss.read_index(str(path))
    except MemoryError as error:  # of C++, and no sign of damage
        raise unreadable(error, path) from error
    except RuntimeError as error:
        if reports_transient(error):
            raise unreadable(error, path) from error
        raise damaged(f"FAISS cannot read it: {str(error)[:200]}", path) from error
    finally:
        faiss.set_deserialization_vector_byte_limit(before)


def search(index: Any, vector: Vectors, k: int, allowed: Mask | None = None) -> tuple[Vectors, Rows]:
    """Return the cosines and rows of the ``k`` vectors nearest to a unit vector, best first, ties by row.

    ``index`` is ``Snapshot.index()`` of either kind, ``vector`` has shape ``(dimension,)``. ``allowed`` has
    one entry per row of ``vectors``: other rows are neither examined nor counted towards ``k``.
    """
    wanted = min(k, index.ntotal if allowed is None else int(np.count_nonzero(allowed)))
    if wanted <= 0:
        return np.zeros(0, np.float32), np.zeros(0, np.int64)
    vector = np.ascontiguousarray(vector, dtype=np.float32)
    if isinstance(index, ShardedVectors):
        scores, rows = index.nearest(vector, wanted, allowed)
    else:
        exact = not hasattr(index, "nprobe")
        scores, rows = (_exact if exact else inverted_file.nearest)(index, vector, wanted, allowed)
    order = np.lexsort((rows, -scores))[:wanted]
    return scores[order], rows[order]


def _exact(index: Any, vector: Vectors, k: int, allowed: Mask | None) -> tuple[Vectors, Rows]:
    """Return all rows that may be among the ``k`` nearest, in order.

    Multiplying each row by itself with one thread takes as long as FAISS does. The result does not depend on
    where a row lies, as it would in a matrix product, and concurrent queries do not compete for the
    processor.
    """
    vectors = stored_vectors(index)
    rows = None if allowed is None else np.flatnonzero(allowed)
    if rows is not None and len(rows) < _FEW * len(vectors):
        scores = np.einsum("ij,j->i", vectors[rows], vector)
    else:
        scores = np.einsum("ij,j->i", vectors, vector)
        scores = scores if rows is None else scores[rows]
    near = np.flatnonzero(scores >= np.partition(scores, len(scores) - k)[len(scores) - k])
    return scores[near], near if rows is None else rows[near]


def stored_vectors(index: Any) -> Vectors:
    """Return the rows of a ``faiss.IndexFlatIP`` without a copy: valid as long as the index."""
    import faiss

    if index.ntotal == 0:
        return np.zeros((0, index.d), np.float32)
    stored: Vectors = faiss.rev_swig_ptr(index.get_xb(), index.ntotal * index.d).reshape(-1, index.d)
    return stored


class ShardedVectors:
    """The FAISS indexes of a set of shards as one, whose rows are numbered over all shards."""

    def __init__(self, shards: Sequence[Any]) -> None:
        self.shards = tuple(shards)
        sizes = np.array([shard.ntotal for shard in shards], dtype=np.int64)
        self.first: Rows = np.concatenate([[0], np.cumsum(sizes)])
        self.ntotal = int(self.first[-1])

    def reconstruct_batch(self, rows: Rows) -> Vectors:
        """Return the vectors of rows, shape ``(len(rows), dimension)``."""
        shard = np.searchsorted(self.first, rows, side="right") - 1
        found = np.empty((len(rows), self.shards[0].d), np.float32)
        for number in np.unique(shard).tolist():
            mine = shard == number
            found[mine] = self.shards[number].reconstruct_batch(rows[mine] - self.first[number])
        return found

    def nearest(self, vector: Vectors, k: int, allowed: Mask | None) -> tuple[Vectors, Rows]:
        """Return the ``k`` nearest of each shard, which the nearest of all are among."""
        found = [
            search(shard, vector, k, None if allowed is None else allowed[first : first + shard.ntotal])
            for shard, first in zip(self.shards, self.first, strict=False)
        ]
        rows = [rows + first for (_, rows), first in zip(found, self.first, strict=False)]
        return np.concatenate([scores for scores, _ in found]), np.concatenate(rows)


def first_strange_row(index: Any, vectors: Vectors, start: int = 0) -> int | None:
    """Return the first row that the index does not hold as the table does (to 8 bits if approximate), if any.

    ``vectors`` are the table's rows from ``start``.
    """
    if hasattr(index, "nprobe"):
        return inverted_file.first_strange_row(index, vectors, start)
    stored = stored_vectors(index)[start : start + len(vectors)]
    # Compared as bits: a NaN is equal to itself, and 0 is not -0.
    different = (stored.view(np.uint32) != vectors.view(np.uint32)).any(axis=1)
    return start + int(np.argmax(different)) if different.any() else None
