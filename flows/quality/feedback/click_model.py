"""What clicks say of relevance, with the position at which a hit was shown taken out.

The position-based model: a hit is clicked if it is examined and relevant, and whether it is examined depends
on its rank alone,

    P(click | query, document, rank k) = theta_k * gamma(query, document).

``theta``, the propensities, are estimated by expectation maximization as in X. Wang, N. Golbandi,
M. Bendersky, D. Metzler, M. Najork: Position Bias Estimation for Unbiased Learning to Rank in Personal
Search, WSDM 2018. Only hits that were shown at several ranks tell ``theta`` from ``gamma``: A. Agarwal,
I. Zaitsev, X. Wang, C. Li, M. Najork, T. Joachims: Estimating Position Bias without Intrusive Interventions,
WSDM 2019. Snapshots and settings that change move hits by themselves, so nobody is shown a worse order for
it. Where too few moved, ``theta_k = 1 / k`` is assumed, as T. Joachims, A. Swaminathan, T. Schnabel do in
Unbiased Learning-to-Rank with Biased Feedback, WSDM 2017.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .logged_searches import LoggedSearch

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

# Hits below are hardly looked at; what is clicked there would weigh too much.
MOST_RANKS = 20
# So many clicks on hits that moved are needed for an estimate.
LEAST_CLICKS = 100
# The assumption counts as so many hits shown at each rank, and the average of gamma as so many of each pair.
_PRIOR_SHOWN, _PRIOR_PAIR = 10.0, 2.0
_MOST_STEPS, _SMALL_STEP = 2_000, 1e-6


@dataclass(frozen=True, slots=True)
class ClickCounts:
    """How often each pair of query and hit was shown and clicked at each rank, from 1: one row for each."""

    pairs: tuple[tuple[str, str], ...]
    pair: Integers
    rank: Integers
    shown: Floats
    clicks: Floats


@dataclass(frozen=True, slots=True)
class Propensities:
    """How likely a rank is examined, with the first as 1; ``clicks`` are those of hits that moved."""

    by_rank: Floats
    is_estimated: bool
    clicks: int


@dataclass(frozen=True, slots=True)
class PairRelevance:
    """A pair of query and hit: clicks as they were counted, and the share of examinations that they are."""

    query: str
    hit: str
    shown: int
    clicks: int
    relevance: float


def count_clicks(queries: dict[str, tuple[LoggedSearch, ...]]) -> ClickCounts:
    """Count what was shown and clicked in the searches of each query."""
    counts: dict[tuple[str, str, int], list[int]] = {}
    for query, searches in queries.items():
        for each in searches:
            for rank, hit in enumerate(each.hits[:MOST_RANKS], start=1):
                cell = counts.setdefault((query, hit, rank), [0, 0])
                cell[0] += 1
                cell[1] += rank in each.opened
    pairs = tuple(dict.fromkeys((query, hit) for query, hit, _ in counts))
    number = {pair: at for at, pair in enumerate(pairs)}
    rows = np.array(
        [(number[query, hit], rank, *cell) for (query, hit, rank), cell in counts.items()], np.int64
    ).reshape(-1, 4)
    return ClickCounts(pairs, rows[:, 0], rows[:, 1], rows[:, 2].astype(float), rows[:, 3].astype(float))


def propensities(counts: ClickCounts) -> Propensities:
    """Estimate how likely each rank is examined from pairs that were shown at several."""
    assumed = 1.0 / np.arange(1, MOST_RANKS + 1)
    ranks = np.bincount(counts.pair, minlength=len(counts.pairs))
    moved = ranks[counts.pair] > 1
    clicks = int(counts.clicks[moved].sum())
    if clicks < LEAST_CLICKS:
        return Propensities(assumed, False, clicks)
    _, pair = np.unique(counts.pair[moved], return_inverse=True)
    at = counts.rank[moved] - 1
    theta = _maximized(pair, at, counts.shown[moved], counts.clicks[moved], assumed)
    return Propensities(theta, True, clicks)


def _maximized(pair: Integers, at: Integers, shown: Floats, clicks: Floats, prior: Floats) -> Floats:
    """Return theta at the maximum of its posterior."""
    theta, missed = prior.copy(), shown - clicks
    all_shown = np.bincount(pair, shown)
    mean = clicks.sum() / (shown * prior[at]).sum()
    gamma = np.full(len(all_shown), min(mean, 0.9))
    rank_shown = np.bincount(at, shown, len(prior)) + _PRIOR_SHOWN
    for _ in range(_MOST_STEPS):
        # Of what was not clicked: examined but not relevant, relevant but not examined.
        neither = 1.0 - theta[at] * gamma[pair]
        examined = clicks + missed * theta[at] * (1.0 - gamma[pair]) / neither
        relevant = clicks + missed * gamma[pair] * (1.0 - theta[at]) / neither
        gamma = (np.bincount(pair, relevant) + _PRIOR_PAIR * mean) / (all_shown + _PRIOR_PAIR)
        gamma = np.clip(gamma, 1e-6, 1.0 - 1e-6)
        after = (np.bincount(at, examined, len(prior)) + _PRIOR_SHOWN * prior) / rank_shown
        after = np.clip(after / after[0], 1e-3, 1.0 - 1e-9)
        change = np.abs(after - theta).max()
        theta = after
        if change < _SMALL_STEP:
            break
    normalized: Floats = theta / theta[0]
    return normalized


def relevances(counts: ClickCounts, found: Propensities) -> tuple[PairRelevance, ...]:
    """Return each pair's ``clicks / sum(theta_k)`` over all times that it was shown, at the rank k of each.

    Its expectation is gamma, as that of inverse propensity weighting, ``sum(click / theta_k) / shown``, is,
    and it varies less, since one click far below does not weigh twenty times: the ratio of clicks to
    expected clicks of V. W. Zhang and R. Jones, WWW 2007. Few clicks are drawn to the average.
    """
    expected = counts.shown * found.by_rank[counts.rank - 1]
    size = len(counts.pairs)
    clicks = np.bincount(counts.pair, counts.clicks, size)
    examined = np.bincount(counts.pair, expected, size)
    shown = np.bincount(counts.pair, counts.shown, size)
    mean = clicks.sum() / examined.sum() if size else 0.0
    gamma = np.minimum((clicks + _PRIOR_PAIR * mean) / (examined + _PRIOR_PAIR), 1.0)
    rows: Sequence[tuple[float, float, float]] = list(zip(shown, clicks, gamma, strict=True))
    return tuple(
        PairRelevance(query, hit, int(of), int(clicked), float(value))
        for (query, hit), (of, clicked, value) in zip(counts.pairs, rows, strict=True)
    )
