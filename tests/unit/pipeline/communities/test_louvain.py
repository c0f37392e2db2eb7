"""Partitions of graphs: as good as a reference implementation's, and no document is better off elsewhere."""

from __future__ import annotations

from collections.abc import Callable

import networkx as nx
import numpy as np
import pytest
from scipy import sparse
from sknetwork.clustering import Louvain

from noctule.pipeline.communities.louvain import Labels, inside, modularity, partition
from noctule.pipeline.settings.settings import Communities

Graph = sparse.csr_matrix


def _blurred(seed: int, nodes: int = 300, group: int = 15) -> Graph:
    """Groups with two links in three inside, and weights from 1 to 3: many partitions are nearly as good as the best."""
    chance = np.random.default_rng(seed)
    here = np.repeat(np.arange(nodes), 4)
    near = here // group * group + chance.integers(group, size=len(here))
    there = np.where(chance.random(len(here)) < 2 / 3, near, chance.integers(nodes, size=len(here)))
    apart = here != there
    shape = (nodes, nodes)
    weight = chance.integers(1, 4, size=len(here)).astype(float)
    directed = sparse.csr_matrix((weight[apart], (here[apart], there[apart])), shape=shape)
    return sparse.csr_matrix(directed + directed.T)


def _alone(graph: Graph) -> Labels:
    return np.arange(graph.shape[0])


def _in_tens(graph: Graph) -> Labels:
    """Families that have little to do with the groups."""
    return np.arange(graph.shape[0]) // 10


def _in_one(graph: Graph) -> Labels:
    return np.zeros(graph.shape[0], dtype=np.int64)


BEGUN = pytest.mark.parametrize("begun", [_alone, _in_tens, _in_one])


def _groups(labels: Labels) -> list[set[int]]:
    return [set(np.flatnonzero(labels == label).tolist()) for label in range(labels.max() + 1)]


@BEGUN
@pytest.mark.parametrize("seed", range(5))
def test_partitions_are_as_good_as_those_of_a_reference_implementation(
    seed: int, begun: Callable[[Graph], Labels]
) -> None:
    graph = _blurred(seed)
    reference = nx.community.louvain_communities(nx.from_scipy_sparse_array(graph), seed=seed)
    best = nx.community.modularity(nx.from_scipy_sparse_array(graph), reference)
    labels = partition(graph, begun(graph), Communities())
    assert sorted(set(labels.tolist())) == list(range(labels.max() + 1))
    # What began in the wrong company stays in some of it.
    assert modularity(graph, labels) >= best - (0.02 if begun is _in_tens else 0.005)


@pytest.mark.parametrize("seed", range(3))
def test_modularity_is_that_of_a_reference_implementation(seed: int) -> None:
    graph = _blurred(seed)
    labels = partition(graph, _alone(graph), Communities(resolution=1.5))
    expected = nx.community.modularity(nx.from_scipy_sparse_array(graph), _groups(labels))
    assert modularity(graph, labels) == pytest.approx(expected, abs=1e-12)


def _restless(graph: Graph, labels: Labels) -> int:
    """How many documents would be better off in another community, tried one by one."""
    now, count = modularity(graph, labels), 0
    for row in range(len(labels)):
        moved = labels.copy()
        for other in range(labels.max() + 1):
            moved[row] = other
            if modularity(graph, moved) > now + 1e-6:
                count += 1
                break
    return count


@BEGUN
def test_hardly_a_document_would_be_better_off_in_another_community(begun: Callable[[Graph], Labels]) -> None:
    graphs = [_blurred(seed, nodes=90) for seed in range(4)]
    alone = [Louvain(modularity="newman").fit_predict(graph) for graph in graphs]
    # Communities join once more at the end; that may leave a document beside a better place.
    assert sum(_restless(graph, partition(graph, begun(graph), Communities())) for graph in graphs) <= 2
    assert sum(map(_restless, graphs, alone)) > 6


@BEGUN
@pytest.mark.parametrize("resolution", [1.0, 1.7, 4.0])
def test_no_document_is_in_a_community_that_it_is_not_linked_with(
    resolution: float, begun: Callable[[Graph], Labels]
) -> None:
    for seed in range(10):
        graph = _blurred(seed, nodes=120, group=6)
        labels = partition(graph, begun(graph), Communities(resolution=resolution))
        alone = np.bincount(labels)[labels] == 1
        assert (inside(graph, labels)[~alone] > 0).all()


def test_weight_inside_is_counted_from_both_ends() -> None:
    graph = sparse.csr_matrix(np.array([[0.0, 2, 1], [2, 0, 0], [1, 0, 0]]))
    assert inside(graph, np.array([0, 0, 1])).tolist() == [2, 2, 0]


def test_a_higher_resolution_gives_more_communities() -> None:
    graph = _blurred(1)
    few, many = (partition(graph, _alone(graph), Communities(resolution=given)).max() for given in (0.5, 4.0))
    assert many > few


def test_one_link_is_one_community() -> None:
    graph = sparse.csr_matrix(np.array([[0.0, 1], [1, 0]]))
    assert partition(graph, _alone(graph), Communities()).tolist() == [0, 0]


@pytest.mark.parametrize("resolution", [0.01, 2.5, 1e6])
def test_a_resolution_far_from_one_is_no_error(resolution: float) -> None:
    pairs = sparse.block_diag([np.ones((2, 2)) - np.eye(2)] * 3, format="csr")
    labels = partition(pairs, np.repeat(np.arange(3), 2), Communities(resolution=resolution))
    assert sorted(set(labels.tolist())) == list(range(labels.max() + 1))
    assert len(set(labels.tolist())) == (6 if resolution > 100 else 3)
