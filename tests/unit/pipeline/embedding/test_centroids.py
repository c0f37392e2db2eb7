"""A document's centroid is the unit mean of its passages' vectors, whatever the blocks it is worked
out in.
"""

from __future__ import annotations

import numpy as np
import pytest

from noctule.pipeline.embedding import centroids as module
from noctule.pipeline.embedding.centroids import centroids


def _unit(rows: np.ndarray) -> np.ndarray:
    return np.asarray(rows / np.linalg.norm(rows, axis=-1, keepdims=True), dtype=np.float32)


@pytest.mark.parametrize("block", [1, 2, 3, 2048])
def test_it_is_the_mean_of_its_own_passages_made_unit(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BLOCK_DOCUMENTS", block)
    vectors = _unit(np.random.default_rng(0).normal(size=(5, 8)))
    row = np.array([4, 0, 1, 2, 2, 3], dtype=np.int32)
    passages = np.array([2, 0, 1, 3, 0], dtype=np.int32)
    found = centroids(vectors, row, passages)
    assert found[0] == pytest.approx(_unit(vectors[4] + vectors[0]), abs=1e-6)
    assert found[2] == pytest.approx(vectors[1], abs=1e-6)
    assert found[3] == pytest.approx(_unit(2 * vectors[2] + vectors[3]), abs=1e-6)
    assert not found[[1, 4]].any()


def test_vectors_that_cancel_out_have_no_centroid() -> None:
    vectors = np.array([[1, 0], [-1, 0]], dtype=np.float32)
    assert not centroids(vectors, np.array([0, 1], np.int32), np.array([2], np.int32)).any()


def test_without_documents_there_is_none() -> None:
    assert centroids(np.zeros((0, 4), np.float32), np.zeros(0, np.int32), np.zeros(0, np.int32)).shape == (
        0,
        4,
    )
