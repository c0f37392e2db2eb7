"""Document centroids: the mean direction of a document's passage vectors."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]

_BLOCK_DOCUMENTS = 2048


def centroids(vectors: Vectors, row: npt.NDArray[np.int32], passages: npt.NDArray[np.int32]) -> Vectors:
    """Return the unit mean of each document's passage vectors, shape ``(documents, dimension)``.

    ``row`` holds the vector row of every passage, ordered by document; ``passages`` holds the number of
    passages of each document. A document without passages, or whose vectors cancel out, gets a row of zeros.
    """
    found = np.zeros((len(passages), vectors.shape[1]), dtype=np.float32)
    ends = np.cumsum(passages, dtype=np.int64)
    for at in range(0, len(passages), _BLOCK_DOCUMENTS):
        block = slice(at, at + _BLOCK_DOCUMENTS)
        counted = passages[block]
        start = int(ends[at] - passages[at])
        own = vectors[row[start : start + int(counted.sum())]]
        some = np.flatnonzero(counted)
        if len(some):
            firsts = (ends[block] - counted - start)[some]
            found[at + some] = _unit(np.add.reduceat(own, firsts, axis=0, dtype=np.float64))
    return found


def _unit(sums: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    lengths = np.sqrt((sums * sums).sum(axis=1, keepdims=True))
    unit: npt.NDArray[np.float64] = np.divide(sums, lengths, out=np.zeros_like(sums), where=lengths > 0)
    return unit
