"""Duplicates: the seeds' example with its real sets, short texts, and a matrix against sets one can read."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noctule.artifacts.query.ranking.duplicates import (
    char_ngrams,
    jaccard_matrix,
    without_near_meaning,
    without_near_text,
    without_same,
)
from tests.candidate_builder import angles, candidates, rows

A = "Configure the authentication settings in config.toml"
B = "Configure authentication settings in the config.toml file"


def grams(text: str) -> set[str]:
    """3-grams; of a shorter text the text itself."""
    lowered = text.lower()
    return {lowered[at : at + 3] for at in range(max(len(lowered) - 2, 1)) if lowered}


def near_text(*texts: str, threshold: float = 0.7) -> list[int]:
    return rows(
        without_near_text(
            candidates(*np.linspace(1, 0.1, len(texts))), lambda each: texts[each.row], threshold
        )
    )


def test_the_seeds_example_has_these_sets_and_is_a_duplicate() -> None:
    a, b = grams(A), grams(B)
    assert (len(a), len(b), len(a & b), len(a | b)) == (45, 50, 43, 52)
    assert (len(char_ngrams(A)), len(char_ngrams(B))) == (45, 50)
    assert jaccard_matrix([char_ngrams(A), char_ngrams(B)])[0, 1] == pytest.approx(43 / 52)
    assert round(43 / 52, 3) == 0.827
    assert near_text(A, B) == [0]
    assert near_text(A, B, threshold=0.83) == [0, 1]


def test_case_does_not_matter() -> None:
    assert near_text(A, A.upper()) == [0]


def test_a_similarity_of_exactly_the_threshold_is_a_duplicate() -> None:
    assert near_text("abcd", "abcde", threshold=2 / 3) == [0]
    assert near_text("abcd", "abcde", threshold=0.67) == [0, 1]


def test_equal_texts_too_short_for_grams_are_alike_and_others_are_not() -> None:
    assert near_text("ok", "no", "OK", "o", "", "k", "") == [0, 1, 3, 4, 5, 6]
    assert near_text("ok", "\x00ok", "ok\x00") == [0, 1, 2]


def test_the_better_of_two_duplicates_stays_in_its_place() -> None:
    keys = ("x", "y", "x", "z", "y")
    assert rows(without_same(candidates(5, 4, 3, 2, 1), keys)) == [0, 1, 3]


def test_what_repeats_a_duplicate_but_none_that_was_kept_stays() -> None:
    """0 and 1 are near, 1 and 2 are near, 0 and 2 are not: 1 goes, and 2 is compared with 0 alone."""
    vectors = angles(0, 30, 60)
    assert rows(without_near_meaning(candidates(3, 2, 1), vectors, 0.85)) == [0, 2]


def test_a_cosine_of_85_hundredths_is_the_border() -> None:
    border = float(np.degrees(np.arccos(0.85)))
    found = candidates(2, 1)
    assert rows(without_near_meaning(found, angles(0, border - 0.1), 0.85)) == [0]
    assert rows(without_near_meaning(found, angles(0, border + 0.1), 0.85)) == [0, 1]
    assert rows(without_near_meaning(found, angles(0, 180), 0.85)) == [0, 1]


def test_a_cosine_of_exactly_the_threshold_is_a_duplicate() -> None:
    vectors = np.array([[1.0, 0.0], [0.5, 0.75**0.5]], dtype=np.float32)
    assert rows(without_near_meaning(candidates(2, 1), vectors, 0.5)) == [0]


def test_nothing_has_no_duplicates() -> None:
    assert near_text() == []
    assert without_same([], []) == []
    assert without_near_meaning([], np.zeros((0, 2), np.float32), 0.85) == []


TEXTS = st.lists(
    st.one_of(st.text(max_size=12), st.text(alphabet="abAB é😀\x00", max_size=12)), min_size=1, max_size=8
)


@settings(max_examples=150)
@given(TEXTS)
def test_the_matrix_is_that_of_sets_of_strings(texts: list[str]) -> None:
    found = jaccard_matrix([char_ngrams(text) for text in texts])
    sets = [grams(text) for text in texts]
    expected = [[len(a & b) / len(a | b) if a and b else 0.0 for b in sets] for a in sets]
    assert found == pytest.approx(np.array(expected))


@settings(max_examples=100)
@given(TEXTS, st.sampled_from([0.3, 0.7, 1.0]))
def test_what_is_kept_is_unlike_all_kept_and_what_is_dropped_is_like_one_before(
    texts: list[str], threshold: float
) -> None:
    kept = near_text(*texts, threshold=threshold)
    alike = jaccard_matrix([char_ngrams(text) for text in texts]) >= threshold
    for at in range(len(texts)):
        before = [row for row in kept if row < at]
        assert (at in kept) != bool(alike[at, before].any())
