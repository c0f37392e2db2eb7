"""Does what was found hold for other queries? Settings found on some of the queries are tried on the others.

k-fold cross-validation over the queries: each fold is answered with the settings that the other folds chose,
so no query is answered with settings that it helped to choose. The answers are compared with today's, query
by query.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from ....artifacts.judged.significance import Comparison, compare, holm
from ....docsite.charts.answers import Difference
from .descent import AxisOfToday, Effort, search
from .space import Change, Point
from .trials import Floats, Trials, TuningSet

SIGNIFICANT = 0.05
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class HeldOutSet:
    """A judged set: what the chosen settings reach on it, and what settings chosen without a query reach.

    ``differences`` are held out minus today, query by query.
    """

    judged: str
    chosen: float
    held_out: Comparison
    p: float
    differences: tuple[Difference, ...] = ()

    def as_dict(self) -> dict[str, object]:
        """Return the set as JSON prints it, ``p`` with Holm's correction."""
        chosen, p = round(self.chosen, 6), round(self.p, 6)
        return {"judged": self.judged, "chosen": chosen, **rounded(self.held_out), "p_holm": p}


@dataclass(frozen=True, slots=True)
class TuningResult:
    """The settings that a tuning chose, and whether they are better than today's.

    ``overall`` compares the held-out answers with today's over all sets, each set counting the same.
    ``votes`` says how many of the ``folds`` chose each change; ``tried`` how many different settings were
    searched with. ``worth`` is what each change adds to the others: what is lost
    where it alone is taken back.
    """

    point: Point
    chosen: float
    overall: Comparison
    sets: tuple[HeldOutSet, ...]
    folds: int
    votes: tuple[tuple[Change, int], ...]
    tried: int
    warnings: tuple[str, ...] = ()
    worth: tuple[tuple[Change, float], ...] = ()

    @property
    def better(self) -> bool:
        """Return whether there is a change and held-out answers are better by more than chance explains."""
        gain, p = self.overall.difference, self.overall.p
        return bool(self.point.changes) and gain > 0 and p < SIGNIFICANT

    def as_dict(self) -> dict[str, object]:
        """Return the outcome as JSON prints it."""
        return {
            "changes": {change.key: change.value for change in self.point.changes},
            "better": self.better,
            "chosen": round(self.chosen, 6),
            "held_out": rounded(self.overall),
            "sets": [each.as_dict() for each in self.sets],
            "folds": self.folds,
            "votes": [asdict(change) | {"folds": count} for change, count in self.votes],
            "tried": self.tried,
            "warnings": list(self.warnings),
        }


def rounded(comparison: Comparison) -> dict[str, float]:
    """Return a comparison's figures as JSON prints them."""
    return {key: round(value, 6) for key, value in asdict(comparison).items()}


def tune(trials: Trials, axes: Sequence[AxisOfToday], folds: int, effort: Effort) -> TuningResult:
    """Find the best settings on all queries, and what settings found so are worth on queries kept apart."""
    parts = [fold_of(len(each.queries), folds, effort.seed) for each in trials.tuning_sets]
    today = trials.scores(Point())
    held = [scores.copy() for scores in today]
    votes: Counter[Change] = Counter()
    for fold in range(folds):
        point = search(axes, lambda p, fold=fold: _worth(trials.scores(p), parts, fold), effort)  # type: ignore[misc]
        votes.update(point.changes)
        for own, scores, part in zip(held, trials.scores(point), parts, strict=True):
            own[part == fold] = scores[part == fold]
    point = search(axes, lambda p: _worth(trials.scores(p), parts, -1), effort)
    return _found(trials, point, held, folds, votes)


def fold_of(queries: int, folds: int, seed: int) -> Ints:
    """Return the fold of each query, drawn by the seed; folds are as equal in size as can be."""
    order = np.random.default_rng(seed).permutation(queries)
    return (np.argsort(order) % folds).astype(np.int64)


def _worth(scores: Sequence[Floats], parts: Sequence[Ints], without: int) -> float:
    """Return the mean over the sets of the mean over their queries, but for those of one fold."""
    means = [own[part != without].mean() for own, part in zip(scores, parts, strict=True)]
    return float(np.mean(means))


def _found(
    trials: Trials, point: Point, held: Sequence[Floats], folds: int, votes: Counter[Change]
) -> TuningResult:
    today, chosen = trials.scores(Point()), trials.scores(point)
    comparisons = [compare(before, after) for before, after in zip(today, held, strict=True)]  # type: ignore[arg-type]
    names = [each.judged.name for each in trials.tuning_sets]
    corrected, tried = holm([each.p for each in comparisons]), trials.spent
    differences = [
        tuple(map(Difference, _texts(each), (after - before).tolist()))
        for each, before, after in zip(trials.tuning_sets, today, held, strict=True)
    ]
    return TuningResult(
        point=point,
        chosen=_mean(chosen),
        overall=compare(_level(today), _level(held)),  # type: ignore[arg-type]
        sets=tuple(
            HeldOutSet(name, float(own.mean()), comparison, p, of_queries)
            for name, own, comparison, p, of_queries in zip(
                names, chosen, comparisons, corrected, differences, strict=True
            )
        ),
        folds=folds,
        votes=tuple(sorted(votes.items(), key=lambda each: (-each[1], each[0].key, str(each[0].value)))),
        tried=tried,
        warnings=tuple(trials.warnings),
        worth=tuple(
            (change, _mean(chosen) - _mean(trials.scores(point.without(change.key))))
            for change in point.changes
        ),
    )


def _texts(tuning_set: TuningSet) -> list[str]:
    return [tuning_set.judged.queries[query] for query in tuning_set.queries]


def _mean(scores: Sequence[Floats]) -> float:
    return float(np.mean([own.mean() for own in scores]))


def _level(scores: Sequence[Floats]) -> Floats:
    """Return the scores of all queries in a row, weighted so that their mean is the mean over the sets."""
    total = sum(len(own) for own in scores)
    return np.concatenate([own * (total / (len(scores) * len(own))) for own in scores])
