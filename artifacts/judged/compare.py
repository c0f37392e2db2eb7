"""Comparison of two evaluations of the same judged queries: is one better, and which queries changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from .evaluate import Evaluation, QueryScore
from .measures import HEADLINE
from .significance import Comparison, compare, holm

SHOWN = 10


@dataclass(frozen=True, slots=True)
class QueryChange:
    """A query whose value changed; ranks are those of the first relevant document, 0 if none was found."""

    query_id: str
    text: str
    before: float
    after: float
    rank_before: int
    rank_after: int

    @property
    def difference(self) -> float:
        """Return after minus before."""
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class Compared:
    """A set's evaluation against a baseline by one measure, nDCG@10 unless another was requested.

    ``p_holm`` is corrected by Holm's method for the sets that were compared together; ``fell`` and ``rose``
    hold the queries that changed most, at most ten each.
    """

    judged: str
    baseline: str
    result: Comparison
    p: float
    fell: tuple[QueryChange, ...]
    rose: tuple[QueryChange, ...]

    def as_dict(self) -> dict[str, object]:
        """Return the comparison as JSON prints it; ``p`` is uncorrected, ``p_holm`` corrected."""
        figures = {key: round(value, 6) for key, value in asdict(self.result).items()}
        return {
            "judged": self.judged,
            "against": self.baseline,
            "measure": HEADLINE,
            **figures,
            "p_holm": round(self.p, 6),
            "fell": [asdict(change) for change in self.fell],
            "rose": [asdict(change) for change in self.rose],
        }


@dataclass(frozen=True, slots=True)
class Pair:
    """An evaluation, its baseline, and a label for the pair."""

    baseline: str
    before: Evaluation
    after: Evaluation


def compared(pairs: Sequence[Pair], measure: str = HEADLINE, shown: int = SHOWN) -> tuple[Compared, ...]:
    """Compare each pair by a measure, in order; both sides of a pair must have scored the same queries."""
    several = [_compared(pair, measure, shown) for pair in pairs]
    corrected = holm([each.result.p for each in several])
    return tuple(replace(each, p=p) for each, p in zip(several, corrected, strict=True))


def _compared(pair: Pair, measure: str, shown: int) -> Compared:
    scores = zip(pair.before.scores, pair.after.scores, strict=True)
    changes = [_change(before, after, measure) for before, after in scores]
    result = compare([change.before for change in changes], [change.after for change in changes])
    falling = sorted(changes, key=lambda change: (change.difference, change.query_id))[:shown]
    rising = sorted(changes, key=lambda change: (-change.difference, change.query_id))[:shown]
    fell = tuple(change for change in falling if change.difference < 0)
    rose = tuple(change for change in rising if change.difference > 0)
    return Compared(pair.after.judged, pair.baseline, result, result.p, fell, rose)


def _change(before: QueryScore, after: QueryScore, measure: str) -> QueryChange:
    if before.query_id != after.query_id:
        raise ValueError(f"{before.query_id} is not {after.query_id}: the evaluations have other queries")
    values = before.values[measure], after.values[measure]
    return QueryChange(after.query_id, after.text, *values, before.rank, after.rank)
