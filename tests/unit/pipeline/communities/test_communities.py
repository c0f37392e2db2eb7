"""Communities are the same whatever order the graph came in, and are named by what sets them apart."""

from __future__ import annotations

import random
import zlib
from collections.abc import Mapping, Sequence

from noctule.pipeline.communities.communities import LinkGraph, Partition, find_clusters, link_graph, named
from noctule.pipeline.identity import doc_id
from noctule.pipeline.model import DocId, ResolvedLink
from noctule.pipeline.settings.settings import Communities


def edge(a: str, b: str) -> ResolvedLink:
    return ResolvedLink(doc_id("c", a), doc_id("c", b), "", "link", b, "", 0, "resolved")


def find_communities(
    graph: LinkGraph, terms: Mapping[DocId, Sequence[str]], settings: Communities
) -> Partition:
    return named(find_clusters(graph, settings), graph, terms, settings)


CLIQUES = [["a1", "a2", "a3", "a4"], ["b1", "b2", "b3", "b4"]]
EDGES = [edge(x, y) for clique in CLIQUES for x in clique for y in clique if x != y] + [edge("a1", "b1")]
DOCUMENTS = [doc_id("c", name) for clique in CLIQUES for name in clique] + [doc_id("c", "alone")]
TERMS: dict[DocId, list[str]] = {d: ["guide", "apples" if ":a" in d else "boats"] for d in DOCUMENTS}


def test_two_cliques_are_two_communities_numbered_by_the_names_of_their_hubs() -> None:
    found = find_communities(link_graph(DOCUMENTS, EDGES), TERMS, Communities(label_terms=1))
    numbers = {c.label: c.community_id for c in found.communities}
    assert sorted(numbers) == ["apples", "boats"]
    assert found.of[doc_id("c", "a3")] == numbers["apples"] == zlib.crc32(b"c:a1") % 100_000
    assert found.of[doc_id("c", "b2")] == numbers["boats"] == zlib.crc32(b"c:b1") % 100_000
    assert [c.community_id for c in found.communities] == sorted(numbers.values())
    assert doc_id("c", "alone") not in found.of
    assert [c.size for c in found.communities] == [4, 4]


def test_a_community_more_renumbers_no_other() -> None:
    more = [*EDGES, edge("A1", "A2"), edge("A2", "A1")]
    documents = [*DOCUMENTS, doc_id("c", "A1"), doc_id("c", "A2")]
    before = find_communities(link_graph(DOCUMENTS, EDGES), TERMS, Communities()).of
    after = find_communities(link_graph(documents, more), TERMS, Communities()).of
    assert {doc: after[doc] for doc in before} == dict(before)
    assert len(set(after.values())) == 3


def test_the_order_of_documents_and_links_does_not_matter() -> None:
    expected = find_communities(link_graph(DOCUMENTS, EDGES), TERMS, Communities())
    for seed in range(5):
        documents, edges = DOCUMENTS[:], EDGES[:]
        random.Random(seed).shuffle(documents)
        random.Random(seed).shuffle(edges)
        assert find_communities(link_graph(documents, edges), TERMS, Communities()) == expected


def test_a_corpus_without_links_has_no_communities() -> None:
    found = find_communities(link_graph(DOCUMENTS, [edge("a1", "a1")]), TERMS, Communities())
    assert (found.of, found.communities) == ({}, ())


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


def _moved(seed: int, settings: Communities) -> int:
    """Documents of a hamlet that are in another community once three links are gone and two have come."""
    edges = _hamlet(seed)
    documents = sorted({e.source_id for e in edges} | {e.target_id for e in edges if e.target_id})
    changed = [*edges[:-3], edge("d395", "d396"), edge("d396", "new")]
    before = find_communities(link_graph(documents, edges), {}, settings).of
    after = find_communities(link_graph([*documents, doc_id("c", "new")], changed), {}, settings).of
    return sum(before[document] != after.get(document) for document in documents)


def test_a_few_changed_links_leave_most_documents_in_their_communities() -> None:
    by_name = sum(_moved(seed, Communities()) for seed in range(1, 11))
    # A shuffle, however seeded, is another one when there is a document more.
    shuffled = sum(_moved(seed, Communities(seed=7)) for seed in range(1, 11))
    assert by_name < 0.15 * 4_000
    assert shuffled > 1.5 * by_name
