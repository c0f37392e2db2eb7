"""The numbers of the ranking, as the site's readers get them: the same as those of a search in Python."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ...pipeline.settings.search import Search


@dataclass(frozen=True, slots=True)
class Boost:
    """A factor on documents that were found: on those in the communities of the ``seeds`` best ones, or on those that were
    changed within so many days, by ``tiers`` of days and factors."""

    kind: Literal["community", "recency"]
    seeds: int = 0
    factor: float = 1.0
    tiers: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Ranking:
    """Shares of the parts of a score, and how many candidates each list gives.

    ``score(p) = (keyword · words + passage · cos(q, p) + document · cos(q, d)) / their sum``, times
    ``1 + support · second / best`` and ``1 + links · ln(1 + links in)``, and the boosts, one after the other. With ``rrf_k``
    the first is ``keyword / (k + rank) + passage / (k + rank) + document / (k + rank)``.
    """

    keyword: float
    passage: float
    document: float
    support: float
    links: float
    candidates: int
    rrf_k: int | None = None
    boosts: tuple[Boost, ...] = ()

    @property
    def meaning(self) -> float:
        """What the two cosines count together."""
        return self.passage + self.document


def ranking_of(search: Search) -> Ranking:
    """The numbers of a search; what a browser cannot do (other lists, other stages) is left out."""
    return Ranking(
        keyword=search.weights["keyword"],
        passage=search.weights["semantic"],
        document=search.weights["document"],
        support=search.support.share if "support" in search.stages else 0.0,
        links=search.in_degree.share if "in_degree" in search.stages else 0.0,
        candidates=search.candidates,
        rrf_k=search.rrf_k if search.fusion == "rrf" else None,
        boosts=tuple(_boost(stage, search) for stage in search.stages if stage in ("community", "recency")),
    )


def _boost(stage: str, search: Search) -> Boost:
    if stage == "community":
        return Boost("community", seeds=search.community.seeds, factor=search.community.factor)
    given = zip(search.recency.days, search.recency.factors, strict=True)
    tiers = tuple((days, 1 + search.recency_bias * (factor - 1)) for days, factor in given)
    return Boost("recency", tiers=tiers)
