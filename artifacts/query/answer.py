"""The answer to a query: its hits with their explanations, as values, JSON, Arrow, DuckDB and pandas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ...pipeline.errors import QueryError
from ...pipeline.model import DocId, PassageId, SectionId, SnapshotId
from .model import Contribution, Move, Multiplier, Query, Step

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

# From this confidence on a hit is more likely about the question than not.
SURE = 0.5


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

    def as_dict(self, *, explain: bool = True) -> dict[str, Any]:
        """Return the hit as JSON prints it; ``explain`` adds ``why``."""
        why = {"why": self.why.as_dict()} if explain else {}
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
            **why,
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """The hits of a query, best first; how it was understood; what went wrong; and what each stage did.

    ``missing`` are the shards of the corpus that did not answer; of them it has no hits.
    """

    query: str
    snapshot: SnapshotId
    hits: Sequence[Hit]
    warnings: Sequence[str] = ()
    understood: Sequence[Query] = ()
    steps: Sequence[Step] = ()
    weights: Mapping[str, float] = field(default_factory=dict)
    missing: Sequence[str] = ()

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

    def as_dict(self, *, explain: bool = True) -> dict[str, Any]:
        """Return the answer as JSON prints it; ``explain`` adds how it came about."""
        found = {
            "query": self.query,
            "snapshot": self.snapshot,
            "sure": self.is_sure,
            "suggestions": list(self.suggestions),
            "hits": [hit.as_dict(explain=explain) for hit in self.hits],
            "warnings": list(self.warnings),
        }
        if self.missing:
            found["missing"] = list(self.missing)
        return found | self._explanation() if explain else found

    def _explanation(self) -> dict[str, Any]:
        return {
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
