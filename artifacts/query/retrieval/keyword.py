"""Keyword retrieval: BM25F over the fields of a passage and its document, BM25 over identifiers in code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ....pipeline.lexical.analyzer import fold, without_accents
from ....pipeline.lexical.bm25f import credibility
from ..index.corpus import CorpusReader
from ..index.postings import InvertedIndex, PostingList, WeightedPostings, add_up, best
from ..index.vocabulary import auto_edits
from ..model import ListName, Mask, Query, RankedList

_MAX_BY_PREFIX = 64
# As in Lucene: the further a word is from the one asked for, the less it counts.
_FUZZY_DISCOUNT = 0.3


def keyword_list(
    query: Query, corpus: CorpusReader, limit: int, allowed: Mask | None = None, *, fuzzy: bool = False
) -> RankedList:
    """List the passages with the highest BM25F score for the query's terms and expansions.

    Of words that no passage holds the list says nothing, so the best passage is worth only the share that the
    others have of what was asked: one weak match must not outweigh the meaning of the whole question. In a
    small collection it is worth less, too.
    """
    found = postings_of(query, corpus, fuzzy=fuzzy)
    unknown, known = len(query.unknown), _most(found)
    most = known + unknown * corpus.prose.highest_score
    ranked = _ranked("keyword", found, corpus, limit, allowed, most)
    asked = known + unknown * corpus.prose.unknown_score
    if known <= 0:
        return ranked
    return replace(ranked, scale=ranked.scale * asked / known / credibility(corpus.all_documents))


def code_list(query: Query, corpus: CorpusReader, limit: int, allowed: Mask | None = None) -> RankedList:
    """List the passages with the highest BM25 score for identifiers, whole or in parts, in their code."""
    found = [(posting, 1.0) for term in query.code_terms if (posting := corpus.code.of(term)) is not None]
    return _ranked("code", found, corpus, limit, allowed, _most(found))


def postings_of(query: Query, corpus: CorpusReader, *, fuzzy: bool = False) -> list[WeightedPostings]:
    """Return the postings of the query's terms, expansions, prefixes and near words, each with its weight."""
    asked, prose = query.weighted_terms, corpus.prose
    for term in query.terms if fuzzy else ():
        for near in corpus.index_words.near(term, auto_edits(term)):
            asked.setdefault(near.word, 1 - _FUZZY_DISCOUNT * near.edits)
    found = [(posting, weight) for term, weight in asked.items() if (posting := prose.of(term)) is not None]
    by_prefix = (_with_prefix(prefix, prose) for prefix in query.prefixes)
    return [*found, *((posting, 1.0) for posting in by_prefix if posting is not None)]


def _ranked(
    name: ListName,
    found: Sequence[WeightedPostings],
    corpus: CorpusReader,
    limit: int,
    allowed: Mask | None,
    most: float,
) -> RankedList:
    """List the passages with the ``limit`` highest positive scores, of those that are allowed."""
    scores = add_up(found, corpus.passages)
    may = scores if allowed is None else np.where(allowed, scores, 0.0)
    rows = np.flatnonzero(may > 0)
    rows, highest = best(rows, may[rows], limit, corpus.places)
    scale = float(highest[0]) if len(highest) else 0.0
    return RankedList(name, rows, highest, most, scale, score_of=scores.__getitem__)


def _most(found: Sequence[WeightedPostings]) -> float:
    """Return the most that a passage could score: the best posting of every term."""
    return sum(weight * posting.most for posting, weight in found)


def _with_prefix(prefix: str, postings: InvertedIndex) -> PostingList | None:
    """Unite the postings of the terms with a prefix: a passage's score is the best that it has in any."""
    begun = postings.beginning_with(without_accents(fold(prefix)), _MAX_BY_PREFIX)
    found = [posting for term in begun if (posting := postings.of(term)) is not None]
    if not found:
        return None
    rows = np.concatenate([posting.passages for posting in found])
    scores = np.concatenate([posting.scores for posting in found])
    fields = np.concatenate([posting.fields for posting in found])
    passages, inverse = np.unique(rows, return_inverse=True)
    top = np.zeros(len(passages), dtype=np.float32)
    np.maximum.at(top, inverse, scores)
    where = np.zeros(len(passages), dtype=np.uint16)
    np.bitwise_or.at(where, inverse, fields)
    return PostingList(passages, top, where, max(posting.most for posting in found))
