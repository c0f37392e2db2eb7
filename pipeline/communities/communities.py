"""Finds communities in the link graph with python-louvain, with the same result every night."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..model import Community, DocId, ResolvedLink
from ..settings.settings import Communities
from .compact_graph import CompactGraph
from .initial_partition import Labels, Weights, initial_partition, strengths

if TYPE_CHECKING:
    from scipy import sparse

_NUMBERS = 100_000
# The parts that Louvain begins with should be smaller than communities.
_FINER = 3.0

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LinkGraph:
    """Documents by name, and edges between different rows, weighted by the number of links."""

    documents: tuple[DocId, ...]
    source: Rows
    target: Rows
    weight: Rows

    @property
    def links_in(self) -> Rows:
        """Return how many other documents link to each."""
        return np.bincount(self.target, minlength=len(self.documents))

    @property
    def links_out(self) -> Rows:
        """Return how many other documents each links to."""
        return np.bincount(self.source, minlength=len(self.documents))


@dataclass(frozen=True, slots=True)
class Clusters:
    """Communities without names: the rows of their documents, and the weight of their inner links."""

    members: Mapping[int, tuple[int, ...]]
    inside: Mapping[int, float]
    modularity: float


class _InOrder(np.random.RandomState):
    """A stand-in for a random generator that leaves nodes in the order of the graph.

    Any shuffle, even a seeded one, would change when a document is added.
    """

    def shuffle(self, x: object) -> None:
        """Do nothing."""


@dataclass(frozen=True, slots=True)
class Partition:
    """Each linked document's community, and the communities; a document without links is in none."""

    of: Mapping[DocId, int]
    communities: tuple[Community, ...]
    modularity: float


def link_graph(documents: Iterable[DocId], links: Iterable[ResolvedLink]) -> LinkGraph:
    """Return the graph of these documents, each edge once."""
    names = tuple(sorted(documents))
    row = {name: at for at, name in enumerate(names)}
    pairs = [
        (row[link.source_id], row[link.target_id])
        for link in links
        if link.target_id is not None and link.target_id != link.source_id
    ]
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    edges, weight = np.unique(ends, axis=0, return_counts=True)
    return LinkGraph(names, edges[:, 0], edges[:, 1], weight.astype(np.int64))


def find_clusters(graph: LinkGraph, settings: Communities) -> Clusters:
    """Divide the linked documents by Louvain; each community is numbered by the name of its hub."""
    from community import modularity

    linked, weights = _undirected(graph)
    if not len(linked):
        return Clusters({}, {}, 0.0)
    names = [graph.documents[row] for row in linked.tolist()]
    # Louvain visits documents with few links first, ties by name: they join what they belong to before hubs,
    # which belong to many.
    order = np.argsort(strengths(weights), kind="stable")
    begun = initial_partition(names, weights, _FINER * settings.resolution)
    first = _louvain(CompactGraph(weights, order), begun, settings)
    # Documents that start in one part stay together, because Louvain only merges what its first pass leaves.
    # So the communities are divided by the links inside them, and Louvain starts again from those parts.
    parts = _louvain(CompactGraph(_within(weights, first), order), np.arange(len(linked)), settings)
    undirected = CompactGraph(weights, order)
    labels = _louvain(undirected, parts, settings)
    inside = strengths(_within(weights, labels))
    numbers = _numbers(labels, inside, names)
    members = _members(labels, linked)
    each = np.bincount(labels, inside) / 2
    return Clusters(
        {number: members[label] for number, label in numbers.items()},
        {number: float(each[label]) for number, label in numbers.items()},
        float(modularity(dict(enumerate(labels.tolist())), undirected)),
    )


def named(clusters: Clusters, graph: LinkGraph, names: Mapping[int, Sequence[str]]) -> Partition:
    """Return the communities with their names: for each its label, which may be empty, then its terms."""
    members = {number: [graph.documents[row] for row in rows] for number, rows in clusters.members.items()}
    total = sum(map(len, members.values()))
    communities = tuple(
        Community(number, label, tuple(terms), len(docs), clusters.inside[number], len(docs) / total)
        for number, docs in members.items()
        for label, *terms in (names[number],)
    )
    of = {doc: number for number, docs in members.items() for doc in docs}
    return Partition(of, communities, clusters.modularity)


def _undirected(graph: LinkGraph) -> tuple[Rows, sparse.csr_matrix]:
    """Return the rows of linked documents, and the weights between them, both directions added."""
    from scipy import sparse

    linked = np.union1d(graph.source, graph.target)
    ends = np.searchsorted(linked, graph.source), np.searchsorted(linked, graph.target)
    directed = sparse.csr_matrix((graph.weight.astype(np.float64), ends), shape=(len(linked), len(linked)))
    return linked, sparse.csr_matrix(directed + directed.T)


def _louvain(undirected: CompactGraph, begun: Labels, settings: Communities) -> Labels:
    from community import best_partition

    found = best_partition(
        undirected,
        partition=dict(enumerate(begun.tolist())),
        resolution=settings.resolution,
        random_state=np.random.RandomState(settings.seed) if settings.seed else _InOrder(),
    )
    labels = np.array([found[row] for row in range(len(begun))], dtype=np.int64)
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def _within(weights: sparse.csr_matrix, labels: Labels) -> sparse.csr_matrix:
    """Return the weights without those between communities."""
    from scipy import sparse

    pairs = weights.tocoo()
    same = labels[pairs.row] == labels[pairs.col]
    return sparse.csr_matrix((pairs.data[same], (pairs.row[same], pairs.col[same])), shape=weights.shape)


def _numbers(labels: Labels, inside: Weights, names: Sequence[DocId]) -> dict[int, int]:
    """Return labels by number, each taken from the name of its hub.

    So a label that comes or goes renumbers no other. The hub is the document with most links to others of its
    community, the first by name if there are several.
    """
    order = np.lexsort((-inside, labels))
    hubs = order[np.unique(labels[order], return_index=True)[1]]
    found: dict[int, int] = {}
    for hub in sorted(hubs.tolist()):
        number = zlib.crc32(names[hub].encode()) % _NUMBERS
        while number in found:
            number = (number + 1) % _NUMBERS
        found[number] = int(labels[hub])
    return dict(sorted(found.items()))


def _members(labels: Labels, rows: Rows) -> list[tuple[int, ...]]:
    """Return the rows of each label, in order."""
    order = np.argsort(labels, kind="stable")
    borders = np.cumsum(np.bincount(labels))[:-1]
    return [tuple(part.tolist()) for part in np.split(rows[order], borders)]
