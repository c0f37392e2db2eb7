"""Fusion of several ranked lists into one list of candidates, best first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from ..model import Candidate, Contribution, Ints, RankedList, Scores


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
    found = _rows_of(asked)
    complete = [_completed(each, found) for each in asked]
    return _fuse(complete, shares, lambda ranked: _up_to_one(ranked, ranked.scale), places)


def _completed(ranked: RankedList, found: Ints) -> RankedList:
    """Append what the list did not find but can score; ``found`` holds its rows among others, ascending."""
    if ranked.score_of is None:
        return ranked
    missing = np.delete(found, np.searchsorted(found, ranked.rows))
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


@dataclass(frozen=True, slots=True)
class _WeightedList:
    """A ranked list, and what it gives to each of its rows: shares of their scores."""

    ranked: RankedList
    weight: float
    shares: Scores
    attained: Scores

    def contribution(self, row: int) -> Contribution | None:
        """Return what the list gives to a row, ``None`` if it does not hold it."""
        ranked = self.ranked
        for at in np.flatnonzero(ranked.rows == row).tolist():
            rank = at + 1 if at < len(ranked.rows) - ranked.unranked else 0
            score, share, attained = (float(v[at]) for v in (ranked.scores, self.shares, self.attained))
            return Contribution(ranked.name, rank, score, self.weight, share, ranked.question, attained)
        return None


@dataclass(frozen=True, slots=True)
class _FusedLists:
    """The rows of all lists, ascending, and of each the question that it answers best."""

    lists: Sequence[_WeightedList]
    rows: Ints
    questions: Ints

    def contributions(self, row: int) -> tuple[Contribution, ...]:
        """Return what the lists of the row's question gave to it."""
        question = self.questions[np.searchsorted(self.rows, row)]
        given = (each.contribution(row) for each in self.lists if each.ranked.question == question)
        return tuple(each for each in given if each is not None)


def _fuse(
    lists: Sequence[RankedList],
    weights: Mapping[str, float],
    shares_of: Callable[[RankedList], Scores],
    places: Ints | None,
) -> list[Candidate]:
    weighted = [
        _WeightedList(each, weight, weight * shares_of(each), _up_to_one(each, each.most))
        for each in lists
        if (weight := weights.get(each.name, 0.0)) > 0
    ]
    rows = _rows_of([each.ranked for each in weighted])
    questions, scores, attained = _best_question(weighted, rows)
    ties = np.zeros_like(rows) if places is None else places[rows]
    order = np.lexsort((rows, ties, -scores))
    explained = repeat(_FusedLists(weighted, rows, questions).contributions)
    columns = (each[order].tolist() for each in (rows, scores, attained, ties))
    return [
        Candidate(row, score, contributions, share, tie)
        for row, score, share, tie, contributions in zip(*columns, explained, strict=False)
    ]


def _best_question(lists: Sequence[_WeightedList], rows: Ints) -> tuple[Ints, Scores, Scores]:
    """Return which question each row answers best, and its score and what it attained in that one's lists.

    The sum over all questions would prefer half an answer to each to a whole answer to one.
    """
    shape = (1 + max((each.ranked.question for each in lists), default=0), len(rows))
    found, scores, attained = np.zeros(shape, np.bool_), np.zeros(shape), np.zeros(shape)
    for each in lists:
        where = each.ranked.question, np.searchsorted(rows, each.ranked.rows)
        found[where] = True
        scores[where] += each.shares
        attained[where] += each.weight * each.attained
    best = np.where(found, scores, -np.inf).argmax(axis=0)
    of_best = best, np.arange(len(rows))
    return best, scores[of_best], attained[of_best]


def _rows_of(lists: Sequence[RankedList]) -> Ints:
    """Return the rows of all lists, ascending, each once."""
    return np.unique(np.concatenate([np.zeros(0, np.int64), *(each.rows for each in lists)]))


def _up_to_one(ranked: RankedList, most: float) -> Scores:
    """Return the scores as shares of the most, none above 1; 0 where there is no most."""
    scores = ranked.scores.astype(np.float64)
    return np.minimum(1.0, scores / most) if most else np.zeros_like(scores)


def _total(lists: Sequence[RankedList], weights: Mapping[str, float]) -> float:
    """Sum the weights of the lists of each question; return the largest sum."""
    sums: dict[int, float] = defaultdict(float)
    for ranked in lists:
        sums[ranked.question] += weights.get(ranked.name, 0.0)
    return max(sums.values(), default=0.0)
