"""Reciprocal rank fusion and convex combination against published runs and hand-computed values."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from noctule.artifacts.query.model import Candidate, ListName, RankedList
from noctule.artifacts.query.ranking.boosts import boost_recent
from noctule.artifacts.query.ranking.cutoffs import limit_per_document
from noctule.artifacts.query.ranking.fuse import (
    attainable,
    balanced,
    convex_combination,
    reciprocal_rank_fusion,
)
from noctule.pipeline.settings.search import Recency
from tests.candidate_builder import candidates, documents_of, ranked, rows

EQUAL = {"keyword": 1.0, "semantic": 1.0, "code": 1.0, "graph": 1.0}


def fused(*lists: RankedList, weights: dict[str, float] | None = None) -> dict[int, float]:
    found = reciprocal_rank_fusion(lists, weights or EQUAL, 60)
    return {candidate.row: candidate.score for candidate in found}


def test_two_runs_that_swap_their_first_two_tie_and_the_smaller_row_comes_first() -> None:
    scores = fused(ranked("keyword", 1, 2, 3), ranked("semantic", 2, 1, 4))
    assert list(scores) == [1, 2, 3, 4]
    assert scores == pytest.approx({1: 0.032522, 2: 0.032522, 3: 0.015873, 4: 0.015873}, abs=1e-6)


def test_a_tie_goes_to_the_smaller_row_whichever_was_seen_first() -> None:
    assert list(fused(ranked("keyword", 2, 1), ranked("semantic", 1, 2))) == [1, 2]
    assert list(fused(ranked("keyword", 9), ranked("semantic", 3), ranked("code", 5))) == [3, 5, 9]


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


PAGES = ("authentication", "api-reference", "oauth-guide", "security", "deployment", "configuration")
AUTHENTICATION, API, OAUTH, SECURITY, DEPLOYMENT, CONFIGURATION = range(6)
LISTS = (
    ranked("semantic", AUTHENTICATION, SECURITY, API, scores=(0.92, 0.85, 0.78)),
    ranked("keyword", API, AUTHENTICATION, OAUTH, scores=(15.3, 12.7, 8.4), most=20),
    ranked("graph", DEPLOYMENT, CONFIGURATION, scores=(1.0, 0.5)),
)
WEIGHTS = {"semantic": 1.0, "keyword": 1.0, "graph": 0.5}


def end_to_end() -> list[Candidate]:
    """API authentication: five days ago oauth-guide was changed, the others long ago."""
    changed = np.array(["2026-01-01"] * 2 + ["2026-08-26"] + ["2026-01-01"] * 3, dtype="datetime64[D]")
    found = reciprocal_rank_fusion(LISTS, WEIGHTS, 60)
    return boost_recent(found, documents_of(*range(6)), changed, date(2026, 8, 31), Recency(), 1.0)


def test_the_end_to_end_example_has_six_results_the_graph_at_half_and_recency_after_fusion() -> None:
    found = {PAGES[candidate.row]: candidate.score for candidate in end_to_end()}
    assert list(found) == list(PAGES)
    assert found == pytest.approx(
        {
            "authentication": 1 / 61 + 1 / 62,
            "api-reference": 1 / 63 + 1 / 61,
            "oauth-guide": 1.2 / 63,
            "security": 1 / 62,
            "deployment": 0.5 / 61,
            "configuration": 0.5 / 62,
        }
    )
    assert [round(score, 6) for score in found.values()] == [
        0.032522, 0.032266, 0.019048, 0.016129, 0.008197, 0.008065,
    ]  # fmt: skip


def test_the_end_to_end_example_as_shares_of_what_the_two_full_lists_can_give() -> None:
    most = attainable(LISTS[:2], WEIGHTS, 60)
    shares = [round(candidate.score / most, 3) for candidate in end_to_end()]
    assert shares == [0.992, 0.984, 0.581, 0.492, 0.250, 0.246]


def test_the_most_that_can_be_had_counts_the_lists_that_ran_at_their_weights() -> None:
    assert attainable(LISTS[:2], WEIGHTS, 60) == pytest.approx(2 / 61)
    assert attainable(LISTS, WEIGHTS, 60) == pytest.approx(2.5 / 61)
    assert attainable([ranked("semantic")], WEIGHTS, 60) == pytest.approx(1 / 61)
    assert attainable(LISTS, WEIGHTS, 0) == 2.5
    assert attainable(LISTS, WEIGHTS, None) == 1.0
    assert attainable([], WEIGHTS, 60) == attainable(LISTS, {}, 60) == attainable([], WEIGHTS, None) == 0.0


def test_a_passage_that_is_first_everywhere_has_all_that_can_be_had() -> None:
    lists = [ranked("keyword", 4, 5, most=9), ranked("semantic", 4, most=9)]
    for weights in ({"keyword": 1.0, "semantic": 1.0}, {"keyword": 0.3, "semantic": 1.7}):
        by_rank, by_score = (
            reciprocal_rank_fusion(lists, weights, 60)[0],
            convex_combination(lists, weights)[0],
        )
        assert by_rank.row == by_score.row == 4
        assert by_rank.score == pytest.approx(attainable(lists, weights, 60))
        assert by_score.score == pytest.approx(attainable(lists, weights, None))


def test_a_share_says_which_question_it_answers() -> None:
    second = RankedList("keyword", np.array([2]), np.array([9.0]), 10.0, question=1)
    found = reciprocal_rank_fusion([ranked("keyword", 1), second], {"keyword": 1.0}, 60)
    assert [[each.question for each in candidate.contributions] for candidate in found] == [[0], [1]]


def test_a_convex_combination_takes_scores_between_nothing_and_the_most_of_their_list() -> None:
    lists = [
        ranked("keyword", 1, 2, scores=(8.0, 2.0), most=16.0),
        ranked("semantic", 2, 3, scores=(0.9, 0.3), most=1.0),
    ]
    found = {each.row: each.score for each in convex_combination(lists, {"keyword": 1.0, "semantic": 3.0})}
    assert list(found) == [2, 3, 1]
    assert found == pytest.approx({1: 0.25 * 0.5, 2: 0.25 * 0.125 + 0.75 * 0.9, 3: 0.75 * 0.3})


def test_what_a_list_did_not_find_gets_nothing_from_it_and_not_its_best() -> None:
    lists = [ranked("keyword", 1, scores=(5.0,), most=5.0), ranked("semantic", 2, scores=(0.1,), most=1.0)]
    found = convex_combination(lists, {"keyword": 0.5, "semantic": 0.5})
    assert {each.row: each.score for each in found} == pytest.approx({1: 0.5, 2: 0.05})


def test_what_a_list_did_not_find_but_can_score_gets_that_score_and_no_rank() -> None:
    known = {1: 5.0, 2: 2.0, 3: 0.0}
    scoring = replace(
        ranked("keyword", 1, scores=(5.0,), most=5.0),
        score_of=lambda rows: np.array([known[row] for row in rows.tolist()]),
    )
    lists = [scoring, ranked("semantic", 2, 3, scores=(0.5, 0.4), most=1.0)]
    found = {each.row: each for each in convex_combination(lists, {"keyword": 1.0, "semantic": 1.0})}
    assert {row: each.score for row, each in found.items()} == pytest.approx({1: 0.5, 2: 0.45, 3: 0.2})
    assert [(each.list, each.rank) for each in found[2].contributions] == [("keyword", 0), ("semantic", 1)]
    assert [each.list for each in found[3].contributions] == ["semantic"]


def test_fusion_by_rank_gives_nothing_to_what_a_list_only_could_score() -> None:
    scoring = replace(ranked("keyword", 1), score_of=lambda rows: np.ones(len(rows)))
    assert fused(scoring, ranked("semantic", 2)) == {1: 1 / 61, 2: 1 / 61}


def test_a_lone_hit_of_a_convex_combination_is_worth_its_score_and_no_more() -> None:
    (found,) = convex_combination([ranked("semantic", 1, scores=(0.2,), most=1.0)], {"semantic": 1.0})
    assert found.score == pytest.approx(0.2)


def test_a_score_above_its_bound_counts_as_the_bound_and_a_list_that_can_give_nothing_gives_nothing() -> None:
    rounded_up = ranked("semantic", 1, scores=(1.0000001,), most=1.0)
    assert convex_combination([rounded_up], {"semantic": 1.0})[0].score == 1.0
    assert convex_combination([ranked("keyword", 1, most=0.0)], {"keyword": 1.0})[0].score == 0.0


FLAT = (0.5, 0.5, 0.5)


def test_weights_balanced_by_spread_are_clamped_and_keep_their_sum() -> None:
    """A list that tells nothing apart counts half, the other in full: (½, 1) scaled to a sum of 2 is
    (⅔, 1⅓).
    """
    lists = [ranked("keyword", 1, 2, 3, scores=FLAT), ranked("semantic", 1, 2, 3, scores=(0.9, 0.5, 0.1))]
    found = balanced(lists, {"keyword": 1.0, "semantic": 1.0}, spread=0.1, least=0.5)
    assert found == pytest.approx({"keyword": 2 / 3, "semantic": 4 / 3})


def test_balance_has_no_scale_so_cosines_are_not_halved_for_being_small() -> None:
    cosines = (0.62, 0.55, 0.48)
    scores = tuple(25 * cosine for cosine in cosines)
    lists = [ranked("semantic", 1, 2, 3, scores=cosines), ranked("keyword", 1, 2, 3, scores=scores)]
    weights = {"keyword": 1.0, "semantic": 1.0}
    assert balanced(lists, weights, spread=0.5, least=0.2) == pytest.approx(weights)


def test_a_large_spread_never_amplifies() -> None:
    lists = [ranked("keyword", 1, 2, scores=(100.0, 0.001)), ranked("semantic", 1, 2, scores=(0.9, 0.7))]
    weights = {"keyword": 1.0, "semantic": 1.0, "graph": 0.5}
    assert balanced(lists, weights, spread=0.1, least=0.5) == pytest.approx(weights)


def test_balance_leaves_lists_alone_that_did_not_run() -> None:
    found = balanced([ranked("keyword", 1, 2, scores=(2.0, 2.0))], {"keyword": 1.0, "graph": 0.5}, 0.1, 0.5)
    assert found == pytest.approx({"keyword": 1.0, "graph": 0.5})


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
    found = candidates(4, 3, 2, 1)
    documents = documents_of(7, 7, 7, 8)
    assert rows(limit_per_document(found, documents, 2)) == [0, 1, 3]
    assert len(limit_per_document(found, documents, 0)) == 4
