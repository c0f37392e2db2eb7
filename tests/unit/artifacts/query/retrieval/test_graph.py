"""The graph list: who is reached from the best documents, in which order, and how far."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from noctule.artifacts.query.index.adjacency import Links, links_of, read_links
from noctule.artifacts.query.retrieval.graph import neighbours
from noctule.pipeline.settings.search import Graph

WIKILINK, TRANSCLUSION, LINK = range(3)


def links(*edges: tuple[int, int], kinds: tuple[int, ...] = (), documents: int = 12) -> Links:
    """Links between documents by number; wiki links unless kinds are given."""
    pairs = np.array(edges, dtype=np.int64).reshape(-1, 2)
    kind = np.array(kinds if kinds else [WIKILINK] * len(edges), dtype=np.int64)
    return links_of(pairs[:, 0], pairs[:, 1], kind, documents)


def reached(seeds: list[int], graph: Links, **settings: int) -> list[int]:
    return neighbours(seeds, graph, Graph.model_validate(settings))


DEPLOYMENT, SECURITY, AUTHENTICATION, CONFIGURATION = range(4)
SEEDS_EXAMPLE = links((DEPLOYMENT, SECURITY), (SECURITY, AUTHENTICATION), (DEPLOYMENT, CONFIGURATION))


def test_one_hop_leaves_out_what_is_two_hops_away() -> None:
    """The seeds' example reaches authentication by way of security, and says that it goes one hop."""
    assert reached([DEPLOYMENT], SEEDS_EXAMPLE) == [SECURITY, CONFIGURATION]


def test_two_hops_bring_it_after_those_that_are_one_away() -> None:
    assert reached([DEPLOYMENT], SEEDS_EXAMPLE, depth=2) == [SECURITY, CONFIGURATION, AUTHENTICATION]


def test_links_are_followed_in_either_direction() -> None:
    assert reached([AUTHENTICATION], SEEDS_EXAMPLE) == [SECURITY]


def test_neighbours_are_ranked_by_their_best_seed() -> None:
    graph = links((5, 9), (5, 8), (3, 7), (3, 9), (3, 1))
    assert reached([3, 5], graph) == [1, 7, 9, 8]
    assert reached([5, 3], graph) == [8, 9, 1, 7]


def test_a_document_near_the_first_seed_comes_before_one_nearer_to_the_second() -> None:
    graph = links((0, 2), (2, 4), (1, 5))
    assert reached([0, 1], graph, depth=2) == [2, 4, 5]


def test_of_one_seeds_neighbours_those_by_wiki_link_come_first_then_by_number() -> None:
    graph = links((0, 1), (0, 2), (0, 3), (0, 4), kinds=(LINK, TRANSCLUSION, WIKILINK, WIKILINK))
    assert reached([0], graph) == [3, 4, 2, 1]


def test_one_hop_by_any_link_comes_before_two_by_wiki_links() -> None:
    graph = links((0, 5), (5, 1), kinds=(LINK, WIKILINK))
    assert reached([0], graph, depth=2) == [5, 1]


def test_of_several_links_between_two_the_first_kind_counts() -> None:
    graph = links((0, 2), (0, 1), (1, 0), kinds=(TRANSCLUSION, LINK, WIKILINK))
    assert reached([0], graph) == [1, 2]
    assert graph.starts[:3].tolist() == [0, 2, 3]


def test_seeds_are_not_among_their_neighbours() -> None:
    graph = links((0, 1), (1, 2), (2, 0))
    assert reached([0, 1, 2], graph) == []
    assert reached([0], graph, depth=3) == [1, 2]


def test_the_order_of_links_in_the_table_does_not_matter() -> None:
    edges = [(0, 3), (0, 5), (1, 4), (5, 6), (4, 6), (2, 0)]
    forward = reached([0, 1], links(*edges), depth=2)
    backward = reached([0, 1], links(*[(b, a) for a, b in reversed(edges)]), depth=2)
    assert forward == backward == [2, 3, 5, 6, 4]


def test_of_a_hub_only_so_many_links_are_followed() -> None:
    graph = links(*[(0, other) for other in range(1, 11)], (1, 11))
    assert reached([0], graph, hub=3) == [1, 2, 3]
    assert reached([11], graph, depth=3, hub=3) == [1, 0, 2, 3]
    assert len(reached([0], graph)) == 10


def test_documents_without_links_lead_nowhere() -> None:
    assert reached([7], SEEDS_EXAMPLE) == reached([], SEEDS_EXAMPLE) == reached([0], links(documents=1)) == []


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_circle_ends(depth: int) -> None:
    assert reached([0], links((0, 1), (1, 0), (1, 2), (2, 0)), depth=depth) == [1, 2]


def test_the_table_of_links_is_read_without_what_is_no_link_between_two_documents() -> None:
    table = pa.table(
        {
            "source_id": ["a", "a", "b", "c", "a", "a", "zz"],
            "target_id": ["b", None, "c", "c", "gone", "c", "a"],
            "kind": ["link", "link", "wikilink", "wikilink", "link", "image", "link"],
        }
    )
    found = read_links(table, pa.array(["a", "b", "c"]))
    assert found.starts.tolist() == [0, 1, 3, 4]
    assert found.target.tolist() == [1, 2, 0, 1]
    assert found.kind.tolist() == [LINK, WIKILINK, LINK, WIKILINK]
