"""Communities are the same whatever order the graph came in, as good as the library's own, and change
little.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tracemalloc
import zlib
from statistics import median

import networkx as nx
import pytest
from community import best_partition, modularity

from noctule.pipeline.communities.communities import Clusters, LinkGraph, find_clusters, link_graph, named
from noctule.pipeline.identity import doc_id
from noctule.pipeline.model import DocId, ResolvedLink
from noctule.pipeline.settings.settings import Communities


def edge(a: str, b: str) -> ResolvedLink:
    return ResolvedLink(doc_id("c", a), doc_id("c", b), "", "link", b, "", 0, "resolved")


def communities_of(graph: LinkGraph, settings: Communities) -> dict[DocId, int]:
    members = find_clusters(graph, settings).members
    return {graph.documents[row]: number for number, rows in members.items() for row in rows}


CLIQUES = [["a1", "a2", "a3", "a4"], ["b1", "b2", "b3", "b4"]]
EDGES = [edge(x, y) for clique in CLIQUES for x in clique for y in clique if x != y] + [edge("a1", "b1")]
DOCUMENTS = [doc_id("c", name) for clique in CLIQUES for name in clique] + [doc_id("c", "alone")]


def test_two_cliques_are_two_communities_numbered_by_the_names_of_their_hubs() -> None:
    graph = link_graph(DOCUMENTS, EDGES)
    a, b = (zlib.crc32(name) % 100_000 for name in (b"c:a1", b"c:b1"))
    found = named(find_clusters(graph, Communities()), graph, {a: ("apples", "apples"), b: ("", "boats")})
    assert {each.community_id: (each.label, each.terms) for each in found.communities} == {
        a: ("apples", ("apples",)),
        b: ("", ("boats",)),
    }
    assert (found.of[doc_id("c", "a3")], found.of[doc_id("c", "b2")]) == (a, b)
    assert [each.community_id for each in found.communities] == sorted((a, b))
    assert doc_id("c", "alone") not in found.of
    assert [(each.size, each.internal_weight, each.share) for each in found.communities] == [(4, 12, 0.5)] * 2


def test_a_community_more_renumbers_no_other() -> None:
    more = [*EDGES, edge("A1", "A2"), edge("A2", "A1")]
    documents = [*DOCUMENTS, doc_id("c", "A1"), doc_id("c", "A2")]
    before = communities_of(link_graph(DOCUMENTS, EDGES), Communities())
    after = communities_of(link_graph(documents, more), Communities())
    assert {doc: after[doc] for doc in before} == before
    assert len(set(after.values())) == 3


def test_the_order_of_documents_and_links_does_not_matter() -> None:
    edges = _hamlet(1)
    documents = sorted({each.source_id for each in edges} | {e.target_id for e in edges if e.target_id})
    expected = find_clusters(link_graph(documents, edges), Communities())
    for seed in range(5):
        random.Random(seed).shuffle(documents)
        random.Random(seed).shuffle(edges)
        assert find_clusters(link_graph(documents, edges), Communities()) == expected


def test_a_corpus_without_links_has_no_communities() -> None:
    assert find_clusters(link_graph(DOCUMENTS, [edge("a1", "a1")]), Communities()) == Clusters({}, {}, 0.0)


def _hamlet(seed: int, documents: int = 400) -> list[ResolvedLink]:
    """Blurred groups of twenty, so that many partitions are nearly as good as the best."""
    chance = random.Random(seed)
    edges = []
    for number in range(documents):
        for _ in range(4):
            near = chance.random() < 0.6
            other = number // 20 * 20 + chance.randrange(20) if near else chance.randrange(documents)
            if other != number:
                edges.append(edge(f"d{number:03}", f"d{other:03}"))
    return edges


def _graph(seed: int) -> LinkGraph:
    edges = _hamlet(seed)
    return link_graph({each.source_id for each in edges} | {e.target_id for e in edges if e.target_id}, edges)


def _reference(graph: LinkGraph) -> nx.Graph:
    """The same graph, put together edge by edge."""
    undirected = nx.Graph()
    for one, other, weight in zip(graph.source, graph.target, graph.weight, strict=True):
        known = undirected.get_edge_data(int(one), int(other), {"weight": 0})["weight"]
        undirected.add_edge(int(one), int(other), weight=known + int(weight))
    return undirected


@pytest.mark.parametrize("seed", range(6))
def test_partitions_are_as_good_as_those_of_the_library_from_single_pages(seed: int) -> None:
    graph = _graph(seed)
    undirected = _reference(graph)
    scratch = [modularity(best_partition(undirected, random_state=s), undirected) for s in range(9)]
    found = find_clusters(graph, Communities())
    of = {row: number for number, rows in found.members.items() for row in rows}
    assert found.modularity == pytest.approx(modularity(of, undirected), abs=1e-12)
    assert found.modularity >= median(scratch)


@pytest.mark.parametrize("resolution", [0.01, 1.0, 1.7, 4.0, 1e6])
def test_no_document_is_in_a_community_that_it_is_not_linked_with(resolution: float) -> None:
    for seed in range(4):
        graph = _graph(seed)
        neighbours = _reference(graph).adj
        for rows in find_clusters(graph, Communities(resolution=resolution)).members.values():
            assert len(rows) == 1 or all(neighbours[row].keys() & set(rows) for row in rows)


def test_a_higher_resolution_gives_more_communities() -> None:
    few, many = (len(find_clusters(_graph(1), Communities(resolution=given)).members) for given in (0.5, 4.0))
    assert many > few


def test_a_seed_other_than_zero_shuffles_the_same_way_each_time() -> None:
    one, again, other = (find_clusters(_graph(1), Communities(seed=seed)) for seed in (3, 3, 4))
    assert one == again != other


_SCRIPT = """
from tests.unit.pipeline.communities.test_communities import _graph, find_clusters, Communities
print([find_clusters(_graph(seed), Communities()) for seed in range(3)])
"""


def test_the_hash_of_strings_does_not_matter() -> None:
    found = {
        subprocess.run(
            [sys.executable, "-c", _SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(found) == 1 and "Clusters(" in found.pop()


def test_louvain_divides_graphs_in_arrays() -> None:
    chance = random.Random(5)
    names = [f"d{number:03}" for number in range(500)]
    graph = link_graph(
        [doc_id("c", name) for name in names], [edge(*chance.sample(names, 2)) for _ in range(4_000)]
    )
    tracemalloc.start()
    find_clusters(graph, Communities())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 450 * len(graph.source), "bytes an edge: about a thousand with one of networkx"
