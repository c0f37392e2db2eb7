"""Semantic retrieval: passages near the query by FAISS, and how near their documents are as a whole."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...tables.vectors import search
from ..index.corpus import CorpusReader, Vectors
from ..index.postings import best
from ..model import Ints, ListName, Mask, RankedList, Scores, Vector


def semantic_list(
    vector: Vector,
    corpus: CorpusReader,
    limit: int,
    allowed: Mask | None = None,
    *,
    oversample: int = 5,
    name: ListName = "semantic",
) -> RankedList:
    """List the passages with the highest positive cosine.

    ``oversample`` times as many vectors are read: several passages may share one, and equal scores may
    straddle the cut.
    """
    scores, found = search(corpus.index, vector, limit * oversample, _vectors(allowed, corpus))
    rows, similarity = _passages_of(found[scores > 0], scores[scores > 0].astype(np.float64), corpus)
    if allowed is not None:
        rows, similarity = rows[allowed[rows]], similarity[allowed[rows]]

    def score_of(passages: Ints) -> Scores:
        return _cosines(corpus.vectors(passages), vector)

    return RankedList(name, *best(rows, similarity, limit, corpus.places), 1.0, score_of=score_of)


def document_list(vector: Vector, corpus: CorpusReader, others: Sequence[RankedList]) -> RankedList:
    """Rank what the other lists found by the cosine of each passage's document, that is of its centroid.

    A single passage tells little of what its document is about; all of them together tell more.
    """

    def score_of(passages: Ints) -> Scores:
        documents, place = np.unique(corpus.document_of[passages], return_inverse=True)
        return _cosines(corpus.centroids[documents], vector)[place]

    found = np.unique(np.concatenate([each.rows for each in others]))
    scores = score_of(found)
    rows, similarity = best(found[scores > 0], scores[scores > 0], len(found), corpus.places)
    return RankedList("document", rows, similarity, 1.0, score_of=score_of)


def _cosines(vectors: Vectors, vector: Vector) -> Scores:
    """Return the cosine of each row with the query's vector, computed by this thread alone.

    The threads of a matrix product wait for each other: on a busy machine up to 24 ms in place of 0.15.
    """
    found: Scores = np.einsum("ij,j->i", vectors, vector).astype(np.float64)
    return found


def _vectors(allowed: Mask | None, corpus: CorpusReader) -> Mask | None:
    """Return the vector rows of the allowed passages, as a mask."""
    if allowed is None:
        return None
    rows = np.zeros(corpus.index.ntotal, dtype=np.bool_)
    rows[corpus.vector_row[allowed]] = True
    return rows


def _passages_of(vectors: Ints, scores: Scores, corpus: CorpusReader) -> tuple[Ints, Scores]:
    """Return every passage that has one of the vectors, with its score."""
    owners = corpus.vector_owners
    sizes = owners.starts[vectors + 1] - owners.starts[vectors]
    first = np.repeat(owners.starts[vectors] - (np.cumsum(sizes) - sizes), sizes)
    return owners.passages[first + np.arange(int(sizes.sum()))], np.repeat(scores, sizes)
