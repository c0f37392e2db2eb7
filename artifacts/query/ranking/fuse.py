"""Fusion of several ranked lists into one list of candidates, best first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from ..model import Candidate, Contribution, Ints, RankedList

Shares = npt.NDArray[np.float64]


def reciprocal_rank_fusion(
    lists: Sequence[RankedList], weights: Mapping[str, float], k: int, places: Ints | None = None
) -> list[Candidate]:
    """Fuse by weighted reciprocal rank: ``score = Σ weight / (k + rank)``, ranks from 1.

    Cormack, Clarke, Büttcher 2009. A passage that is missing from a list gets nothing from it. Order:
    ``(-score, place, row)``.
    """
    return _fuse(lists, weights, lambda ranked: 1 / (k + np.arange(1.0, len(ranked.rows) + 1)), places)


def convex_combination(
    lists: Sequence[RankedList], weights: Mapping[str, float], places: Ints | None = None
) -> list[Candidate]:
    """Fuse by ``Σ weight · score / scale``, every score taken between 0 and 1.

    Bruch, Gai, Ingber 2023: a cosine is taken as it is, BM25F as a share of the best score that any passage
    has for the query, less where words of the query are unknown. The most that it could be, the sum of each
    term's best posting, grows with the length of a question, and would silence the words of a long one. What
    one list found, the others score too if they can, because a passage just below the end of a list still has
    a score there.
    """
    total = _total(lists, weights) or 1.0
    shares = {name: weight / total for name, weight in weights.items()}
    asked = [each for each in lists if weights.get(each.name, 0.0) > 0]
    found = np.unique(np.concatenate([each.rows for each in asked])) if asked else np.zeros(0, np.int64)
    complete = [_completed(each, found) for each in asked]
    return _fuse(complete, shares, lambda ranked: _up_to_one(ranked, ranked.scale), places)


def _completed(ranked: RankedList, found: npt.NDArray[np.int64]) -> RankedList:
    """Append what the list did not find but can score."""
    if ranked.score_of is None:
        return ranked
    missing = np.setdiff1d(found, ranked.rows, assume_unique=True)
    scores = ranked.score_of(missing)
    rows = np.concatenate([ranked.rows, missing[scores > 0]])
    values = np.concatenate([ranked.scores, scores[scores > 0]])
    return replace(ranked, rows=rows, scores=values, unranked=len(rows) - len(ranked.rows))


def attainable(lists: Sequence[RankedList], weights: Mapping[str, float], k: int | None) -> float:
    """Return the most that fusion could give: first in every list (``k`` of RRF, ``None`` for convex)."""
    total = _total(lists, weights)
    return (total / (k + 1) if k is not None else 1.0) if total > 0 else 0.0


def balanced(
    lists: Sequence[RankedList], weights: Mapping[str, float], spread: float, least: float
) -> dict[str, float]:
    """Weigh lists by how far their scores differ: flat scores count less, down to ``least`` of the weight.

    The spread is the coefficient of variation, which has no scale; the factor is ``spread found / spread``,
    clamped to ``[least, 1]``; at the end the weights are scaled back to their old sum.
    """
    factor: dict[str, float] = {}
    for ranked in lists:
        mean = float(ranked.scores.mean()) if len(ranked.scores) else 0.0
        found = float(ranked.scores.std()) / mean if mean > 0 else 0.0
        factor[ranked.name] = float(np.clip(found / spread, least, 1.0))
    changed = {name: weight * factor.get(name, 1.0) for name, weight in weights.items()}
    before = sum(weights[name] for name in factor if name in weights)
    after = sum(changed[name] for name in factor if name in changed)
    scale = before / after if after > 0 else 1.0
    return {name: weight * scale if name in factor else weight for name, weight in changed.items()}


def in_order(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Sort candidates by the total order ``(-score, place, row)``."""
    return sorted(candidates, key=lambda candidate: (-candidate.score, candidate.place, candidate.row))


def values_of(column: npt.NDArray[np.integer[Any]], candidates: Sequence[Candidate]) -> list[int]:
    """Return the values of a column of passages for the candidates."""
    found: list[int] = column[[each.row for each in candidates]].tolist()
    return found


def _fuse(
    lists: Sequence[RankedList],
    weights: Mapping[str, float],
    shares_of: Callable[[RankedList], Shares],
    places: Ints | None,
) -> list[Candidate]:
    found: defaultdict[int, list[Contribution]] = defaultdict(list)
    for ranked in lists:
        weight = weights.get(ranked.name, 0.0)
        if weight > 0:
            each = _contributions(ranked, weight, shares_of(ranked))
            for row, contribution in zip(ranked.rows.tolist(), each, strict=True):
                found[row].append(contribution)
    several = any(ranked.question > 0 for ranked in lists)
    rows = list(found)
    orders = repeat(0) if places is None else places[rows].tolist()
    return in_order(
        Candidate(row, _best_question(shares) if several else tuple(shares), place=place)
        for row, shares, place in zip(rows, found.values(), orders, strict=False)
    )


def _contributions(ranked: RankedList, weight: float, shares: Shares) -> Iterator[Contribution]:
    """Yield what the list gives to each of its rows, in their order."""
    first = len(ranked.rows) - ranked.unranked
    ranks = [*range(1, first + 1), *repeat(0, ranked.unranked)]
    scores, attained = ranked.scores.tolist(), _up_to_one(ranked, ranked.most).tolist()
    given = (weight * shares).tolist()
    return map(
        Contribution,
        repeat(ranked.name), ranks, scores, repeat(weight), given, repeat(ranked.question), attained,
    )  # fmt: skip


def _up_to_one(ranked: RankedList, most: float) -> Shares:
    """Return the scores as shares of the most, none above 1; 0 where there is no most."""
    scores = ranked.scores.astype(np.float64)
    return np.minimum(1.0, scores / most) if most else np.zeros_like(scores)


def _best_question(shares: Sequence[Contribution]) -> tuple[Contribution, ...]:
    """Keep the shares of the question answered best: else half an answer to each would beat a whole one."""
    sums: dict[int, float] = defaultdict(float)
    for each in shares:
        sums[each.question] += each.share
    best = min(sums, key=lambda question: (-sums[question], question))
    return tuple(each for each in shares if each.question == best)


def _total(lists: Sequence[RankedList], weights: Mapping[str, float]) -> float:
    """Sum the weights of the lists of each question; return the largest sum."""
    sums: dict[int, float] = defaultdict(float)
    for ranked in lists:
        sums[ranked.question] += weights.get(ranked.name, 0.0)
    return max(sums.values(), default=0.0)
