"""The link graph becomes Louvain communities: seeded, independent of order, labelled by their own terms."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import community as louvain
import networkx as nx
import numpy as np

from pipeline.model import Community, DocId, ResolvedLink
from pipeline.settings import Communities

_ROUNDS = 2
_NUMBERS = 100_000


@dataclass(frozen=True, slots=True)
class Partition:
    """Each linked document's community, and the communities; a document without links is in none."""

    of: Mapping[DocId, int]
    communities: tuple[Community, ...]
    modularity: float


def link_graph(documents: Iterable[DocId], links: Iterable[ResolvedLink]) -> nx.DiGraph[DocId]:
    """Documents as nodes, resolved links between different documents as edges weighted by their number."""
    graph: nx.DiGraph[DocId] = nx.DiGraph()
    graph.add_nodes_from(sorted(documents))
    weights: dict[tuple[DocId, DocId], int] = {}
    for link in links:
        if link.target_id is not None and link.target_id != link.source_id:
            edge = (link.source_id, link.target_id)
            weights[edge] = weights.get(edge, 0) + 1
    graph.add_weighted_edges_from((a, b, weights[a, b]) for a, b in sorted(weights))
    return graph


def find_communities(
    graph: nx.DiGraph[DocId], title_terms: Mapping[DocId, Sequence[str]], settings: Communities
) -> Partition:
    """Louvain on the undirected graph of linked documents, numbered by the name of each community's hub.

    The second round begins at the first one's result: single documents find a better place, which one round leaves out.
    """
    undirected = _undirected(graph)
    if not undirected.number_of_edges():
        return Partition({}, (), 0.0)
    found: Mapping[DocId, int] | None = None
    for _ in range(_ROUNDS):
        found = louvain.best_partition(
            undirected,
            found,
            weight="weight",
            resolution=settings.resolution,
            random_state=_order(settings.seed),
        )
    members = _numbered(_by_smallest_member(found or {}), undirected)
    of = {doc: number for number, docs in members.items() for doc in docs}
    inside = _internal_weights(undirected, of)
    labels = dict(
        zip(members, _labels(list(members.values()), title_terms, settings.label_terms), strict=True)
    )
    total = len(of)
    return Partition(
        of=of,
        communities=tuple(
            Community(
                number,
                ", ".join(labels[number]),
                labels[number],
                len(docs),
                inside[number],
                len(docs) / total,
            )
            for number, docs in members.items()
        ),
        modularity=float(louvain.modularity(of, undirected, weight="weight")),
    )


class _AsGiven(np.random.RandomState):
    """Shuffles nothing: Louvain then visits documents by name, and a page more or less moves few others."""

    def shuffle(self, x: object) -> None:
        """The order stays."""


def _order(seed: int) -> np.random.RandomState:
    return np.random.RandomState(seed) if seed else _AsGiven(0)


def _undirected(graph: nx.DiGraph[DocId]) -> nx.Graph[DocId]:
    """Edge weights of both directions added; nodes and edges inserted in order, isolated documents left out."""
    weights: dict[tuple[DocId, DocId], float] = {}
    for a, b, data in graph.edges(data=True):
        key = (min(a, b), max(a, b))
        weights[key] = weights.get(key, 0.0) + float(data["weight"])
    undirected: nx.Graph[DocId] = nx.Graph()
    undirected.add_nodes_from(sorted({node for edge in weights for node in edge}))
    undirected.add_weighted_edges_from((a, b, weights[a, b]) for a, b in sorted(weights))
    return undirected


def _by_smallest_member(found: Mapping[DocId, int]) -> list[list[DocId]]:
    groups: dict[int, list[DocId]] = {}
    for doc in sorted(found):
        groups.setdefault(found[doc], []).append(doc)
    return sorted(groups.values(), key=lambda docs: docs[0])


def _numbered(members: Sequence[Sequence[DocId]], graph: nx.Graph[DocId]) -> dict[int, Sequence[DocId]]:
    """Communities by number, which each has from the name of its hub: one that comes or goes renumbers no other."""
    found: dict[int, Sequence[DocId]] = {}
    for hub, docs in sorted((_hub(docs, graph), docs) for docs in members):
        number = zlib.crc32(hub.encode()) % _NUMBERS
        while number in found:
            number = (number + 1) % _NUMBERS
        found[number] = docs
    return dict(sorted(found.items()))


def _hub(docs: Sequence[DocId], graph: nx.Graph[DocId]) -> DocId:
    """The document with most links to others of its community, the first by name of several."""
    own = set(docs)
    inside = {
        doc: sum(data["weight"] for other, data in graph[doc].items() if other in own and other != doc)
        for doc in docs
    }
    return min(docs, key=lambda doc: (-inside[doc], doc))


def _internal_weights(graph: nx.Graph[DocId], of: Mapping[DocId, int]) -> dict[int, float]:
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
