"""The values of a search on its way: the query as understood, ranked lists and candidates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ...pipeline.model import SectionId

Mode = Literal["hybrid", "keyword", "semantic", "code"]
ListName = Literal["keyword", "semantic", "document", "code", "graph", "hypothesis"]
QueryKind = Literal["factual", "navigational", "exploratory"]
Mask = npt.NDArray[np.bool_]  # one truth value for each passage, or for each document
Ints = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]
Vector = npt.NDArray[np.float32]
ScoreOf = Callable[[Ints], Scores]


class TextEncoder(Protocol):
    """Turns a query into a vector."""

    def encode_query(self, text: str) -> Vector:
        """Return the unit float32 vector of a query, shape ``(dimension,)``."""


@dataclass(frozen=True, slots=True)
class Expansion:
    """What is looked for besides the query's own words, and why; ``text`` is as a person writes it."""

    text: str
    terms: tuple[str, ...]
    weight: float
    because: str


@dataclass(frozen=True, slots=True)
class Query:
    """One question as understood.

    ``terms`` and ``code_terms`` are what the indexes are asked for; ``unknown`` are the words that no passage
    holds, nor their like. ``expansions`` add terms at a weight; ``nearby`` are texts whose vectors join the
    query's, each with its weight. ``suggestion`` is the text with misspelt words corrected, if that was not
    done anyway. ``notes`` say what was done.
    """

    text: str
    terms: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    code_terms: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    kind: QueryKind | None = None
    expansions: tuple[Expansion, ...] = ()
    nearby: tuple[tuple[str, float], ...] = ()
    suggestion: str = ""
    notes: tuple[str, ...] = ()

    @property
    def weighted_terms(self) -> dict[str, float]:
        """Return the weight of every term: 1 for the question's own, then what the first expansion says."""
        weights = dict.fromkeys(self.terms, 1.0)
        for expansion in self.expansions:
            for term in expansion.terms:
                weights.setdefault(term, expansion.weight)
        return weights

    def with_note(self, note: str) -> Query:
        """Return the query with one more note."""
        return replace(self, notes=(*self.notes, note))


@dataclass(frozen=True, slots=True)
class RankedList:
    """What one retriever found: passage rows with their scores, best first, ties by row.

    ``most`` is the most that a score can be, and ``scale`` what convex fusion divides scores by. ``question``
    counts from 0 where a query held several. ``score_of`` gives the score of any passage rows, found or not;
    ``None`` where only what was found has one. The last ``unranked`` rows were not found, but have a score.
    """

    name: ListName
    rows: Ints
    scores: Scores
    most: float = 1.0
    scale: float = 1.0
    question: int = 0
    score_of: ScoreOf | None = field(default=None, compare=False, repr=False)
    unranked: int = 0


def list_label(name: ListName, question: int) -> str:
    """Return the name of a list in steps and warnings: ``semantic``, ``semantic#2`` for the next question."""
    return name if question == 0 else f"{name}#{question + 1}"


# Hundreds are made a query: a named tuple takes a third of a data class's time.
class Contribution(NamedTuple):
    """A candidate's rank in a list (from 1; 0: scored, not found), its score there, the share it earned.

    ``attained`` is the score as a share of the most that the list could give.
    """

    list: ListName
    rank: int
    score: float
    weight: float
    share: float
    question: int = 0
    attained: float = 0.0


class Multiplier(NamedTuple):
    """A factor that a stage put on a candidate, and for what."""

    stage: str
    factor: float
    because: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage on its way through the stages; its score is what its explanation multiplies out to.

    ``section`` is set where the hit is a whole section: ``members`` are the passages found in it. Ties go by
    ``place``, where rows are not in that order, and by row.
    """

    row: int
    contributions: tuple[Contribution, ...]
    multipliers: tuple[Multiplier, ...] = ()
    confidence: float | None = None
    section: SectionId | None = None
    members: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    place: int = 0
    score: float = field(init=False)

    def __post_init__(self) -> None:
        """Compute the sum of the shares times every factor once, as every stage asks for it."""
        total = 0.0
        for contribution in self.contributions:
            total += contribution.share
        for multiplier in self.multipliers:
            total *= multiplier.factor
        object.__setattr__(self, "score", total)

    @property
    def attained(self) -> float:
        """Return the mean of what it attained in the lists, by their weights (which sum up to 1)."""
        return sum(each.weight * each.attained for each in self.contributions)

    def times(self, stage: str, factor: float, because: str = "") -> Candidate:
        """Return the candidate with one more factor."""
        more = (*self.multipliers, Multiplier(stage, factor, because))
        # Two hundred of these a query: ``replace`` takes twice as long.
        return Candidate(
            self.row, self.contributions, more, self.confidence, self.section, self.members, self.notes,
            self.place,
        )  # fmt: skip

    def with_confidence(self, confidence: float) -> Candidate:
        """Return the candidate with a confidence."""
        return Candidate(
            self.row, self.contributions, self.multipliers, confidence, self.section, self.members,
            self.notes, self.place,
        )  # fmt: skip

    def with_note(self, note: str) -> Candidate:
        """Return the candidate with one more note."""
        return replace(self, notes=(*self.notes, note))


@dataclass(frozen=True, slots=True)
class Move:
    """What a stage did to a hit's rank (from 1)."""

    stage: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Step:
    """One stage of an answer: how many passages came out of it, and the seconds it took."""

    stage: str
    count: int
    seconds: float


@dataclass(frozen=True, slots=True)
class SectionNode:
    """A section's place in the heading tree; the fields are columns of ``sections``."""

    section_id: SectionId
    parent_id: SectionId | None
    depth: int
    sibling_count: int
    title: str
    breadcrumb: str
    byte_start: int
    byte_end: int


@dataclass(frozen=True, slots=True)
class Owners:
    """The passages of each vector row: those of row ``v`` are ``passages[starts[v] : starts[v + 1]]``."""

    passages: Ints
    starts: Ints
