"""The retrievers: each turns a query into one ranked list of passages, ties broken by row.

Passage rows are in order of ``(doc_id, ordinal)``, so the row is the last part of the total order
``(-score, doc_id, position)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from artifacts.query.model import ListName, RankedList
from artifacts.query.postings import Postings
from pipeline.text import code_analyzer, query_terms, terms

if TYPE_CHECKING:
    import faiss

Rows = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]
# Several passages may share a vector, and equal scores may straddle the cut.
_OVERSAMPLE = 5


class Retriever(Protocol):
    """One way to find passages."""

    @property
    def name(self) -> ListName:
        """The list's name in settings and explanations."""

    def retrieve(self, query: str, limit: int) -> RankedList:
        """At most ``limit`` passages with a positive score, best first."""


class QueryEncoder(Protocol):
    """What the semantic retriever needs of an encoder."""

    def encode_query(self, text: str) -> npt.NDArray[np.float32]:
        """The unit float32 vector of a query, shape ``(dimension,)``."""


class KeywordRetriever:
    """BM25F over the fields of a passage and its document."""

    name: ListName = "keyword"

    def __init__(self, postings: Postings, languages: Sequence[str], passages: int) -> None:
        self._postings, self._languages, self._passages = postings, tuple(languages), passages

    def retrieve(self, query: str, limit: int) -> RankedList:
        """Passages with the highest sum of posting scores."""
        scores = add_up(self._postings, query_terms(query, self._languages), self._passages)
        return RankedList(self.name, *best(np.flatnonzero(scores), scores[scores > 0], limit))


class CodeRetriever:
    """BM25 over identifiers, whole and split, in code blocks and inline code."""

    name: ListName = "code"

    def __init__(self, postings: Postings, passages: int) -> None:
        self._postings, self._passages = postings, passages

    def retrieve(self, query: str, limit: int) -> RankedList:
        """Passages with the highest sum of posting scores; an identifier or its parts may match."""
        wanted = list(dict.fromkeys(terms(code_analyzer(), query)))
        scores = add_up(self._postings, wanted, self._passages)
        return RankedList(self.name, *best(np.flatnonzero(scores), scores[scores > 0], limit))


class SemanticRetriever:
    """Cosine between the query's vector and the passages' vectors."""

    name: ListName = "semantic"

    def __init__(self, index: faiss.Index, vector_row: Rows, encoder: QueryEncoder) -> None:
        self._index, self._encoder = index, encoder
        self._order = np.argsort(vector_row, kind="stable")
        self._starts = np.searchsorted(vector_row[self._order], np.arange(index.ntotal + 1))

    def encode(self, query: str) -> npt.NDArray[np.float32]:
        """The query's unit vector, shape ``(dimension,)``."""
        return self._encoder.encode_query(query)

    def retrieve(self, query: str, limit: int) -> RankedList:
        """Passages with the highest positive cosine."""
        return self.nearest(self.encode(query), limit)

    def nearest(self, vector: npt.NDArray[np.float32], limit: int) -> RankedList:
        """The same for a vector that is already there."""
        wanted = min(self._index.ntotal, limit * _OVERSAMPLE)
        if wanted == 0:
            return RankedList(self.name, np.zeros(0, np.int64), np.zeros(0))
        similarity, found = self._index.search(vector[None, :], wanted)
        keep = (found[0] >= 0) & (similarity[0] > 0)
        rows, scores = self._passages_of(found[0][keep], similarity[0][keep].astype(np.float64))
        return RankedList(self.name, *best(rows, scores, limit))

    def _passages_of(self, vectors: Rows, scores: Scores) -> tuple[Rows, Scores]:
        sizes = self._starts[vectors + 1] - self._starts[vectors]
        rows = [self._order[self._starts[v] : self._starts[v + 1]] for v in vectors]
        return (np.concatenate(rows) if rows else vectors), np.repeat(scores, sizes)


def add_up(postings: Postings, wanted: Sequence[str], passages: int) -> Scores:
    """Each passage's sum of posting scores over the terms, shape ``(passages,)``."""
    found = [posting for term in wanted if (posting := postings.of(term)) is not None]
    if not found:
        return np.zeros(passages)
    rows = np.concatenate([posting.passages for posting in found])
    scores = np.concatenate([posting.scores for posting in found])
    return np.bincount(rows, weights=scores, minlength=passages).astype(np.float64)


def best(rows: Rows, scores: Scores, limit: int) -> tuple[Rows, Scores]:
    """The ``limit`` highest scores in the order ``(-score, row)``."""
    if len(scores) > limit:
        cut = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        rows, scores = rows[scores >= cut], scores[scores >= cut]
    order = np.lexsort((rows, -scores))[:limit]
    return rows[order].astype(np.int64), scores[order]
