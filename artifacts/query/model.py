"""The values of a search: the query as understood, ranked lists, candidates, hits and the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from ...pipeline.errors import QueryError
from ...pipeline.model import DocId, PassageId, SectionId, SnapshotId

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

Mode = Literal["hybrid", "keyword", "semantic", "code"]
ListName = Literal["keyword", "semantic", "document", "code", "graph", "hypothesis"]
QueryKind = Literal["factual", "navigational", "exploratory"]
Mask = npt.NDArray[np.bool_]  # one truth value for each passage, or for each document
Ints = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]
Vector = npt.NDArray[np.float32]
ScoreOf = Callable[[Ints], Scores]
# From this confidence on a hit is more likely about the question than not.
SURE = 0.5


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

    def noting(self, note: str) -> Query:
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


@dataclass(frozen=True, slots=True)
class Contribution:
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


@dataclass(frozen=True, slots=True)
class Multiplier:
    """A factor that a stage put on a candidate, and for what."""

    stage: str
    factor: float
    because: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage on its way through the stages; its score is what its explanation multiplies out to.

    ``section`` is set where the hit is a whole section: ``members`` are the passages found in it.
    """

    row: int
    contributions: tuple[Contribution, ...]
    multipliers: tuple[Multiplier, ...] = ()
    confidence: float | None = None
    section: SectionId | None = None
    members: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
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
            self.row, self.contributions, more, self.confidence, self.section, self.members, self.notes
        )

    def noting(self, note: str) -> Candidate:
        """Return the candidate with one more note."""
        return replace(self, notes=(*self.notes, note))


@dataclass(frozen=True, slots=True)
class Move:
    """What a stage did to a hit's rank (from 1)."""

    stage: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Why:
    """Why a hit has its score: ``Σ share`` over the lists, times every multiplier, is the score exactly."""

    lists: tuple[Contribution, ...]
    multipliers: tuple[Multiplier, ...]
    moves: tuple[Move, ...] = ()
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the explanation as JSON prints it."""
        return {
            "lists": {
                c.list if c.question == 0 else f"{c.list}#{c.question + 1}": {
                    "rank": c.rank or None,
                    "score": c.score,
                    "weight": c.weight,
                    "share": c.share,
                }
                for c in self.lists
            },
            "multipliers": {m.stage: m.factor for m in self.multipliers},
            "because": {m.stage: m.because for m in self.multipliers if m.because},
            "moves": [asdict(move) for move in self.moves],
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage (or a section, with the passages found in it) that answers the query.

    ``highlights`` are character ranges of ``excerpt``; ``excerpt_start`` is where the excerpt begins in the
    passage's text. ``text`` is the section around the passage where it was asked for, else empty.
    """

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
    confidence: float | None
    why: Why
    excerpt_start: int = 0
    text: str = ""
    passages: tuple[PassageId, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the hit as JSON prints it."""
        return {
            "doc_id": self.doc_id,
            "path": self.path,
            "title": self.title,
            "breadcrumb": self.breadcrumb,
            "url": self.url,
            "score": self.score,
            "confidence": self.confidence,
            "excerpt": self.excerpt,
            "excerpt_start": self.excerpt_start,
            "highlights": [list(span) for span in self.highlights],
            "section_id": self.section_id,
            "passage_id": self.passage_id,
            "passages": list(self.passages),
            "text": self.text,
            "why": self.why.as_dict(),
        }


@dataclass(frozen=True, slots=True)
class Step:
    """One stage of an answer: how many passages came out of it, and the seconds it took."""

    stage: str
    count: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Answer:
    """The hits of a query, best first; how it was understood; what went wrong; and what each stage did."""

    query: str
    snapshot: SnapshotId
    hits: Sequence[Hit]
    warnings: Sequence[str] = ()
    understood: Sequence[Query] = ()
    steps: Sequence[Step] = ()
    weights: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_sure(self) -> bool:
        """Return whether the best hit is likely about what was asked, or nothing says that it is not."""
        return not self.hits or self.hits[0].confidence is None or self.hits[0].confidence >= SURE

    @property
    def suggestions(self) -> tuple[str, ...]:
        """Return the questions that may have been meant where words are misspelt."""
        return tuple(query.suggestion for query in self.understood if query.suggestion)

    @property
    def timings(self) -> dict[str, float]:
        """Return seconds by stage."""
        return {step.stage: step.seconds for step in self.steps}

    def arrow(self) -> pa.Table:
        """Return the hits as an Arrow table, one row each, best first."""
        from .hits import hits_table

        return hits_table(self.hits)

    def relation(self, connection: duckdb.DuckDBPyConnection | None = None) -> duckdb.DuckDBPyRelation:
        """Return the hits as a DuckDB relation, on the connection given or on DuckDB's default one."""
        import duckdb

        return (connection or duckdb).from_arrow(self.arrow())

    def df(self) -> Any:
        """Return the hits as a pandas frame; raise ``QueryError`` if pandas is not installed."""
        if find_spec("pandas") is None:
            hint = "Install pandas, or take Answer.arrow(), which needs nothing more."
            raise QueryError("pandas is not installed", where="Answer.df", hint=hint)
        return self.arrow().to_pandas()

    def as_dict(self) -> dict[str, Any]:
        """Return the answer as JSON prints it."""
        return {
            "query": self.query,
            "snapshot": self.snapshot,
            "sure": self.is_sure,
            "suggestions": list(self.suggestions),
            "hits": [hit.as_dict() for hit in self.hits],
            "warnings": list(self.warnings),
            "understood": [
                {
                    "text": query.text,
                    "kind": query.kind,
                    "terms": list(query.terms),
                    "expansions": [
                        {"text": e.text, "weight": e.weight, "because": e.because} for e in query.expansions
                    ],
                    "notes": list(query.notes),
                }
                for query in self.understood
            ],
            "weights": dict(self.weights),
            "counts": {step.stage: step.count for step in self.steps},
            "timings": self.timings,
        }
