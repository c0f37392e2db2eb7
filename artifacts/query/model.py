"""The nouns of a search: candidates on their way through the stages, and the hits that come out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from pipeline.model import DocId, PassageId, SectionId, SnapshotId

Mode = Literal["hybrid", "keyword", "semantic", "code"]
ListName = Literal["keyword", "semantic", "code"]


@dataclass(frozen=True, slots=True)
class RankedList:
    """What one retriever found: passage rows with their scores, best first, ties by row."""

    name: ListName
    rows: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one list gave a candidate: its rank there (from 1), its score there, and the share it earned."""

    list: ListName
    rank: int
    score: float
    weight: float
    share: float


@dataclass(frozen=True, slots=True)
class Multiplier:
    """A factor that a stage put on a candidate."""

    stage: str
    factor: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage on its way through the stages; its score is what its explanation multiplies out to."""

    row: int
    contributions: tuple[Contribution, ...]
    multipliers: tuple[Multiplier, ...] = ()

    @property
    def score(self) -> float:
        """Sum of the shares in order, times each factor in order."""
        total = sum(contribution.share for contribution in self.contributions)
        for multiplier in self.multipliers:
            total *= multiplier.factor
        return total

    def times(self, stage: str, factor: float) -> Candidate:
        """The candidate with one more factor."""
        return replace(self, multipliers=(*self.multipliers, Multiplier(stage, factor)))


@dataclass(frozen=True, slots=True)
class Why:
    """Why a hit has its score: ``Σ share`` over the lists, times every multiplier, is the score exactly."""

    lists: tuple[Contribution, ...]
    multipliers: tuple[Multiplier, ...]

    def as_dict(self) -> dict[str, Any]:
        """The explanation as JSON prints it."""
        return {
            "lists": {
                c.list: {"rank": c.rank, "score": c.score, "weight": c.weight, "share": c.share}
                for c in self.lists
            },
            "multipliers": {m.stage: m.factor for m in self.multipliers},
        }


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that answers the query; ``highlights`` are character ranges of ``excerpt``."""

    passage_id: PassageId
    section_id: SectionId
    doc_id: DocId
    path: str
    title: str
    breadcrumb: str
    url: str
    excerpt: str
    highlights: tuple[tuple[int, int], ...]
    score: float
    why: Why

    def as_dict(self) -> dict[str, Any]:
        """The hit as JSON prints it."""
        return {
            "doc_id": self.doc_id,
            "path": self.path,
            "title": self.title,
            "breadcrumb": self.breadcrumb,
            "url": self.url,
            "score": self.score,
            "excerpt": self.excerpt,
            "highlights": [list(span) for span in self.highlights],
            "section_id": self.section_id,
            "passage_id": self.passage_id,
            "why": self.why.as_dict(),
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """The hits of a query, best first, with what went wrong on the way and where the time went (seconds)."""

    query: str
    snapshot: SnapshotId
    hits: Sequence[Hit]
    warnings: Sequence[str]
    timings: Mapping[str, float]

    def as_dict(self) -> dict[str, Any]:
        """The answer as JSON prints it."""
        return {
            "query": self.query,
            "snapshot": self.snapshot,
            "hits": [hit.as_dict() for hit in self.hits],
            "warnings": list(self.warnings),
            "timings": dict(self.timings),
        }
