"""Elbow and aggregation: the vectors of ra, and its faults mended."""

from __future__ import annotations

from dataclasses import replace

import pytest

from noctule.artifacts.query.model import Candidate
from noctule.artifacts.query.ranking.cutoffs import before_elbow, elbow
from noctule.artifacts.query.ranking.sections import aggregated
from noctule.pipeline.settings.search import Aggregate
from tests.candidate_builder import candidates, rows, sections, tree


@pytest.mark.parametrize(
    ("scores", "count"),
    [
        ([8, 7.5, 7, 3.2, 3, 2.8, 0.9], 3),
        ([10, 5, 2.5], 3),
        ([10, 4.9, 2], 1),
        ([5, 4, 0, 3], 2),
        ([0, 5, 4], 0),
        ([5, 4, -1], 2),
        ([], 0),
        ([3], 1),
        ([0], 0),
        ([-1], 0),
        ([3, 3, 3], 3),
    ],
)
def test_the_elbow_stands_where_a_score_is_below_half_of_the_one_before(
    scores: list[float], count: int
) -> None:
    assert elbow(scores, 0.5, 20) == count


@pytest.mark.parametrize(
    ("scores", "most", "count"),
    [([10, 9, 8, 7, 6, 1], 3, 3), ([10, 9, 8, 7], 3, 3), ([10, 9, 1], 3, 2), ([10, 9], 3, 2)],
)
def test_the_cap_holds_with_an_elbow_further_down_and_without_one(
    scores: list[float], most: int, count: int
) -> None:
    assert elbow(scores, 0.5, most) == count


def test_other_ratios_cut_elsewhere() -> None:
    assert elbow([10, 9.5, 8, 7.9], 0.9, 20) == 2
    assert elbow([10, 3, 1], 0.3, 20) == 3
    assert elbow([10, 9.999], 1.0, 20) == 1


def test_candidates_after_the_elbow_are_left_out() -> None:
    assert rows(before_elbow(candidates(8, 7.5, 7, 3.2), 0.5, 20)) == [0, 1, 2]


# A document with sections a (of a1, a2, a3), b and c, where c has a child two levels down, as skipped levels
# give.
TREE = tree(doc="", a="doc", b="doc", c="doc", a1="a", a2="a", a3="a", b1="b", c1="c")


def found_in(*names: str, scores: tuple[float, ...] = (), **settings: float) -> list[Candidate]:
    """Aggregation of one candidate a section, scores falling from 1 unless given."""
    given = scores or tuple(1 - 0.1 * at for at in range(len(names)))
    return aggregated(
        candidates(*given),
        sections(*names),
        TREE,
        Aggregate(share=settings.get("share", 0.5), matches=int(settings.get("matches", 2))),
    )


def shape(found: list[Candidate]) -> list[tuple[str | None, tuple[int, ...]]]:
    return [(each.section, each.members) for each in found]


def test_two_of_three_sections_are_given_as_their_parent_with_the_best_score() -> None:
    (hit,) = found_in("a2", "a1", scores=(0.4, 0.7))
    assert (hit.section, hit.members, hit.row, hit.score) == ("a", (0, 1), 1, 0.7)
    assert "2 passages" in hit.notes[-1]


def test_one_of_three_sections_stays_what_it_is() -> None:
    assert shape(found_in("a1")) == [(None, ())]
    assert rows(found_in("a1", "b1", "c1")) == [0, 1, 2]


def test_a_lone_section_does_not_climb_though_it_is_all_of_its_parent() -> None:
    """All of one: half of the siblings were found, but there are not two of them."""
    assert shape(found_in("b1")) == [(None, ())]


def test_the_share_needed_is_a_setting_and_an_exact_half_is_enough() -> None:
    assert shape(found_in("a1", "a2", share=0.9)) == [(None, ()), (None, ())]
    halves = tree(d="", s1="d", s2="d", s3="d", s4="d")
    two = aggregated(candidates(0.9, 0.8), sections("s1", "s4"), halves, Aggregate())
    assert shape(two) == [("d", (0, 1))]


