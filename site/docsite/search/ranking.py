"""The numbers of the ranking, as the site's readers get them: the same as those of a search in Python."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.search_settings import Search


@dataclass(frozen=True, slots=True)
class Ranking:
    """Shares of the parts of a score, and how many candidates each list gives.

    ``score(p) = (keyword · words + passage · cos(q, p) + document · cos(q, d)) / their sum``, times
    ``1 + support · second / best`` and ``1 + links · ln(1 + links in)``.
    """

    keyword: float
    passage: float
    document: float
    support: float
    links: float
    candidates: int

    @property
    def meaning(self) -> float:
        """What the two cosines count together."""
        return self.passage + self.document


def ranking_of(search: Search) -> Ranking:
    """The numbers of a search by scores; what a browser cannot do (other lists, other stages) is left out."""
    return Ranking(
        keyword=search.weights["keyword"],
        passage=search.weights["semantic"],
        document=search.weights["document"],
        support=search.support.share if "support" in search.stages else 0.0,
        links=search.in_degree.share if "in_degree" in search.stages else 0.0,
        candidates=search.candidates,
    )
