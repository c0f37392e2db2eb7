"""Significance of the difference between two searches on the same queries: paired, seeded tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

PERMUTATIONS = 20_000
RESAMPLES = 10_000
SEED = 20_261_121
_AT_ONCE = 2_000_000
# Sums in another order differ in the last digits, and must still count as equal.
_SAME = 1e-12

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A search against a baseline on the same queries.

    ``difference`` is the mean of search minus baseline, within ``low`` to ``high`` with 95 % confidence;
    ``p`` is the probability of a difference at least as large, in either direction, if both were equally
    good.
    """

    queries: int
    baseline: float
    mean: float
    difference: float
    low: float
    high: float
    p: float
    wins: int
    ties: int
    losses: int


def compare(baseline: Sequence[float], values: Sequence[float]) -> Comparison:
    """Compare the values of two searches, given query by query in the same order."""
    before, after = np.asarray(baseline, np.float64), np.asarray(values, np.float64)
    differences = after - before
    interval = bootstrap_interval(differences)
    return Comparison(
        queries=len(differences),
        baseline=float(before.mean()),
        mean=float(after.mean()),
        difference=float(differences.mean()),
        low=float(interval[0]),
        high=float(interval[1]),
        p=randomisation_test(differences),
        wins=int((differences > _SAME).sum()),
        ties=int((np.abs(differences) <= _SAME).sum()),
        losses=int((differences < -_SAME).sum()),
    )


def randomisation_test(differences: Floats, permutations: int = PERMUTATIONS, seed: int = SEED) -> float:
    """Return the two-sided p of Fisher's paired randomization test.

    It is how often random signs give as large a mean. The observed signs count as one of the permutations, so
    p is never 0.
    """
    moving = differences[np.abs(differences) > _SAME]
    if len(moving) == 0:
        return 1.0
    random = np.random.default_rng(seed)
    observed, reached = abs(moving.sum()) - _SAME * len(moving), 1
    for size in _batches(permutations, len(moving)):
        signs = random.integers(0, 2, size=(size, len(moving)), dtype=np.int8) * 2 - 1
        reached += int((np.abs(signs @ moving) >= observed).sum())
    return reached / (permutations + 1)


def bootstrap_interval(
    differences: Floats, resamples: int = RESAMPLES, seed: int = SEED, confidence: float = 0.95
) -> Floats:
    """Return the ends of the mean's percentile bootstrap interval, low and high, shape ``(2,)``."""
    random = np.random.default_rng(seed)
    means = [
        differences[random.integers(0, len(differences), size=(size, len(differences)))].mean(axis=1)
        for size in _batches(resamples, len(differences))
    ]
    tail = (1 - confidence) / 2
    ends: Floats = np.quantile(np.concatenate(means), [tail, 1 - tail])
    return ends


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return the p values, in their order, corrected by Holm's step-down method for multiple tests."""
    adjusted, floor = [0.0] * len(p_values), 0.0
    for rank, at in enumerate(sorted(range(len(p_values)), key=lambda at: (p_values[at], at))):
        floor = max(floor, min(1.0, p_values[at] * (len(p_values) - rank)))
        adjusted[at] = floor
    return tuple(adjusted)


def _batches(rows: int, width: int) -> list[int]:
    """Return row counts that add up to ``rows``, each small enough for memory."""
    most = max(1, _AT_ONCE // width)
    return [min(most, rows - at) for at in range(0, rows, most)]
