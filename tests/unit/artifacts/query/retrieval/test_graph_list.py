"""The graph list: who is reached from the best documents, in which order, and how far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noctule.artifacts.query.index.database import SnapshotDatabase
from noctule.artifacts.store.snapshot import Snapshot
from noctule.pipeline.settings.search import Graph

KINDS = ("wikilink", "transclusion", "link")
WIKILINK, TRANSCLUSION, LINK = range(3)
Edge = tuple[int, int]


class LinkDatabase(SnapshotDatabase):
    """A database of nothing but documents and links, as rows of ``(source_id, target_id, kind)``."""

    def __init__(self, documents: Sequence[str], rows: Sequence[tuple[str, str | None, str]]) -> None:
        super().__init__(cast(Snapshot, None))
        self._connection, self._parts = duckdb.connect(":memory:"), {"tables"}
        self._connection.execute("create table document_rows (document bigint, doc_id varchar)")
        self._connection.execute("create table links (source_id varchar, target_id varchar, kind varchar)")
        self._connection.executemany("insert into document_rows values (?, ?)", list(enumerate(documents)))
        if rows:
            self._connection.executemany("insert into links values (?, ?, ?)", rows)


def links(*edges: Edge, kinds: tuple[int, ...] = (), documents: int = 12) -> SnapshotDatabase:
    """Links between documents by number; wiki links unless kinds are given."""
    named = kinds or (WIKILINK,) * len(edges)
    rows = [(str(a), str(b), KINDS[kind]) for (a, b), kind in zip(edges, named, strict=True)]
    return LinkDatabase([str(number) for number in range(documents)], rows)


def reached(seeds: list[int], graph: SnapshotDatabase, **settings: int) -> list[int]:
    given = Graph.model_validate(settings)
    return graph.neighbours(seeds, given.depth, given.max_links)


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
    assert reached([0], graph, max_links=3) == [1, 2, 3]
    assert reached([11], graph, depth=3, max_links=3) == [1, 0, 2, 3]
    assert len(reached([0], graph)) == 10


def test_documents_without_links_lead_nowhere() -> None:
    assert reached([7], SEEDS_EXAMPLE) == reached([], SEEDS_EXAMPLE) == reached([0], links(documents=1)) == []


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_circle_ends(depth: int) -> None:
    assert reached([0], links((0, 1), (1, 0), (1, 2), (2, 0)), depth=depth) == [1, 2]


def test_the_table_of_links_is_read_without_what_is_no_link_between_two_documents() -> None:
    rows = [
        ("a", "b", "link"),
        ("a", None, "link"),
        ("b", "c", "wikilink"),
        ("c", "c", "wikilink"),
        ("a", "gone", "link"),
        ("a", "c", "image"),
        ("zz", "a", "link"),
    ]
    found = LinkDatabase(["a", "b", "c"], rows)
    assert [reached([document], found) for document in range(3)] == [[1], [2, 0], [1]]


def walked(
    seeds: Sequence[int], edges: Sequence[Edge], kinds: Sequence[int], depth: int, hub: int
) -> list[int]:
    """The neighbours by the definition: every walk from every seed, step by step."""
    best: dict[Edge, int] = {}
    for (a, b), kind in zip(edges, kinds, strict=True):
        for edge in ((a, b), (b, a)):
            if a != b:
                best[edge] = min(best.get(edge, kind), kind)
    found: dict[int, tuple[int, int, int, int]] = {}
    for rank, seed in enumerate(seeds):
        front = {seed}
        for hop in range(depth):
            near = set()
            for document in front:
                followed = sorted((kind, b) for (a, b), kind in best.items() if a == document)[:hub]
                for kind, other in followed:
                    near.add(other)
                    found[other] = min(found.get(other, (rank, hop, kind, other)), (rank, hop, kind, other))
            front = near
    return sorted(set(found) - set(seeds), key=found.__getitem__)


@given(st.data())
def test_sql_walks_as_the_definition_does(data: st.DataObject) -> None:
    numbers = st.integers(0, 7)
    edges = data.draw(st.lists(st.tuples(numbers, numbers), max_size=20))
    kinds = data.draw(st.lists(st.integers(0, 2), min_size=len(edges), max_size=len(edges)))
    seeds = data.draw(st.lists(numbers, unique=True, max_size=4))
    depth, hub = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 5))
    graph = links(*edges, kinds=tuple(kinds), documents=8)
    assert graph.neighbours(seeds, depth, hub) == walked(seeds, edges, kinds, depth, hub)
