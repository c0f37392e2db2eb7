"""Retrieval by links: documents linked with the best ones, whether or not the query's words stand in them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....pipeline.settings.search import Graph
from ..index.corpus import CorpusReader
from ..model import Mask, RankedList, Vector


def best_documents(lists: Sequence[RankedList], corpus: CorpusReader, count: int) -> list[int]:
    """Return the documents with the best ranks in any list, best first, ties by row."""
    best: dict[int, int] = {}
    for ranked in lists:
        documents = corpus.document_of[ranked.rows]
        _, first = np.unique(documents, return_index=True)
        for rank in first.tolist():
            document = int(documents[rank])
            best[document] = min(best.get(document, rank), rank)
    return sorted(best, key=lambda document: (best[document], document))[:count]


def graph_list(
    seeds: Sequence[int],
    corpus: CorpusReader,
    settings: Graph,
    limit: int,
    *,
    allowed: Mask | None = None,
    vector: Vector | None = None,
) -> RankedList:
    """List neighbours of the seed documents, each by its passage nearest to the query, or its first."""
    may = (
        None if allowed is None else np.bincount(corpus.document_of[allowed], minlength=len(corpus.documents))
    )
    linked = corpus.database.neighbours(seeds, settings.depth, settings.max_links)
    found = [at for at in linked if may is None or may[at]][:limit]
    passages = [_passage(document, corpus, allowed, vector) for document in found]
    rows = np.array([row for row in passages if row is not None], dtype=np.int64)
    return RankedList("graph", rows, 1.0 / np.arange(1, len(rows) + 1), 1.0)


def _passage(document: int, corpus: CorpusReader, allowed: Mask | None, vector: Vector | None) -> int | None:
    rows = np.arange(corpus.first_passage[document], corpus.first_passage[document + 1])
    rows = rows if allowed is None else rows[allowed[rows]]
    if not len(rows):
        return None
    return int(rows[0] if vector is None else rows[np.argmax(corpus.vectors(rows) @ vector)])
