"""Maximal marginal relevance, and the blend of a cross-encoder's word with the order before it."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from noctule.artifacts.query.model import Candidate
from noctule.artifacts.query.ranking.rerank import diversified, reranked
from noctule.pipeline.settings.search import Rerank
from tests.candidate_builder import angles, candidates, rows


def mmr(relevance: list[float], *degrees: float, balance: float = 0.7, count: int = 99) -> list[Candidate]:
    return diversified(candidates(*relevance), np.array(relevance), angles(*degrees), balance, count)


def test_the_first_taken_is_the_most_relevant_as_nothing_is_like_it_yet() -> None:
    found = mmr([1.0, 0.9], 0, 0)
    assert rows(found) == [0, 1]
    assert found[0].notes == ("mmr: relevance 1.000, nearest before it 0.000",)


def test_what_repeats_the_first_gives_way_to_what_is_new() -> None:
    """0.7 · 0.9 - 0.3 · 1 = 0.33 is less than 0.7 · 0.6 - 0.3 · 0 = 0.42."""
    found = mmr([1.0, 0.9, 0.6], 0, 0, 90)
    assert rows(found) == [0, 2, 1]
    assert found[2].notes == ("mmr: relevance 0.900, nearest before it 1.000",)


def test_a_balance_of_one_is_relevance_alone_and_of_zero_novelty_alone() -> None:
    assert rows(mmr([1.0, 0.9, 0.6], 0, 0, 90, balance=1.0)) == [0, 1, 2]
    assert rows(mmr([1.0, 0.9, 0.6], 0, 60, 90, balance=0.0)) == [0, 2, 1]


def test_ties_go_to_the_earlier_candidate() -> None:
    assert rows(mmr([0.5, 0.5, 0.5], 0, 120, 240)) == [0, 1, 2]
    assert rows(mmr([0.5] * 4, 0, 0, 0, 0)) == [0, 1, 2, 3]


def test_the_nearest_of_all_taken_counts_and_not_the_last() -> None:
    """2 is far from 1, which was taken last, and the same as 0."""
    assert rows(mmr([1.0, 0.8, 0.7, 0.6], 0, 90, 0, 45)) == [0, 1, 3, 2]


def test_opposite_meanings_are_not_rewarded_over_unrelated_ones() -> None:
    """A cosine below 0 counts as 0."""
    assert rows(mmr([1.0, 0.9, 0.89], 0, 90, 180)) == [0, 1, 2]


def test_only_so_many_are_taken_and_the_others_follow_in_their_order() -> None:
    found = mmr([1.0, 0.9, 0.8, 0.6], 0, 0, 0, 90, count=2)
    assert rows(found) == [0, 3, 1, 2]
    assert [bool(each.notes) for each in found] == [True, True, False, False]


def test_scores_stay_what_they_were() -> None:
    assert [each.score for each in mmr([1.0, 0.9, 0.6], 0, 0, 90)] == [1.0, 0.6, 0.9]
    assert diversified([], np.zeros(0), np.zeros((0, 2), np.float32), 0.7, 5) == []


def blend(
    scores: list[float], relevance: list[float], shares: tuple[float, float, float] = (0.75, 0.6, 0.4)
) -> list[Candidate]:
    return reranked(candidates(*scores), np.array(relevance), Rerank(blend=shares))


TEN = [1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1]


def test_the_first_hit_is_not_buried_by_a_model_that_thinks_nothing_of_it() -> None:
    found = blend(TEN, [0.0] + [1.0] * 9)
    assert rows(found)[0] == 0


def test_a_passage_that_the_model_likes_rises_past_those_that_it_does_not() -> None:
    found = blend(TEN, [0.9, 0.1, 0.1, 0.1, 0.1, 1.0, 0.1, 0.1, 0.1, 0.1])
    assert rows(found)[:3] == [0, 5, 1]


def test_without_a_share_for_the_order_before_the_model_alone_decides() -> None:
    found = blend([1.0, 0.9, 0.8, 0.7], [0.1, 0.4, 0.3, 0.2], (0.0, 0.0, 0.0))
    assert rows(found) == [1, 2, 3, 0]


def test_with_all_of_the_share_the_order_stays() -> None:
    found = blend(TEN, [0.1 * rank for rank in range(10)], (1.0, 1.0, 1.0))
    assert rows(found) == list(range(10))


def test_a_model_that_likes_all_the_same_changes_no_order() -> None:
    for relevance in (0.0, 0.2, 0.5, 1.0):
        for count in (3, 5, 10, 20):
            scores = [1 - 0.01 * at for at in range(count)]
            assert rows(blend(scores, [relevance] * count)) == list(range(count)), (relevance, count)


def test_what_was_not_read_stays_behind_in_its_order_and_keeps_its_scores() -> None:
    found = blend(TEN, [0.0, 0.0, 1.0])
    assert rows(found)[3:] == [3, 4, 5, 6, 7, 8, 9]
    assert [each.score for each in found[3:]] == TEN[3:]
    assert not any(each.multipliers for each in found[3:])
    falling = [each.score for each in found]
    assert falling == sorted(falling, reverse=True)


def test_the_score_multiplies_out_with_the_models_word_as_the_reason() -> None:
    found = blend(TEN, [0.5] * 4)
    for each in found[:4]:
        (factor,) = each.multipliers
        assert each.score == sum(c.share for c in each.contributions) * factor.factor
        assert factor.stage == "rerank"
        assert "0.500" in factor.because


def test_nothing_read_changes_nothing() -> None:
    assert rows(blend([1.0, 0.9], [])) == [0, 1]
    assert blend([], []) == []
    assert rows(blend([0.0, 0.0], [0.1, 0.9])) == [0, 1]


@settings(max_examples=200)
@given(
    st.lists(st.tuples(st.floats(0.001, 1.0), st.floats(0.0, 1.0)), min_size=1, max_size=30),
    st.integers(0, 30),
)
def test_whatever_the_model_says_scores_fall_and_none_is_lost(
    pairs: list[tuple[float, float]], depth: int
) -> None:
    scores = sorted((score for score, _ in pairs), reverse=True)
    found = blend(scores, [relevance for _, relevance in pairs][:depth])
    assert sorted(rows(found)) == list(range(len(pairs)))
    falling = [each.score for each in found]
    assert all(a >= b - 1e-12 for a, b in itertools.pairwise(falling))
    assert falling[0] <= scores[0] * (1 + 1e-12)
