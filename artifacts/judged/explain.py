"""Explanation of a document's rank for a query: its lists, factors, words and their fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from ...pipeline.model import DocId, PassageId
from ...pipeline.settings.settings import FIELDS
from ..query import Mode, Searcher
from ..query.context import SearchRequest
from ..query.index.corpus import CorpusReader
from ..query.model import Query
from ..query.pipeline import Ranked
from .evaluate import rank_documents


@dataclass(frozen=True, slots=True)
class ListShare:
    """What a list contributed to the document's best passage."""

    list: str
    rank: int
    share: float


@dataclass(frozen=True, slots=True)
class TermShare:
    """What a query word contributes to the passage's BM25F score, and the fields it occurs in."""

    term: str
    score: float
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Explained:
    """A document in the answer to a query, by its best passage; ``rank`` is 0 if it was no candidate.

    In that case ``lists`` and ``factors`` are empty, and ``terms`` are those of the passage with most query
    words.
    """

    doc_id: DocId
    rank: int
    score: float = 0.0
    passage_id: PassageId | None = None
    lists: tuple[ListShare, ...] = ()
    factors: Mapping[str, float] = field(default_factory=dict)
    terms: tuple[TermShare, ...] = ()


def explained(searcher: Searcher, text: str, doc_id: DocId, mode: Mode, depth: int) -> Explained:
    """Explain the document's rank among those of the ``depth`` best passages; 0 if it has none."""
    corpus = searcher.corpus
    document = corpus.document_row(doc_id)
    if document is None:
        return Explained(doc_id, 0)
    ranked = searcher.rank(SearchRequest(text, depth, mode))
    best = next((each for each in ranked.run.candidates if corpus.document_of[each.row] == document), None)
    if best is None:
        return _not_found(doc_id, document, ranked, corpus)
    found = (corpus.doc_id(int(corpus.document_of[each.row])) for each in ranked.run.candidates)
    standing = list(dict.fromkeys([*rank_documents(searcher, text, mode, depth).documents, *found]))
    return Explained(
        doc_id=doc_id,
        rank=standing.index(doc_id) + 1,
        score=best.score,
        passage_id=PassageId(corpus.rows.of(best.row)["passage_id"]),
        lists=tuple(ListShare(each.list, each.rank, each.share) for each in best.contributions),
        factors={each.stage: each.factor for each in best.multipliers},
        terms=_terms(best.row, ranked.queries, corpus),
    )


def _not_found(doc_id: DocId, document: int, ranked: Ranked, corpus: CorpusReader) -> Explained:
    first, end = int(corpus.first_passage[document]), int(corpus.first_passage[document + 1])
    if first == end:
        return Explained(doc_id, 0)
    words = {row: _terms(row, ranked.queries, corpus) for row in range(first, end)}
    row = max(words, key=lambda row: (sum(term.score for term in words[row]), -row))
    return Explained(doc_id, 0, passage_id=PassageId(corpus.rows.of(row)["passage_id"]), terms=words[row])


def _terms(row: int, queries: Iterable[Query], corpus: CorpusReader) -> tuple[TermShare, ...]:
    """Return the query words in the passage, largest contribution first."""
    asked: dict[str, float] = {}
    for query in queries:
        asked = {**query.weighted_terms, **asked, **dict.fromkeys(query.terms, 1.0)}
    found = [share for term, weight in asked.items() if (share := _term(term, weight, row, corpus))]
    return tuple(sorted(found, key=lambda share: (-share.score, share.term)))


def _term(term: str, weight: float, row: int, corpus: CorpusReader) -> TermShare | None:
    posting = corpus.prose.of(term)
    at = 0 if posting is None else int(np.searchsorted(posting.passages, row))
    if posting is None or at == len(posting.passages) or posting.passages[at] != row:
        return None
    bits = int(posting.fields[at])
    fields = tuple(name for number, name in enumerate(FIELDS) if bits >> number & 1)
    return TermShare(term, weight * float(posting.scores[at]), fields)
