"""What a query is answered with: the request, a searcher's resources, and the context that stages look at."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ...pipeline.model import SectionId
from ...pipeline.settings.collection import Address
from ...pipeline.settings.search import Search
from .index.corpus import CorpusReader, Narrow, Vectors
from .model import Candidate, Ints, ListName, Mode, Query, RankedList, SectionNode, Vector
from .ranking.calibrate import Curve
from .ranking.rerank import PairScorer
from .retrieval.filters import Filter
from .understanding.synonyms import Glossary

# Comparing everything with everything is what costs.
_MOST_COMPARED = 300
# Turns a question into keywords.
Reformulate = Callable[[str], str]
# Returns the list of that name for a query and a length, made by the function or kept from before.
Remember = Callable[[ListName, Query, int, Callable[[], RankedList]], RankedList]


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What was asked, as it was asked.

    ``today`` is the day that recency counts from (``None``: it does not count); ``where`` is an SQL predicate
    on documents; ``excerpt_chars`` is the length of excerpts (0: as the settings say).
    """

    text: str
    top_n: int = 10
    mode: Mode = "hybrid"
    filters: tuple[Filter, ...] = ()
    hypothesis: str = ""
    today: date | None = None
    where: str = ""
    excerpt_chars: int = 0

    def completed(self, stages: Collection[str], today: Callable[[], date]) -> SearchRequest:
        """Return the request as its answer is kept: each filter once, and a day only if recency counts."""
        day = (self.today or today()) if "recency" in stages else None
        return replace(self, today=day, filters=tuple(sorted(set(self.filters))))


@dataclass(frozen=True, slots=True)
class SearchResources:
    """What a searcher answers with.

    ``reformulate`` gives keywords for the keyword list; the vector stays that of the question. ``scorer`` is
    ``None`` without a cross-encoder.
    """

    corpus: CorpusReader
    settings: Search
    encode: Callable[[str], Vector]
    glossary: Glossary
    curve: Curve
    scorer: PairScorer | None
    threads: ThreadPoolExecutor
    reformulate: Reformulate | None = None
    remember: Remember | None = None


class Rows(Protocol):
    """Rows of a table by number."""

    def of(self, row: int) -> Mapping[str, Any]:
        """Return the row's values by column."""


class RankedCorpus(Protocol):
    """What ranking and hits read of the corpus that was searched: a snapshot, or the candidates alone."""

    @property
    def languages(self) -> tuple[str, ...]:
        """Return the languages of the documents."""

    @property
    def addresses(self) -> Mapping[str, Address]:
        """Return each collection's rules for addresses."""

    @property
    def rows(self) -> Rows:
        """Return passages by row."""

    @property
    def places(self) -> Ints | None:
        """Return the place of each passage in the order of ties, ``None`` where rows are these."""

    @property
    def document_of(self) -> Narrow:
        """Return the document row of every passage."""

    @property
    def content_of(self) -> Ints:
        """Return numbers for the contents of passages, equal where the content is."""

    @property
    def address_of(self) -> Ints:
        """Return numbers for the addresses of passages, equal where a reader goes to the same place."""

    @property
    def section_ids(self) -> pa.ChunkedArray:
        """Return the section of every passage."""

    @property
    def passages_of(self) -> Narrow:
        """Return how many passages every document has."""

    @property
    def links_in(self) -> Narrow:
        """Return how many documents link to each."""

    @property
    def community_of(self) -> Narrow:
        """Return the community of every document, -1 for none."""

    @property
    def modified(self) -> npt.NDArray[np.datetime64]:
        """Return the day every document was last changed, ``NaT`` where it is not known."""

    @property
    def centroids(self) -> Vectors:
        """Return the unit centroid of every document."""

    @property
    def sections(self) -> Mapping[SectionId, SectionNode]:
        """Return every section by its id."""

    @property
    def document_texts(self) -> Rows:
        """Return the texts of documents by document row."""

    def document(self, row: int) -> dict[str, Any]:
        """Return what a hit shows of the document in a row."""

    def vectors(self, passages: Sequence[int] | Ints) -> Vectors:
        """Return the unit vectors of passages, shape ``(len(passages), dimension)``."""


@dataclass(frozen=True, slots=True)
class QueryContext:
    """A request, how it was understood, and what ranks its candidates; fusion could give ``attainable``."""

    request: SearchRequest
    queries: tuple[Query, ...]
    settings: Search
    corpus: RankedCorpus
    attainable: float
    curve: Curve
    scorer: PairScorer | None = None

    @property
    def compared(self) -> int:
        """Return how many candidates are compared with each other: enough to fill the answer in the end."""
        return min(max(50, 3 * self.request.top_n), _MOST_COMPARED)

    @property
    def terms(self) -> tuple[str, ...]:
        """Return the terms of all questions, each once."""
        return tuple(dict.fromkeys(term for query in self.queries for term in query.terms))

    def text_of(self, candidate: Candidate) -> str:
        """Return the text of the candidate's passage."""
        return str(self.corpus.rows.of(candidate.row)["text"])

    def section_of(self, candidate: Candidate) -> SectionId:
        """Return the section that the candidate's passage is part of."""
        return SectionId(self.corpus.section_ids[candidate.row].as_py())
