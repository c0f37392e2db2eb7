"""The stages that multiply: Rocchio, community, recency, glossary pages, support."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import pytest

from noctule.artifacts.query.model import Candidate
from noctule.artifacts.query.ranking.boosts import (
    boost_alike,
    boost_communities,
    boost_glossary_pages,
    boost_recent,
    support_documents,
    tier_factor,
)
from noctule.pipeline.settings.search import GlossaryPages, Recency
from tests.candidate_builder import candidates, documents_of, factors, rows

TODAY = date(2026, 8, 31)


# The documents' vectors: the first two and the fourth are alike, and the last is their opposite.
VECTORS = np.array([[1, 0], [0.8, 0.6], [0, 1], [0.8, 0.6], [-1, 0]], np.float32)


def test_what_is_near_the_best_documents_gains_its_cosine_with_their_mean() -> None:
    found = boost_alike(candidates(0.9, 0.8, 0.7, 0.69, 0.6), documents_of(0, 1, 2, 3, 4), VECTORS, 2, 0.5)
    center = np.array([1.8, 0.6]) / np.linalg.norm([1.8, 0.6])
    gained = {each.row: each.score for each in found}
    for row, score in enumerate((0.9, 0.8, 0.7, 0.69)):
        assert gained[row] == pytest.approx(score + 0.5 * float(VECTORS[row] @ center), abs=1e-6)
    assert gained[4] == 0.6
    assert rows(found) == [0, 1, 3, 2, 4]
    assert found[2].multipliers[0].because == "cosine 0.95 with the best documents"


def test_the_best_documents_are_counted_once_and_all_their_passages_gain() -> None:
    found = boost_alike(candidates(0.9, 0.8, 0.7), documents_of(0, 0, 2), VECTORS, 1, 0.5)
    assert [each.score for each in found] == pytest.approx([1.4, 1.3, 0.7])


def test_documents_without_a_direction_give_nothing() -> None:
    found = boost_alike(candidates(0.9, 0.8), documents_of(0, 1), np.zeros((2, 2), np.float32), 2, 0.5)
    assert factors(found) == {0: [], 1: []}


def in_communities(found: list[Candidate], *communities: int, seeds: int = 3) -> list[Candidate]:
    """One passage a document; the community of each document."""
    documents = documents_of(*range(len(communities)))
    return boost_communities(found, documents, documents_of(*communities), seeds, 1.1)


def test_what_shares_a_community_with_the_best_three_is_boosted_and_they_are_not() -> None:
    found = in_communities(candidates(0.9, 0.8, 0.7, 0.6, 0.5), 1, 2, 3, 2, 9)
    assert factors(found) == {0: [], 1: [], 2: [], 3: [1.1], 4: []}
    assert found[3].multipliers[0].because == "community 2"


def test_a_boost_may_pass_a_seed_and_the_order_follows() -> None:
    found = in_communities(candidates(0.9, 0.8, 0.7, 0.69), 1, 2, 3, 1)
    assert rows(found) == [0, 1, 3, 2]
    assert found[2].score == pytest.approx(0.69 * 1.1)


def test_the_communities_of_what_is_not_among_the_best_count_for_nothing() -> None:
    found = in_communities(candidates(0.9, 0.8, 0.7, 0.6, 0.5), 1, 2, 3, 7, 7)
    assert factors(found) == {key: [] for key in range(5)}
    found = in_communities(candidates(0.9, 0.8, 0.7), 1, 2, 2, seeds=1)
    assert factors(found) == {key: [] for key in range(3)}


def test_documents_of_no_community_have_none_in_common() -> None:
    assert factors(in_communities(candidates(0.9, 0.8), -1, -1, seeds=1)) == {0: [], 1: []}


def test_another_passage_of_a_seed_is_no_other_document_and_seeds_are_counted_in_documents() -> None:
    found = boost_communities(
        candidates(0.9, 0.8, 0.7, 0.6), documents_of(0, 0, 1, 2), documents_of(5, 6, 6), 2, 1.1
    )
    assert factors(found) == {0: [], 1: [], 2: [], 3: [1.1]}


def test_nothing_enters_that_was_not_found() -> None:
    assert in_communities([]) == []
    assert len(in_communities(candidates(0.5), 1, 1, 1)) == 1


@pytest.mark.parametrize(
    ("age_days", "factor"),
    [(0, 1.2), (3, 1.2), (5, 1.2), (7, 1.2), (8, 1.1), (30, 1.1), (31, 1.0), (400, 1.0), (-1, 1.0)],
)
def test_tiers_reach_to_their_last_day_and_days_to_come_have_none(age_days: int, factor: float) -> None:
    assert tier_factor(age_days, Recency()) == factor


def changed(*ages: int | None) -> np.ndarray:
    days = [str(TODAY - timedelta(days=age)) if age is not None else "NaT" for age in ages]
    return np.array(days, dtype="datetime64[D]")


def recent(
    found: list[Candidate], *ages: int | None, bias: float = 1.0, tiers: Recency | None = None
) -> list[Candidate]:
    documents = documents_of(*range(len(ages)))
    return boost_recent(found, documents, changed(*ages), TODAY, tiers or Recency(), bias)


def test_recent_documents_are_boosted_and_those_without_a_date_are_not() -> None:
    found = recent(candidates(0.9, 0.8, 0.7, 0.6), 400, None, 20, 7)
    assert factors(found) == {0: [], 1: [], 2: [1.1], 3: [1.2]}
    assert rows(found) == [0, 1, 2, 3]
    assert rows(recent(candidates(0.9, 0.8, 0.7, 0.69), 400, None, 20, 7)) == [0, 3, 1, 2]


def test_the_clock_is_the_day_that_is_passed_in() -> None:
    one = (candidates(0.5), documents_of(0), np.array(["2026-08-01"], dtype="datetime64[D]"))
    for day, expected in ((1, [1.2]), (8, [1.2]), (9, [1.1]), (31, [1.1])):
        assert factors(boost_recent(*one, date(2026, 8, day), Recency(), 1.0)) == {0: expected}
    assert factors(boost_recent(*one, date(2026, 9, 1), Recency(), 1.0)) == {0: []}


@pytest.mark.parametrize(("bias", "expected"), [(0.0, []), (0.5, [1.1]), (1.0, [1.2]), (2.0, [1.4])])
def test_the_bias_scales_what_a_factor_adds_and_0_adds_nothing(bias: float, expected: list[float]) -> None:
    assert factors(recent(candidates(0.5), 3, bias=bias)) == {0: pytest.approx(expected)}


def test_other_tiers_can_be_set() -> None:
    tiers = Recency(days=(1, 365), factors=(2.0, 1.5))
    assert factors(recent(candidates(0.5, 0.4), 1, 100, tiers=tiers)) == {0: [2.0], 1: [1.5]}
    assert factors(recent(candidates(0.5), 1, tiers=Recency(days=(), factors=()))) == {0: []}


PLACES = {
    0: ("guide/tides.md", "Tides", "Tides > The tide"),
    1: ("glossary/tide.md", "Tide", "Tide"),
    2: ("Glossary.md", "Words", "Words > Tide"),
    3: ("en/glossary/tide/index.md", "Waves", "Waves > Other"),
    4: ("glossary-of-nothing.md", "Tide", "Tide"),
}


def glossary(*terms: str, **settings: object) -> dict[int, list[float]]:
    found = boost_glossary_pages(
        candidates(0.9, 0.8, 0.7, 0.6, 0.5),
        lambda each: PLACES[each.row],
        terms,
        ("en",),
        GlossaryPages.model_validate(settings),
    )
    return factors(found)


def test_glossary_pages_are_boosted_and_more_where_the_title_or_a_heading_holds_the_query() -> None:
    assert glossary("tide") == {0: [], 1: [1.10, 1.08], 2: [1.10, 1.05], 3: [1.10], 4: []}


def test_all_terms_must_stand_in_the_title() -> None:
    assert glossary("tide", "moon") == {0: [], 1: [1.10], 2: [1.10], 3: [1.10], 4: []}


def test_a_query_without_terms_is_in_no_title() -> None:
    assert glossary() == {0: [], 1: [1.10], 2: [1.10], 3: [1.10], 4: []}


def test_which_pages_define_terms_is_a_setting() -> None:
    assert glossary("tide", paths=["guide/"], page=2.0, title=1.0) == {
        0: [2.0, 1.0],
        1: [],
        2: [],
        3: [],
        4: [],
    }


def test_a_glossary_page_may_pass_a_better_hit() -> None:
    found = boost_glossary_pages(
        candidates(0.9, 0.85), lambda each: PLACES[each.row], ("tide",), ("en",), GlossaryPages()
    )
    assert rows(found) == [1, 0]


def supported(
    found: list[Candidate], *documents: int, share: float = 0.3, passages: tuple[int, ...] = (9,) * 9
) -> list[Candidate]:
    """``passages``: how many each document has."""
    return support_documents(found, documents_of(*documents), documents_of(*passages), share)


def test_a_second_passage_lifts_the_first_of_its_document_by_a_share_of_its_score() -> None:
    found = supported(candidates(0.5, 0.4, 0.3, 0.2), 7, 8, 8, 8)
    assert rows(found) == [0, 1, 2, 3]
    assert found[1].score == pytest.approx(0.4 + 0.3 * 0.3)
    assert factors(found) == {0: [], 1: [pytest.approx(1 + 0.3 * 0.3 / 0.4)], 2: [], 3: []}


def test_what_is_confirmed_may_pass_what_is_not() -> None:
    assert rows(supported(candidates(0.5, 0.45, 0.44), 7, 8, 8)) == [1, 0, 2]


def test_a_passage_that_is_its_whole_document_needs_no_second() -> None:
    found = supported(candidates(0.5, 0.4, 0.3), 0, 1, 2, passages=(2, 1, 1))
    assert factors(found) == {0: [], 1: [1.3], 2: [1.3]}
    assert rows(found) == [1, 0, 2]


def test_a_document_found_once_keeps_its_score_and_scores_of_nothing_stay() -> None:
    assert factors(supported(candidates(0.5, 0.4), 7, 8)) == {0: [], 1: []}
    assert factors(supported(candidates(0.0, 0.0), 7, 7)) == {0: [], 1: []}
    assert factors(supported(candidates(0.0), 0, passages=(1,))) == {0: []}
    assert supported([]) == []
