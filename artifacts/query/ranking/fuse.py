"""Fusion of several ranked lists into one list of candidates, best first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..model import Candidate, Contribution, Ints, RankedList

Share = Callable[[RankedList, int, float], float]


def reciprocal_rank_fusion(
    lists: Sequence[RankedList], weights: Mapping[str, float], k: int, places: Ints | None = None
) -> list[Candidate]:
    """Fuse by weighted reciprocal rank: ``score = Σ weight / (k + rank)``, ranks from 1.

    Cormack, Clarke, Büttcher 2009. A passage that is missing from a list gets nothing from it. Order:
    ``(-score, place, row)``.
    """
    return _fuse(lists, weights, lambda _, rank, __: 1 / (k + rank), places)


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
    share: Share = lambda ranked, _, score: min(1.0, score / ranked.scale) if ranked.scale else 0.0  # noqa: E731
    return _fuse(complete, shares, share, places)


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


def _fuse(
    lists: Sequence[RankedList], weights: Mapping[str, float], share: Share, places: Ints | None
) -> list[Candidate]:
    found: dict[int, tuple[Contribution, ...]] = {}
    for ranked in lists:
        weight = weights.get(ranked.name, 0.0)
        if weight <= 0:
            continue
        pairs = zip(ranked.rows.tolist(), ranked.scores.tolist(), strict=True)
        last = len(ranked.rows) - ranked.unranked
        for rank, (row, score) in enumerate(pairs, start=1):
            given = weight * share(ranked, rank, score)
            place = rank if rank <= last else 0
            attained = min(1.0, score / ranked.most) if ranked.most else 0.0
            each = Contribution(ranked.name, place, score, weight, given, ranked.question, attained)
            found[row] = (*found.get(row, ()), each)
    several = any(ranked.question > 0 for ranked in lists)
    return in_order(
        Candidate(
            row,
            _best_question(shares) if several else shares,
            place=0 if places is None else int(places[row]),
        )
        for row, shares in found.items()
    )


def _best_question(shares: tuple[Contribution, ...]) -> tuple[Contribution, ...]:
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
