"""The link graph becomes Louvain communities: seeded, independent of order, labelled by their own terms."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import community as louvain
import networkx as nx
import numpy as np
import numpy.typing as npt

from pipeline.model import Community, DocId, ResolvedLink
from pipeline.settings import Communities

_ROUNDS = 2
_NUMBERS = 100_000


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
    """Louvain on the undirected graph of linked documents, numbered by the name of each community's hub.

    The second round begins at the first one's result: single documents find a better place, which one round leaves out.
    """
    undirected = _undirected(graph)
    if not undirected.number_of_edges():
        return Clusters({}, {}, 0.0)
    found: Mapping[int, int] | None = None
    for _ in range(_ROUNDS):
        found = louvain.best_partition(
            undirected,
            found,
            weight="weight",
            resolution=settings.resolution,
            random_state=_order(settings.seed),
        )
    members = _numbered(_by_smallest_member(found or {}), undirected, graph.documents)
    of = {row: number for number, rows in members.items() for row in rows}
    modularity = float(louvain.modularity(of, undirected, weight="weight"))
    return Clusters(members, _internal_weights(undirected, of), modularity)


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


class _AsGiven(np.random.RandomState):
    """Shuffles nothing: Louvain then visits documents by name, and a page more or less moves few others."""

    def shuffle(self, x: object) -> None:
        """The order stays."""


def _order(seed: int) -> np.random.RandomState:
    return np.random.RandomState(seed) if seed else _AsGiven(0)


def _undirected(graph: LinkGraph) -> nx.Graph[int]:
    """Edge weights of both directions added; nodes and edges inserted in order, isolated documents left out."""
    count = len(graph.documents)
    low, high = np.minimum(graph.source, graph.target), np.maximum(graph.source, graph.target)
    edges, place = np.unique(low * count + high, return_inverse=True)
    weight = np.bincount(place, graph.weight, minlength=len(edges))
    low, high = edges // max(count, 1), edges % max(count, 1)
    undirected: nx.Graph[int] = nx.Graph()
    undirected.add_nodes_from(np.unique(np.concatenate([low, high])).tolist())
    undirected.add_weighted_edges_from(zip(low.tolist(), high.tolist(), weight.tolist(), strict=True))
    return undirected


def _by_smallest_member(found: Mapping[int, int]) -> list[list[int]]:
    groups: dict[int, list[int]] = {}
    for row in sorted(found):
        groups.setdefault(found[row], []).append(row)
    return sorted(groups.values(), key=lambda rows: rows[0])


def _numbered(
    members: Sequence[Sequence[int]], graph: nx.Graph[int], names: Sequence[DocId]
) -> dict[int, tuple[int, ...]]:
    """Communities by number, which each has from the name of its hub: one that comes or goes renumbers no other."""
    found: dict[int, tuple[int, ...]] = {}
    for hub, rows in sorted((_hub(rows, graph), rows) for rows in members):
        number = zlib.crc32(names[hub].encode()) % _NUMBERS
        while number in found:
            number = (number + 1) % _NUMBERS
        found[number] = tuple(rows)
    return dict(sorted(found.items()))


def _hub(rows: Sequence[int], graph: nx.Graph[int]) -> int:
    """The document with most links to others of its community, the first by name of several."""
    own = set(rows)
    inside = {
        row: sum(data["weight"] for other, data in graph[row].items() if other in own and other != row)
        for row in rows
    }
    return min(rows, key=lambda row: (-inside[row], row))


def _internal_weights(graph: nx.Graph[int], of: Mapping[int, int]) -> dict[int, float]:
    inside = dict.fromkeys(of.values(), 0.0)
    for a, b, data in graph.edges(data=True):
        if of[a] == of[b]:
            inside[of[a]] += float(data["weight"])
    return inside


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
