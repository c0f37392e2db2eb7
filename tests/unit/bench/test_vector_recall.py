"""What a benchmark calls the nearest vectors: of a set of shards they are those of all its rows together."""

from __future__ import annotations

import numpy as np

from bench.vector_recall import exactly_nearest, recall_of_the_nearest
from noctule.artifacts.tables.vector_columns import vector_matrix
from tests.unit.flows.shards.test_shards import Built, built  # noqa: F401  # a fixture


def test_the_nearest_vectors_of_a_set_are_numbered_over_all_shards(built: Built) -> None:  # noqa: F811
    with built.sharded.open() as snapshot:
        vectors = vector_matrix(snapshot.table("vectors")["vector"], snapshot.manifest.model.dimension)
        queries = vectors[[0, len(vectors) // 2, len(vectors) - 1]]
        found = exactly_nearest(snapshot, queries, 5)
        assert found[:, 0].tolist() == [0, len(vectors) // 2, len(vectors) - 1]
        scores = queries @ vectors.T
        assert np.allclose(np.take_along_axis(scores, found, 1), -np.sort(-scores, axis=1)[:, :5])
        assert recall_of_the_nearest(snapshot, list(queries), 5) == 1.0
