"""The graph list: documents that are linked with the best ones, whether or not the query's words stand in them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....pipeline.settings.search import Graph
from ..index.adjacency import Links
from ..index.corpus import Corpus
from ..model import Mask, RankedList, Vector


def neighbours(seeds: Sequence[int], links: Links, settings: Graph) -> list[int]:
    """Documents linked with the seeds, which are given best first: ranked by best seed, distance, kind, row.

    Seeds are left out. From a document with more than ``hub`` links only the first ``hub`` are followed.
    """
    reached: dict[int, tuple[int, int, int, int]] = {}
    for rank, seed in enumerate(seeds):
        front = [seed]
        for hop in range(settings.depth):
            found = [edge for document in front for edge in _edges(document, links, settings.hub)]
            for document, kind in found:
                key = (rank, hop, kind, document)
                reached[document] = min(reached.get(document, key), key)
            front = sorted({document for document, _ in found})
    return sorted(set(reached) - set(seeds), key=reached.__getitem__)


def graph_list(
    seeds: Sequence[int],
    corpus: Corpus,
    settings: Graph,
    limit: int,
    *,
    allowed: Mask | None = None,
    vector: Vector | None = None,
) -> RankedList:
    """Neighbours of the seed documents, each by its passage nearest to the query (its first, without a vector)."""
    may = (
        None if allowed is None else np.bincount(corpus.document_of[allowed], minlength=len(corpus.documents))
    )
    found = [at for at in neighbours(seeds, corpus.links, settings) if may is None or may[at]][:limit]
    passages = [_passage(document, corpus, allowed, vector) for document in found]
    rows = np.array([row for row in passages if row is not None], dtype=np.int64)
    return RankedList("graph", rows, 1.0 / np.arange(1, len(rows) + 1), 1.0)


def _edges(document: int, links: Links, most: int) -> list[tuple[int, int]]:
    start, end = int(links.starts[document]), int(links.starts[document + 1])
    end = min(end, start + most)
    return list(zip(links.target[start:end].tolist(), links.kind[start:end].tolist(), strict=True))


def _passage(document: int, corpus: Corpus, allowed: Mask | None, vector: Vector | None) -> int | None:
    rows = np.arange(corpus.first_passage[document], corpus.first_passage[document + 1])
    rows = rows if allowed is None else rows[allowed[rows]]
    if not len(rows):
        return None
    return int(rows[0] if vector is None else rows[np.argmax(corpus.vectors(rows) @ vector)])
