"""What a benchmark calls the nearest vectors: of a set of shards they are those of all its rows together."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bench.vector_recall import exactly_nearest, recall_of_the_nearest
from noctule.artifacts.store.store import Store
from noctule.artifacts.tables.vector_columns import vector_matrix
from noctule.flows.api import build_snapshot
from tests.unit.flows.shards.test_shards import settings_for, write_library


def test_the_nearest_vectors_of_a_set_are_numbered_over_all_shards(tmp_path: Path) -> None:
    write_library(tmp_path / "notes")
    build_snapshot(settings_for(tmp_path / "notes", count=3, by="hash"), Store(tmp_path / "store"))
    with Store(tmp_path / "store").open() as snapshot:
        vectors = vector_matrix(snapshot.table("vectors")["vector"], snapshot.manifest.model.dimension)
        queries = vectors[[0, len(vectors) // 2, len(vectors) - 1]]
        found = exactly_nearest(snapshot, queries, 5)
        assert found[:, 0].tolist() == [0, len(vectors) // 2, len(vectors) - 1]
        scores = queries @ vectors.T
        assert np.allclose(np.take_along_axis(scores, found, 1), -np.sort(-scores, axis=1)[:, :5])
        assert recall_of_the_nearest(snapshot, list(queries), 5) == 1.0
