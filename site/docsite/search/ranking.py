"""The numbers of the ranking, as the site's readers get them: the same as those of a search in Python."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ranking:
    """Shares of the parts of a score, and how many candidates each list gives.

    ``score(p) = (keyword · words + passage · cos(q, p) + document · cos(q, d)) / their sum``, times
    ``1 + support · second / best`` and ``1 + links · ln(1 + links in)``.
    """

    keyword: float = 1.0
    passage: float = 0.3
    document: float = 0.7
    support: float = 0.2
    links: float = 0.05
    candidates: int = 100

    @property
    def meaning(self) -> float:
        """What the two cosines count together."""
        return self.passage + self.document
