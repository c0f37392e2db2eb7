"""The semantic list: cosine between the query's vector and the passages' vectors, from FAISS."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from artifacts.query.corpus import Corpus, Ints
from artifacts.query.lists import Scores, best
from artifacts.query.model import ListName, Mask, RankedList, Vector
from artifacts.vectors import search


class QueryEncoder(Protocol):
    """What the semantic list needs of an encoder."""

    def encode_query(self, text: str) -> Vector:
        """The unit float32 vector of a query, shape ``(dimension,)``."""


def semantic_list(
    vector: Vector,
    corpus: Corpus,
    limit: int,
    allowed: Mask | None = None,
    *,
    oversample: int = 5,
    name: ListName = "semantic",
) -> RankedList:
    """The passages with the highest positive cosine.

    ``oversample`` times as many vectors are read: several passages may share one, and equal scores may straddle
    the cut.
    """
    scores, found = search(corpus.index, vector, limit * oversample, _vectors(allowed, corpus))
    rows, similarity = _passages_of(found[scores > 0], scores[scores > 0].astype(np.float64), corpus)
    if allowed is not None:
        rows, similarity = rows[allowed[rows]], similarity[allowed[rows]]
    return RankedList(name, *best(rows, similarity, limit), 1.0)


def _vectors(allowed: Mask | None, corpus: Corpus) -> Mask | None:
    """The vector rows of the allowed passages, as a mask."""
    if allowed is None:
        return None
    rows = np.zeros(corpus.index.ntotal, dtype=np.bool_)
    rows[corpus.vector_row[allowed]] = True
    return rows


def _passages_of(vectors: Ints, scores: Scores, corpus: Corpus) -> tuple[Ints, Scores]:
    """Every passage that has one of the vectors, with its score."""
    owners = corpus.vector_owners
    sizes = owners.starts[vectors + 1] - owners.starts[vectors]
    first = np.repeat(owners.starts[vectors] - (np.cumsum(sizes) - sizes), sizes)
    return owners.passages[first + np.arange(int(sizes.sum()))], np.repeat(scores, sizes)
