"""The keyword list: BM25F over the fields of a passage and its document, read by term from the postings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ....pipeline.lexical.analyzer import fold, without_accents
from ..index.corpus import Corpus
from ..index.postings import PostingList, Postings
from ..model import Mask, Query, RankedList
from ..understanding.fuzzy import auto_edits
from .ranked_list import Weighted, add_up, ranked

_MAX_BEGINNINGS = 64
# As Lucene: a word that is only like the one asked for counts the less, the further it is.
_FUZZY_DISCOUNT = 0.3


def keyword_list(
    query: Query, corpus: Corpus, limit: int, allowed: Mask | None = None, *, fuzzy: bool = False
) -> RankedList:
    """The passages with the highest BM25F score for the query's terms and expansions."""
    found = postings_of(query, corpus, fuzzy=fuzzy)
    return ranked("keyword", add_up(found, corpus.passages), limit, allowed, _most(found))


def code_list(query: Query, corpus: Corpus, limit: int, allowed: Mask | None = None) -> RankedList:
    """The passages with the highest BM25 score for identifiers, whole or in parts, in their code."""
    found = [(posting, 1.0) for term in query.code_terms if (posting := corpus.code.of(term)) is not None]
    return ranked("code", add_up(found, corpus.passages), limit, allowed, _most(found))


def postings_of(query: Query, corpus: Corpus, *, fuzzy: bool = False) -> list[Weighted]:
    """The postings that the query asks for, each with its weight: terms, expansions, beginnings, near words."""
    asked = dict.fromkeys(query.terms, 1.0)
    for expansion in query.expansions:
        for term in expansion.terms:
            asked.setdefault(term, expansion.weight)
    if fuzzy:
        for near, weight in [each for term in query.terms for each in _near(term, corpus)]:
            asked.setdefault(near, weight)
    found = [
        (posting, weight) for term, weight in asked.items() if (posting := corpus.prose.of(term)) is not None
    ]
    begun = (_beginning(prefix, corpus.prose) for prefix in query.prefixes)
    return [*found, *((posting, 1.0) for posting in begun if posting is not None)]


def _most(found: Sequence[Weighted]) -> float:
    """The most that a passage could score: the best posting of every term."""
    return sum(weight * float(posting.scores.max()) for posting, weight in found)


def _near(term: str, corpus: Corpus) -> Iterator[tuple[str, float]]:
    for near in corpus.index_words.near(term, auto_edits(term)):
        yield near.word, 1 - _FUZZY_DISCOUNT * near.edits


def _beginning(prefix: str, postings: Postings) -> PostingList | None:
    begun = postings.beginning_with(without_accents(fold(prefix)), _MAX_BEGINNINGS)
    found = [postings.of(term) for term in begun]
    kept = [posting for posting in found if posting is not None]
    return _either(kept) if kept else None


def _either(found: list[PostingList]) -> PostingList:
    """The union of posting lists as one: a passage's score is the best that it has in any."""
    rows = np.concatenate([posting.passages for posting in found])
    scores = np.concatenate([posting.scores for posting in found])
    fields = np.concatenate([posting.fields for posting in found])
    passages, inverse = np.unique(rows, return_inverse=True)
    top = np.zeros(len(passages), dtype=np.float32)
    np.maximum.at(top, inverse, scores)
    where = np.zeros(len(passages), dtype=np.uint16)
    np.bitwise_or.at(where, inverse, fields)
    return PostingList(passages, top, where)
