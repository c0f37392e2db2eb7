"""Which pages a reader may want next: those that share links and tags with a page, its own community first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from docsite.library import Edges, Entry

Rows = npt.NDArray[np.int64]
Weights = npt.NDArray[np.float64]

# What half the site links to or is tagged with says nothing about relatedness, and would cost a pass over it.
MAX_SHARED_BY = 200
DIRECT_LINK = 0.6


@dataclass(frozen=True, slots=True)
class Bipartite:
    """Pages and what they have in common (link targets or tags), both ways, as flat arrays with offsets."""

    features: Rows
    feature_starts: Rows
    pages: Rows
    page_starts: Rows

    def features_of(self, page: int) -> Rows:
        """What this page has."""
        return self.features[self.feature_starts[page] : self.feature_starts[page + 1]]

    def pages_of(self, feature: int) -> Rows:
        """The pages that have this."""
        return self.pages[self.page_starts[feature] : self.page_starts[feature + 1]]


@dataclass(frozen=True, slots=True)
class Relations:
    """All that is compared: links, tags and communities of every page by row number."""

    links: Bipartite
    tags: Bipartite
    communities: Rows


def relations(entries: Sequence[Entry], edges: Edges) -> Relations:
    """The relations among these pages."""
    count = len(entries)
    names = {tag: number for number, tag in enumerate(sorted({tag for e in entries for tag in e.tags}))}
    pairs = [(entry.row, names[tag]) for entry in entries for tag in sorted(set(entry.tags))]
    tagged = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return Relations(
        links=_bipartite(edges.source, edges.target, count, count),
        tags=_bipartite(tagged[:, 0], tagged[:, 1], count, len(names)),
        communities=np.array([entry.community for entry in entries], dtype=np.int64),
    )


def _bipartite(pages: Rows, features: Rows, page_count: int, feature_count: int) -> Bipartite:
    by_page = np.lexsort((features, pages))
    by_feature = np.lexsort((pages, features))
    return Bipartite(
        features[by_page],
        np.searchsorted(pages[by_page], np.arange(page_count + 1)),
        pages[by_feature],
        np.searchsorted(features[by_feature], np.arange(feature_count + 1)),
    )


def related_rows(known: Relations, row: int, many: int) -> list[int]:
    """Up to ``many`` other pages, best first: of the same community before others, then by what is shared.

    A shared link or tag counts the less, the more pages share it; a direct link either way counts as well.
    """
    links = known.links
    found = [*_sharing(links, row), *_sharing(known.tags, row)]
    near = np.concatenate([links.features_of(row), links.pages_of(row)])
    found.append((near, np.full(len(near), DIRECT_LINK)))
    rows = np.concatenate([part for part, _ in found])
    weights = np.concatenate([part for _, part in found])
    if many == 0 or not len(rows):
        return []
    candidates, place = np.unique(rows, return_inverse=True)
    scores = np.round(np.bincount(place, weights), 9)  # sums of the same weights in another order tie
    keep = candidates != row
    candidates, scores = candidates[keep], scores[keep]
    stranger = (known.communities[candidates] != known.communities[row]) | (known.communities[row] < 0)
    best = np.lexsort((candidates, -scores, stranger))[:many]
    return [int(candidate) for candidate in candidates[best]]


def _sharing(shared: Bipartite, row: int) -> list[tuple[Rows, Weights]]:
    found: list[tuple[Rows, Weights]] = []
    for feature in shared.features_of(row).tolist():
        pages = shared.pages_of(feature)
        if 1 < len(pages) <= MAX_SHARED_BY:
            found.append((pages, np.full(len(pages), 1.0 / np.log2(1 + len(pages)))))
    return found


def backlink_rows(edges: Edges) -> Mapping[int, list[int]]:
    """For each linked page the pages that link to it, by row number and in order."""
    return {target: sources.tolist() for target, sources in edges.backlinks()}
