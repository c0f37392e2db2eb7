"""The inverted file: an approximate index of 8-bit vectors in lists by nearest centroid; a query reads a few.

The same vectors give the same bytes whatever the number of threads: samples are rows at equal distances, and
FAISS trains and adds with one thread. How many lists a query reads is measured while the index is built.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Vectors: TypeAlias = npt.NDArray[np.float32]
Rows: TypeAlias = npt.NDArray[np.int64]
Mask: TypeAlias = npt.NDArray[np.bool_]

# Below this, a scan of everything takes no time, and there are too few vectors for centroids.
LEAST_ROWS = 1_000
_SAMPLE_PER_LIST = 40
_ITERATIONS = 10
_SEED = 1
_NEAREST = 100
_QUERIES = 200
_PASSAGES_IN_A_QUERY = 8
_WANTED_PER_MILLE = 980
_FIRST_NPROBE = 128
# ``distance_compute_blas_threshold`` of FAISS 1.15. It is global, so it must not be changed during searches.
_NUMBERS_TO_MULTIPLY = 128_000


@dataclass(frozen=True, slots=True)
class Measured:
    """How many lists a query reads, and how many of the 1,000 nearest vectors it finds in them."""

    nprobe: int
    recall_per_mille: int


def lists_for(rows: int) -> int:
    """Return the number of lists: about twice the square root of the number of vectors, as a power of two."""
    return 1 << round(math.log2(2.0 * math.sqrt(rows)))


def build(vectors: Vectors) -> Any:
    """Build a ``faiss.IndexIVFScalarQuantizer`` of inner products over at least ``LEAST_ROWS`` vectors."""
    import faiss

    with one_thread():
        rows, dimension = vectors.shape
        centroids = _centroids(vectors, lists_for(rows))
        index = faiss.IndexIVFScalarQuantizer(
            centroids,
            dimension,
            centroids.ntotal,
            faiss.ScalarQuantizer.QT_8bit,
            faiss.METRIC_INNER_PRODUCT,
            False,
        )
        # The range of every component is taken over all rows, so that none is clipped.
        index.sq.train(vectors)
        index.is_trained = True
        index.add(vectors)
    return index


def _centroids(vectors: Vectors, lists: int) -> Any:
    """Return a flat index of centroids: spherical k-means over rows at equal distances."""
    import faiss

    rows, dimension = vectors.shape
    sample = vectors[_spread(min(rows, lists * _SAMPLE_PER_LIST), rows)]
    clustering = faiss.Clustering(dimension, lists)
    clustering.niter, clustering.seed, clustering.spherical = _ITERATIONS, _SEED, True
    clustering.min_points_per_centroid, clustering.max_points_per_centroid = 1, _SAMPLE_PER_LIST
    centroids = faiss.IndexFlatIP(dimension)
    clustering.train(np.ascontiguousarray(sample), centroids)
    return centroids


def _spread(wanted: int, rows: int) -> Rows:
    return np.arange(wanted, dtype=np.int64) * rows // wanted


def measure(index: Any, vectors: Vectors, nprobe: int) -> Measured:
    """Return the recall of the 100 nearest with ``nprobe`` lists; with 0, of as many as find 98 of 100."""
    with one_thread():
        queries = _queries(vectors)
        exact = _exact(queries, vectors)
        for tried in (nprobe,) if nprobe else _steps():
            index.nprobe = min(tried, index.nlist)
            recall = _recall_per_mille(index.search(queries, _NEAREST)[1], exact)
            if recall >= _WANTED_PER_MILLE or index.nprobe == index.nlist:
                break
        return Measured(index.nprobe, recall)


def _exact(queries: Vectors, vectors: Vectors) -> Rows:
    """Return the rows of the nearest vectors of each query, shape ``(queries, 100)``.

    FAISS multiplies matrices only above a number of queries, and takes six times as long below it, so the
    queries are repeated as often as necessary.
    """
    import faiss

    times = -(-_NUMBERS_TO_MULTIPLY // queries.size)
    found = faiss.knn(np.tile(queries, (times, 1)), vectors, _NEAREST, metric=faiss.METRIC_INNER_PRODUCT)[1]
    rows: Rows = found[: len(queries)]
    return rows


def _steps() -> Iterator[int]:
    """Yield 128, 192, 256, 384, 512 and so on."""
    for power in count():
        yield _FIRST_NPROBE << power
        yield (_FIRST_NPROBE << power) * 3 // 2


def _queries(vectors: Vectors) -> Vectors:
    """Return unit vectors between eight passages far apart: harder to answer than what people type.

    A passage itself, or something near one, finds its neighbours in fewer lists, which would overstate the
    recall.
    """
    rows = len(vectors)
    first = _spread(_QUERIES, rows)
    parts = np.arange(_PASSAGES_IN_A_QUERY)[:, None]
    apart = (first + parts * rows // _PASSAGES_IN_A_QUERY + parts * parts) % rows
    sums = vectors[apart].sum(axis=0)
    lengths = np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), np.float32(1e-6))
    return np.ascontiguousarray(sums / lengths, dtype=np.float32)


def _recall_per_mille(found: Rows, exact: Rows) -> int:
    same = sum(len(np.intersect1d(*pair)) for pair in zip(found, exact, strict=True))
    return same * 1000 // exact.size


@contextmanager
def one_thread() -> Iterator[None]:
    """Run FAISS and its BLAS with one thread: sums of floats depend on how they are divided."""
    import faiss

    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(threads)


def nearest(index: Any, vector: Vectors, k: int, allowed: Mask | None) -> tuple[Vectors, Rows]:
    """Return cosines (to about 0.001) and rows of the nearest vectors, at most ``k``, in no order.

    With ``allowed`` more lists are read, so that about as many allowed vectors are examined as without.
    """
    import faiss

    parameters = faiss.SearchParametersIVF()
    parameters.nprobe = index.nprobe
    if allowed is not None:
        lists = -(-index.nprobe * len(allowed) // int(np.count_nonzero(allowed)))
        parameters.nprobe = min(lists, index.nlist)
        # FAISS's stubs describe the constructor of C++, not that of Python.
        bits = np.packbits(allowed, bitorder="little")
        selector = faiss.IDSelectorBitmap(bits)  # type: ignore[call-arg, arg-type]
        parameters.sel = selector
    similarity, rows = index.search(vector[None, :], k, params=parameters)
    there = rows[0] >= 0
    # Rounding to 8 bits may lengthen a vector slightly.
    return np.minimum(similarity[0][there], np.float32(1.0)), rows[0][there]


def holds_each_row_once(index: Any) -> bool:
    """Return whether the lists name every row from 0 to the number of vectors exactly once."""
    import faiss

    lists, seen = index.invlists, np.zeros(index.ntotal, dtype=np.bool_)
    named = 0
    for number in range(index.nlist):
        size = lists.list_size(number)
        if size:
            rows = faiss.rev_swig_ptr(lists.get_ids(number), size)
            if rows.min() < 0 or rows.max() >= len(seen):
                return False
            seen[rows] = True
            named += size
    return named == len(seen) and bool(seen.all())


def first_strange_row(index: Any, vectors: Vectors, start: int) -> int | None:
    """Return the first row from ``start`` whose 8-bit form is not that of the table's row, if any."""
    import faiss

    rows = np.arange(start, start + len(vectors))
    step = faiss.vector_to_array(index.sq.trained)[index.d :] / 255
    apart = np.abs(index.reconstruct_batch(rows) - vectors)
    # Half a step is rounding; another processor may round to the neighbouring code.
    strange = (apart > 1.6 * step + 1e-6).any(axis=1)
    return start + int(np.argmax(strange)) if strange.any() else None
