"""The link graph becomes Louvain communities: seeded, independent of order, labelled by their own terms."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..model import Community, DocId, ResolvedLink
from ..settings.settings import Communities
from .initial_partition import families
from .louvain import Labels, inside, modularity, partition

_NUMBERS = 100_000
# Families are to be parts of communities.
_FINER = 3.0

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LinkGraph:
    """Documents by name, and resolved links between different ones: edges by row, weighted by the number of links."""

    documents: tuple[DocId, ...]
    source: Rows
    target: Rows
    weight: Rows

    @property
    def links_in(self) -> Rows:
        """How many other documents link to each."""
        return np.bincount(self.target, minlength=len(self.documents))

    @property
    def links_out(self) -> Rows:
        """To how many other documents each links."""
        return np.bincount(self.source, minlength=len(self.documents))


@dataclass(frozen=True, slots=True)
class Clusters:
    """Communities without names: the rows of their documents by number, and the weight of the links inside each."""

    members: Mapping[int, tuple[int, ...]]
    inside: Mapping[int, float]
    modularity: float


@dataclass(frozen=True, slots=True)
class Partition:
    """Each linked document's community, and the communities; a document without links is in none."""

    of: Mapping[DocId, int]
    communities: tuple[Community, ...]
    modularity: float


def link_graph(documents: Iterable[DocId], links: Iterable[ResolvedLink]) -> LinkGraph:
    """The graph of these documents, each edge once."""
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
    """Louvain on the undirected graph of linked documents, numbered by the name of each community's hub."""
    linked, undirected = _undirected(graph)
    if not len(linked):
        return Clusters({}, {}, 0.0)
    names = [graph.documents[row] for row in linked.tolist()]
    labels = partition(undirected, families(names, undirected, _FINER * settings.resolution), settings)
    weight = inside(undirected, labels)
    numbers = _numbers(labels, weight, names)
    members = _members(labels, linked)
    each = np.bincount(labels, weight) / 2
    return Clusters(
        {number: members[label] for number, label in numbers.items()},
        {number: float(each[label]) for number, label in numbers.items()},
        modularity(undirected, labels),
    )


def named(
    clusters: Clusters, graph: LinkGraph, title_terms: Mapping[DocId, Sequence[str]], settings: Communities
) -> Partition:
    """The communities with the names that the terms of their documents give them."""
    members = {number: [graph.documents[row] for row in rows] for number, rows in clusters.members.items()}
    labels = _labels(list(members.values()), title_terms, settings.label_terms)
    total = sum(map(len, members.values()))
    communities = tuple(
        Community(number, ", ".join(label), label, len(docs), clusters.inside[number], len(docs) / total)
        for (number, docs), label in zip(members.items(), labels, strict=True)
    )
    of = {doc: number for number, docs in members.items() for doc in docs}
    return Partition(of, communities, clusters.modularity)


def _undirected(graph: LinkGraph) -> tuple[Rows, sparse.csr_matrix]:
    """The rows of linked documents, and the weights between them, both directions added."""
    linked = np.union1d(graph.source, graph.target)
    ends = np.searchsorted(linked, graph.source), np.searchsorted(linked, graph.target)
    directed = sparse.csr_matrix((graph.weight.astype(np.float64), ends), shape=(len(linked), len(linked)))
    return linked, sparse.csr_matrix(directed + directed.T)


def _numbers(labels: Labels, weight: npt.NDArray[np.float64], names: Sequence[DocId]) -> dict[int, int]:
    """Labels by number, which each has from the name of its hub: one that comes or goes renumbers no other.

    The hub is the document with most links to others of its community, the first by name of several.
    """
    order = np.lexsort((-weight, labels))
    hubs = order[np.unique(labels[order], return_index=True)[1]]
    found: dict[int, int] = {}
    for hub in sorted(hubs.tolist()):
        number = zlib.crc32(names[hub].encode()) % _NUMBERS
        while number in found:
            number = (number + 1) % _NUMBERS
        found[number] = int(labels[hub])
    return dict(sorted(found.items()))


def _members(labels: Labels, rows: Rows) -> list[tuple[int, ...]]:
    """The rows of each label, in order."""
    order = np.argsort(labels, kind="stable")
    borders = np.cumsum(np.bincount(labels))[:-1]
    return [tuple(part.tolist()) for part in np.split(rows[order], borders)]


def _labels(
    members: Sequence[Sequence[DocId]], title_terms: Mapping[DocId, Sequence[str]], count: int
) -> list[tuple[str, ...]]:
    """Terms whose share of the community's documents most exceeds their share of all, weighted by spread.

    Score: ``n_c(t) · ln(p(t | community) / p(t))``, the term's part of the Kullback–Leibler divergence.
    """
    everywhere = _document_frequency((doc for docs in members for doc in docs), title_terms)
    total = sum(len(docs) for docs in members)
    labels = []
    for docs in members:
        here = _document_frequency(docs, title_terms)
        terms = sorted(here)
        share = np.array([here[t] / len(docs) for t in terms])
        overall = np.array([everywhere[t] / total for t in terms])
        score = (np.array([here[t] for t in terms]) * np.log(share / overall)).round(9) if terms else share
        # Where a community is all there is, nothing sets it apart: its commonest terms name it.
        best = sorted(range(len(terms)), key=lambda i: (-score[i], -here[terms[i]], terms[i]))
        labels.append(tuple(terms[i] for i in best[:count]))
    return labels


def _document_frequency(docs: Iterable[DocId], title_terms: Mapping[DocId, Sequence[str]]) -> Counter[str]:
    return Counter(term for doc in docs for term in set(title_terms.get(doc, ())))
