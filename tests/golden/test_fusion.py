"""Reciprocal rank fusion against published runs and hand-computed values."""

from __future__ import annotations

import math

import numpy as np
import pytest

from artifacts.query.fuse import reciprocal_rank_fusion
from artifacts.query.limit import limit_per_document
from artifacts.query.model import Candidate, ListName, RankedList


def ranked(name: ListName, *rows: int) -> RankedList:
    return RankedList(name, np.array(rows, dtype=np.int64), np.linspace(9, 1, len(rows)))


def fused(*lists: RankedList, weights: dict[str, float] | None = None) -> dict[int, float]:
    found = reciprocal_rank_fusion(lists, weights or {"keyword": 1, "semantic": 1, "code": 1}, 60)
    return {candidate.row: candidate.score for candidate in found}


def test_two_runs_that_swap_their_first_two_tie_and_the_smaller_row_comes_first() -> None:
    scores = fused(ranked("keyword", 1, 2, 3), ranked("semantic", 2, 1, 4))
    assert list(scores) == [1, 2, 3, 4]
    assert scores == pytest.approx({1: 0.032522, 2: 0.032522, 3: 0.015873, 4: 0.015873}, abs=1e-6)


def test_a_passage_in_both_runs_beats_the_first_of_either() -> None:
    scores = fused(ranked("keyword", 1, 2, 3), ranked("semantic", 3, 5, 6))
    assert list(scores) == [3, 1, 2, 5, 6]
    assert scores == pytest.approx(
        {3: 0.032266, 1: 0.016393, 2: 0.016129, 5: 0.016129, 6: 0.015873}, abs=1e-6
    )


@pytest.mark.parametrize(
    ("ranks", "weights", "score"),
    [
        ((3, 5), (1, 1), 0.031257631),
        ((1,), (1,), 0.016393443),
        ((3, 5, 2), (1, 1, 1), 0.047386664),
        ((1, 10), (1, 1), 0.030679157),
        ((3, 5), (1.2, 0.8), 0.031355311),
    ],
)
def test_ranks_count_from_one(ranks: tuple[int, ...], weights: tuple[float, ...], score: float) -> None:
    names: tuple[ListName, ...] = ("keyword", "semantic", "code")
    lists = [ranked(name, *range(100, 99 + rank), 7) for name, rank in zip(names, ranks, strict=False)]
    assert fused(*lists, weights=dict(zip(names, weights, strict=False)))[7] == pytest.approx(score, abs=1e-9)


def test_an_explanation_multiplies_out_to_the_score_exactly() -> None:
    (candidate,) = reciprocal_rank_fusion(
        [ranked("keyword", 5), ranked("semantic", 5)], {"keyword": 0.7, "semantic": 1.3}, 60
    )
    boosted = candidate.times("recency", 1.1).times("community", 1.2)
    assert boosted.score == sum(c.share for c in boosted.contributions) * 1.1 * 1.2
    assert math.isclose(boosted.score, candidate.score * 1.32)


def test_a_list_of_weight_zero_gives_nothing() -> None:
    assert fused(ranked("keyword", 1), ranked("code", 2), weights={"keyword": 1.0, "code": 0.0}) == {
        1: 1 / 61
    }


def test_a_document_takes_no_more_than_its_share_of_places() -> None:
    candidates = [Candidate(row, ()) for row in (0, 1, 2, 3)]
    documents = np.array([7, 7, 7, 8], dtype=np.int32)
    assert [c.row for c in limit_per_document(candidates, documents, 2)] == [0, 1, 3]
    assert len(limit_per_document(candidates, documents, 0)) == 4
