"""The paired tests: exact where the exact answer is known, the same every time, and honest about noise."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noctule.artifacts.judged.significance import (
    PERMUTATIONS,
    bootstrap_interval,
    compare,
    holm,
    randomisation_test,
)


def exact_p(differences: list[float]) -> float:
    """By every assignment of signs."""
    observed = abs(sum(differences))
    signs = list(itertools.product((-1, 1), repeat=len(differences)))
    sums = [abs(sum(s * d for s, d in zip(row, differences, strict=True))) for row in signs]
    return sum(each >= observed - 1e-12 for each in sums) / len(signs)


@pytest.mark.parametrize("seed", range(4))
def test_the_randomisation_test_is_near_the_exact_one(seed: int) -> None:
    differences = np.random.default_rng(seed).normal(0.2, 0.5, size=10).round(2)
    assert randomisation_test(differences) == pytest.approx(exact_p(differences.tolist()), abs=0.015)


def test_equal_searches_have_a_p_of_one() -> None:
    found = compare([0.5, 0.2, 1.0], [0.5, 0.2, 1.0])
    assert (found.p, found.difference, found.low, found.high, found.ties) == (1.0, 0.0, 0.0, 0.0, 3)


def test_p_is_never_zero_and_a_clear_difference_is_clear() -> None:
    found = compare([0.1] * 200, [0.9] * 200)
    assert found.p == 1 / (PERMUTATIONS + 1)
    assert (found.wins, found.losses) == (200, 0)
    assert found.low == pytest.approx(0.8) == found.high


def test_noise_is_seldom_called_significant() -> None:
    rng = np.random.default_rng(7)
    p_values = [randomisation_test(rng.normal(0, 1, size=50), permutations=1000) for _ in range(200)]
    assert 0.01 <= np.mean(np.array(p_values) < 0.05) <= 0.10


def test_the_interval_holds_the_mean_as_often_as_it_says() -> None:
    rng = np.random.default_rng(8)
    inside = 0
    for _ in range(200):
        low, high = bootstrap_interval(rng.normal(0.3, 1, size=60), resamples=500)
        inside += low <= 0.3 <= high
    assert 0.88 <= inside / 200 <= 0.99


def test_the_same_values_give_the_same_answer() -> None:
    rng = np.random.default_rng(9)
    before, after = rng.random(300), rng.random(300)
    assert compare(before.tolist(), after.tolist()) == compare(before.tolist(), after.tolist())


def test_many_queries_are_tested_in_parts_and_give_the_same_p() -> None:
    differences = np.random.default_rng(10).normal(0.001, 0.1, size=9000)
    assert 0 < randomisation_test(differences, permutations=500) <= 1
    assert bootstrap_interval(differences, resamples=500)[0] < differences.mean()


def test_the_direction_does_not_change_p() -> None:
    differences = np.array([0.3, -0.1, 0.2, 0.5, 0.05])
    assert randomisation_test(differences) == randomisation_test(-differences)


def test_holm_corrects_step_by_step_and_keeps_the_order() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx((0.03, 0.06, 0.06))
    assert holm([0.6, 0.7]) == (1.0, 1.0)
    assert holm([]) == ()


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_never_lowers_a_p_and_keeps_their_order(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(p <= corrected <= 1 for p, corrected in zip(p_values, adjusted, strict=True))
    ranked = [adjusted[at] for at in sorted(range(len(p_values)), key=lambda at: p_values[at])]
    assert ranked == sorted(ranked)
