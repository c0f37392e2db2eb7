"""The graph in arrays that python-louvain divides: it is to it what the same one of networkx is."""

from __future__ import annotations

import random

import networkx as nx
import numpy as np
import pytest
from community import best_partition, modularity
from scipy import sparse

from noctule.pipeline.communities.compact_graph import CompactGraph

NODES, EDGES = 120, 500


class _Unshuffled(np.random.RandomState):
    def shuffle(self, x: object) -> None:
        """Do nothing."""


def _weights(seed: int) -> sparse.csr_matrix:
    chance = random.Random(seed)
    pairs = [chance.sample(range(NODES), 2) for _ in range(EDGES)]
    ends = np.array([*pairs, *([b, a] for a, b in pairs)]).T
    return sparse.csr_matrix((np.tile([float(1 + n % 3) for n in range(EDGES)], 2), ends), (NODES, NODES))


def _of_networkx(weights: sparse.csr_matrix, order: np.ndarray[tuple[int], np.dtype[np.int64]]) -> nx.Graph:
    """The same graph: nodes in order, and the edges of each in the order of the others."""
    graph, rank = nx.Graph(), np.argsort(order)
    graph.add_nodes_from(order.tolist())
    pairs = sparse.triu(weights, 1).tocoo()
    edges = zip(pairs.row.tolist(), pairs.col.tolist(), pairs.data.tolist(), strict=True)
    for one, other, weight in sorted(edges, key=lambda each: sorted((rank[each[0]], rank[each[1]]))):
        graph.add_edge(one, other, weight=weight)
    return graph


@pytest.mark.parametrize("seed", range(4))
def test_louvain_finds_what_it_finds_in_a_graph_of_networkx(seed: int) -> None:
    weights = _weights(seed)
    order = np.random.default_rng(seed).permutation(NODES)
    compact, plain = CompactGraph(weights, order), _of_networkx(weights, order)
    begun = {node: node % 40 for node in range(NODES)}
    found, wanted = (
        best_partition(each, partition=begun, resolution=1.3, random_state=_Unshuffled())
        for each in (compact, plain)
    )
    assert found == wanted and len(set(found.values())) > 2
    assert modularity(found, compact) == modularity(wanted, plain)


def test_it_answers_as_networkx_does() -> None:
    weights, order = _weights(7), np.arange(NODES)[::-1].copy()
    compact, plain = CompactGraph(weights, order), _of_networkx(weights, order)
    assert list(compact) == compact.nodes() == list(plain.nodes())
    assert compact.size("weight") == plain.size("weight")
    assert compact.number_of_edges() == plain.number_of_edges()
    assert not compact.is_directed() and compact.copy() is compact
    for node in compact:
        assert list(compact[node].items()) == list(plain[node].items())
        assert compact.degree(node, "weight") == plain.degree(node, "weight")
    undirected = {(frozenset((one, other)), data["weight"]) for one, other, data in plain.edges(data=True)}
    own = [(frozenset((one, other)), data["weight"]) for one, other, data in compact.edges(data=True)]
    assert len(own) == len(undirected) and set(own) == undirected