def test_sections_at_different_depths_are_counted_under_the_same_parent() -> None:
    """Skipped levels: ``deep`` is a child of the document like ``flat``, though its heading is smaller."""
    skipped = tree(d="", flat="d", deep="d", other="d", last="d")
    (deep,) = sections("deep")
    skipped[deep] = replace(skipped[deep], depth=3)
    found = aggregated(candidates(0.9, 0.8), sections("flat", "deep"), skipped, Aggregate())
    assert shape(found) == [("d", (0, 1))]


def test_parents_that_came_together_come_together_again() -> None:
    (hit,) = found_in("a1", "a2", "b1", "b", "c", scores=(0.5, 0.9, 0.4, 0.3, 0.2))
    assert (hit.section, hit.members, hit.score) == ("doc", (0, 1, 2, 3, 4), 0.9)


def test_the_deepest_come_together_first_so_that_their_parent_counts_with_its_siblings() -> None:
    (hit,) = found_in("a1", "a2", "b", scores=(0.5, 0.9, 0.4))
    assert (hit.section, hit.members, hit.score) == ("doc", (0, 1, 2), 0.9)


def test_a_parent_made_of_sections_counts_once_beside_its_siblings() -> None:
    four = tree(d="", a="d", b="d", c="d", e="d", f="d", a1="a", a2="a")
    found = aggregated(candidates(0.9, 0.8, 0.7), sections("a1", "a2", "b"), four, Aggregate())
    assert shape(found) == [("a", (0, 1)), (None, ())]


def test_an_ancestor_that_was_found_itself_takes_the_best_score_and_lists_the_descendant() -> None:
    """A weak direct hit must not hide the better one below it."""
    (hit,) = found_in("doc", "a1", scores=(0.2, 0.9))
    assert (hit.section, hit.members, hit.row, hit.score) == ("doc", (0, 1), 1, 0.9)


def test_an_ancestor_keeps_its_own_score_where_that_is_the_best() -> None:
    (hit,) = found_in("a", "a1", "a2", scores=(0.9, 0.5, 0.4))
    assert (hit.section, hit.members, hit.row, hit.score) == ("a", (0, 1, 2), 0, 0.9)


def test_an_ancestor_is_found_by_parent_and_not_by_how_its_name_begins() -> None:
    """``error`` is no ancestor of ``error-handling``."""
    named = tree(
        doc="", **{"doc#error": "doc", "doc#error-handling": "doc", "x": "doc", "y": "doc", "z": "doc"}
    )
    found = aggregated(
        candidates(0.9, 0.8), sections("doc#error", "doc#error-handling"), named, Aggregate(share=1.0)
    )
    assert shape(found) == [(None, ()), (None, ())]


def test_two_passages_of_one_section_are_that_section() -> None:
    assert shape(found_in("a1", "a1")) == [("a1", (0, 1))]


def test_two_passages_of_one_section_are_one_match_of_its_parent() -> None:
    assert shape(found_in("b1", "b1")) == [("b1", (0, 1))]


def test_the_score_multiplies_out_after_aggregation_and_the_order_is_total() -> None:
    found = found_in("a1", "a2", "b1", "c1", scores=(0.5, 0.5, 0.5, 0.5))
    assert [each.row for each in found] == [0, 2, 3]
    for each in found:
        assert each.score == sum(contribution.share for contribution in each.contributions)


def test_the_order_in_which_sections_were_found_does_not_matter() -> None:
    names = ["a1", "a2", "b1", "c1", "b"]
    scores = [0.9, 0.8, 0.7, 0.6, 0.5]
    forward = aggregated(candidates(*scores), sections(*names), TREE, Aggregate())
    found = candidates(*scores)[::-1]
    backward = aggregated(found, sections(*names[::-1]), TREE, Aggregate())
    assert forward == backward
