"""Simulated readers of known relevance: the model finds what was put in where raw counts are wrong."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from noctule.flows.quality.feedback.click_model import (
    LEAST_CLICKS,
    ClickCounts,
    PairRelevance,
    Propensities,
    count_clicks,
    propensities,
    relevances,
)
from noctule.flows.quality.feedback.logged_searches import LoggedSearch

AT = datetime(2026, 3, 14, tzinfo=UTC)
SIZE = 10
# Readers look less far down than 1/k says: an assumption alone would be wrong.
THETA = np.arange(1, SIZE + 1) ** -1.5


def _relevance(queries: int, seed: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """The true share of readers who want each document, in an order that knows nothing of it.

    The best stands at rank 5.
    """
    drawn = np.minimum(np.random.default_rng(seed).beta(1, 3, (queries, SIZE)), 0.5)
    drawn[:, 4] = 0.85
    return drawn


def _readers(
    gamma: np.ndarray[tuple[int, int], np.dtype[np.float64]], sessions: int, *, moves: bool, seed: int = 1
) -> dict[str, tuple[LoggedSearch, ...]]:
    """Searches of readers; the order changes from one snapshot to the next, four of them, if it moves."""
    random = np.random.default_rng(seed)
    found = {}
    for query, wanted in enumerate(gamma):
        orders = [np.arange(SIZE)] + [
            np.argsort(np.arange(SIZE) + random.normal(0, 2, SIZE)) if moves else np.arange(SIZE)
            for _ in range(3)
        ]
        searches = []
        for session in range(sessions):
            order = orders[session % 4]
            clicked = random.random(SIZE) < THETA * wanted[order]
            hits = tuple(f"d{each}" for each in order)
            opened = tuple(int(at) + 1 for at in np.flatnonzero(clicked))
            searches.append(
                LoggedSearch(f"s{query}-{session}", 1, AT, f"q{query}", "", hits, SIZE, opened=opened)
            )
        found[f"q{query}"] = tuple(searches)
    return found


def _best(pairs: tuple[PairRelevance, ...], *, by_clicks: bool) -> dict[str, str]:
    best: dict[str, PairRelevance] = {}
    for each in pairs:
        now = best.setdefault(each.query, each)
        if (each.clicks > now.clicks) if by_clicks else (each.relevance > now.relevance):
            best[each.query] = each
    return {query: pair.hit for query, pair in best.items()}


def _order_is_right(pairs: tuple[PairRelevance, ...], gamma: np.ndarray, value: str) -> float:
    """The share of pairs of a query's documents that are in the order of their true relevance."""
    right = total = 0
    for query, wanted in enumerate(gamma):
        own = {each.hit: getattr(each, value) for each in pairs if each.query == f"q{query}"}
        given = np.array([own[f"d{at}"] for at in range(SIZE)])
        truth, said = np.subtract.outer(wanted, wanted), np.subtract.outer(given, given)
        told = np.abs(truth) > 0.1
        right += int((np.sign(truth) == np.sign(said))[told].sum())
        total += int(told.sum())
    return right / total


@pytest.fixture(scope="module")
def counts() -> ClickCounts:
    return count_clicks(_readers(_relevance(60, 7), 200, moves=True))


def test_the_propensities_that_were_put_in_are_found(counts: ClickCounts) -> None:
    found = propensities(counts)
    assert found.is_estimated and found.clicks > 1_000
    assumed = 1 / np.arange(1, SIZE + 1)
    assert np.abs(found.by_rank[:SIZE] - THETA).max() < 0.08 < np.abs(assumed - THETA).max()
    assert found.by_rank[0] == 1.0


def test_the_order_is_recovered_that_raw_counts_get_wrong(counts: ClickCounts) -> None:
    gamma = _relevance(60, 7)
    pairs = relevances(counts, propensities(counts))
    corrected, raw = _best(pairs, by_clicks=False), _best(pairs, by_clicks=True)
    assert sum(hit == "d4" for hit in raw.values()) < 30, "the first hits get the clicks"
    assert sum(hit == "d4" for hit in corrected.values()) >= 48
    assert _order_is_right(pairs, gamma, "relevance") > _order_is_right(pairs, gamma, "clicks") + 0.1
    # The value itself, not only the order.
    true = np.array([gamma[int(each.query[1:]), int(each.hit[1:])] for each in pairs])
    errors, of_counts = (
        np.abs(np.array(values) - true).mean()
        for values in ([each.relevance for each in pairs], [each.clicks / each.shown for each in pairs])
    )
    assert errors < 0.1 < of_counts / 1.5


def test_where_nothing_moved_nothing_is_estimated() -> None:
    counts = count_clicks(_readers(_relevance(20, 3), 100, moves=False))
    found = propensities(counts)
    assert not found.is_estimated and found.clicks == 0
    assert found.by_rank[:3] == pytest.approx([1, 1 / 2, 1 / 3])
    pairs = relevances(counts, found)
    # 1/k is too mild for these readers, and still nearer to the truth than the counts.
    gamma = _relevance(20, 3)
    assert _order_is_right(pairs, gamma, "relevance") > _order_is_right(pairs, gamma, "clicks")


def test_few_clicks_are_no_estimate_and_none_no_error() -> None:
    few = count_clicks(_readers(_relevance(1, 1), 8, moves=True))
    assert propensities(few).clicks < LEAST_CLICKS and not propensities(few).is_estimated
    nothing = count_clicks({})
    assert relevances(nothing, propensities(nothing)) == ()


def test_one_click_is_no_certainty() -> None:
    once = LoggedSearch("s", 1, AT, "q", "q", ("a", "b"), 2, opened=(2,))
    other = tuple(LoggedSearch(f"t{at}", 1, AT, "r", "r", ("a", "b"), 2) for at in range(50))
    pairs = relevances(count_clicks({"q": (once,), "r": other}), Propensities(np.ones(20), False, 0))
    assert 0.2 < next(each.relevance for each in pairs if each.clicks) < 0.5
