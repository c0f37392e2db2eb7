"""Pages a reader may want next: those that share links and tags with a page, its own community first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..grouping import Edges
from ..library import Entry

Rows = npt.NDArray[np.int64]

# What half the site links to or is tagged with says nothing about relatedness, and would cost a pass over it.
MAX_SHARED_BY = 200
DIRECT_LINK = 0.6
# More than any page can share with another, and little enough for nine decimals beside it.
_NEAR = 1e5
# How many are compared in one batch; each may share something with thousands.
_PAGES_AT_A_TIME = 128


class Relations:
    """The links, tags and communities of all pages, by row number.

    Each page has up to ``many`` related pages.
    """

    def __init__(self, entries: Sequence[Entry], edges: Edges, many: int) -> None:
        count = len(entries)
        self._many = many
        self._links = _ones(edges.source, edges.target, (count, count))
        self._direct = sparse.csr_matrix((self._links + self._links.T) * DIRECT_LINK)
        self._communities = np.array([entry.community for entry in entries], dtype=np.int64)
        self._shared, self._weighed = _shared(self._links, _tags(entries))
        self._found: dict[int, list[Rows]] = {}

    def links_of(self, row: int) -> list[int]:
        """Return the pages that this page links to."""
        found: list[int] = self._links[row].indices.tolist()
        return found

    def related_to(self, row: int) -> Rows:
        """Return other pages, best first: same community before others, then by what is shared.

        A shared link or tag counts less the more pages share it; a direct link in either direction counts as
        well. Neighbouring pages are compared in one batch, and the results kept for when they are asked for.
        """
        part, place = divmod(row, _PAGES_AT_A_TIME)
        if part not in self._found:
            self._found[part] = list(self._best(part * _PAGES_AT_A_TIME))
        return self._found[part][place]

    def _best(self, first: int) -> Iterator[Rows]:
        rows = slice(first, first + _PAGES_AT_A_TIME)
        scores = sparse.csr_matrix(self._shared[rows] @ self._weighed + self._direct[rows])
        scores.sort_indices()
        page = first + np.repeat(np.arange(scores.shape[0]), np.diff(scores.indptr))
        others = scores.indices != page
        page, other = page[others], scores.indices[others].astype(np.int64)
        own = self._communities[page]
        is_near = (self._communities[other] == own) & (own >= 0)
        # Rounded, so that sums of the same weights in another order tie.
        worth = np.round(scores.data[others], 9) + is_near * _NEAR
        borders = np.searchsorted(page, first + np.arange(scores.shape[0] + 1))
        for start, end in pairwise(borders.tolist()):
            yield other[start:end][np.argsort(-worth[start:end], kind="stable")[: self._many]]


def _shared(*features: sparse.csr_matrix) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
    """Return pages by the features that few of them share, and those features, weighted, by page."""
    every = sparse.hstack(features, format="csr")
    pages = every.getnnz(axis=0)
    telling = np.flatnonzero((pages > 1) & (pages <= MAX_SHARED_BY))
    shared = sparse.csr_matrix(every[:, telling])
    return shared, sparse.csr_matrix(sparse.diags(1 / np.log2(1 + pages[telling])) @ shared.T)


def _tags(entries: Sequence[Entry]) -> sparse.csr_matrix:
    names = {tag: number for number, tag in enumerate(sorted({tag for e in entries for tag in e.tags}))}
    pairs = [(entry.row, names[tag]) for entry in entries for tag in set(entry.tags)]
    tagged = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return _ones(tagged[:, 0], tagged[:, 1], (len(entries), len(names)))


def _ones(row: Rows, column: Rows, shape: tuple[int, int]) -> sparse.csr_matrix:
    return sparse.csr_matrix((np.ones(len(row)), (row, column)), shape=shape)


def backlink_rows(edges: Edges) -> Mapping[int, list[int]]:
    """Return for each linked page the pages that link to it, by row number and in order."""
    return {target: sources.tolist() for target, sources in edges.backlinks()}
