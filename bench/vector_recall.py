"""How many of the nearest vectors a snapshot's index finds; those of a set are read shard by shard."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from noctule.artifacts.store.snapshot import Snapshot
from noctule.artifacts.tables.parquet import read_blocks
from noctule.artifacts.tables.vectors import Vectors, search

Rows = npt.NDArray[np.int64]


def recall_of_the_nearest(snapshot: Snapshot, queries: Sequence[Vectors], wanted: int = 100) -> float:
    """Return the mean share of the ``wanted`` nearest vectors of each query that the index finds."""
    index = snapshot.index()
    exact = exactly_nearest(snapshot, np.stack(queries), wanted)
    found = [search(index, query, wanted)[1] for query in queries]
    shared = sum(len(np.intersect1d(*pair)) for pair in zip(exact, found, strict=True))
    return shared / exact.size


def exactly_nearest(snapshot: Snapshot, queries: Vectors, wanted: int) -> Rows:
    """Return the rows of the nearest vectors of each query, numbered over all shards, best first."""
    best, rows, first = np.zeros((len(queries), 0), np.float32), np.zeros((len(queries), 0), np.int64), 0
    for holder in snapshot.holders("vectors"):
        for block in read_blocks(holder.file("vectors"), "vector"):
            vectors = block.flatten().to_numpy().reshape(len(block), -1)
            best = np.hstack([best, queries @ vectors.T])
            numbers = np.arange(first, first + len(vectors), dtype=np.int64)
            rows = np.hstack([rows, np.broadcast_to(numbers, (len(queries), len(numbers)))])
            kept = np.argsort(-best, axis=1, kind="stable")[:, :wanted]
            best, rows = np.take_along_axis(best, kept, 1), np.take_along_axis(rows, kept, 1)
            first += len(vectors)
    return rows
