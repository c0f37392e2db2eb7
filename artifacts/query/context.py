"""One query on its way through the stages: all that a stage may look at besides the candidates."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from ...pipeline.model import SectionId
from ...pipeline.settings.search import Search
from .index.corpus import Corpus
from .model import Candidate, Mode, Query
from .ranking.calibrate import Curve
from .ranking.rerank import PairScorer
from .retrieval.filters import Filter

# Comparing everything with everything is what costs.
_MOST_COMPARED = 300


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked, as it was asked; ``today`` is the day that recency counts from (``None``: it does not count)."""

    text: str
    top_n: int = 10
    mode: Mode = "hybrid"
    filters: tuple[Filter, ...] = ()
    hypothesis: str = ""
    today: date | None = None


@dataclass(frozen=True, slots=True)
class Asking:
    """A request, how it was understood, and what there is to answer it with.

    ``attainable`` is the most that fusion could give a passage. ``scorer`` is ``None`` where no cross-encoder is.
    """

    request: Request
    queries: tuple[Query, ...]
    settings: Search
    corpus: Corpus
    attainable: float
    curve: Curve
    scorer: PairScorer | None = None

    @property
    def pool(self) -> int:
        """How many candidates are compared with each other: enough to fill the answer after all that is left out."""
        return min(max(50, 3 * self.request.top_n), _MOST_COMPARED)

    @property
    def terms(self) -> tuple[str, ...]:
        """The terms of all questions, each once."""
        return tuple(dict.fromkeys(term for query in self.queries for term in query.terms))

    def text_of(self, candidate: Candidate) -> str:
        """The candidate's passage."""
        return str(self.corpus.rows.of(candidate.row)["text"])

    def section_of(self, candidate: Candidate) -> SectionId:
        """The section that the candidate's passage is part of."""
        return SectionId(self.corpus.column("passages", "section_id")[candidate.row].as_py())
