"""The initial partition: the cut of the page tree that has most modularity, whatever the order of looking for
it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import product

import numpy as np
import pytest
from scipy import sparse

from noctule.pipeline.communities.communities import find_clusters, link_graph
from noctule.pipeline.communities.initial_partition import Labels, _tree, initial_partition
from noctule.pipeline.model import DocId, ResolvedLink
from noctule.pipeline.settings.settings import Communities
from tests.repetitions import ALL

SEEDS = range(10 if ALL else 4)
_SITE = tuple(
    map(
        DocId,
        (
            "a:index.md",
            "a:api.md",
            "a:api/one.md",
            "a:api/two/index.md",
            "a:api/two/deep.md",
            "a:guide/README.md",
            "a:guide/first.md",
            "b:notes/alone.md",
            "b:notes/also.md",
        ),
    )
)


def _graph(links: list[tuple[int, int]], size: int) -> sparse.csr_matrix:
    one, two = np.array(links).T
    directed = sparse.csr_matrix((np.ones(len(links)), (one, two)), shape=(size, size))
    return sparse.csr_matrix(directed + directed.T)


def _worth(graph: sparse.csr_matrix, labels: list[int], resolution: float) -> float:
    dense = graph.toarray()
    strength, same = dense.sum(axis=1), np.equal.outer(labels, labels)
    return float(
        (dense[same].sum() - resolution * np.outer(strength, strength)[same].sum() / dense.sum())
        / dense.sum()
    )


def _cuts() -> Iterator[list[int]]:
    """Every choice of places as families, written out by hand: the topmost of those that are chosen
    counts.
    """
    places = [
        set(range(7)),  # a
        {1, 2, 3, 4},  # a:api
        {3, 4},  # a:api/two
        {5, 6},  # a:guide
        {7, 8},  # b, and b:notes, which has the same pages
    ]
    for chosen in product((False, True), repeat=len(places)):
        labels = list(range(len(_SITE)))
        for number in reversed(range(len(places))):
            if chosen[number]:
                labels = [100 + number if row in places[number] else each for row, each in enumerate(labels)]
        yield labels


def _same(one: Labels, other: list[int]) -> bool:
    return bool((np.equal.outer(one, one) == np.equal.outer(other, other)).all())


@pytest.mark.parametrize("resolution", [0.5, 1.0, 1.5, 3.0])
@pytest.mark.parametrize("seed", range(8))
def test_no_other_cut_of_the_tree_is_worth_more(seed: int, resolution: float) -> None:
    chance = np.random.default_rng(seed)
    pairs = chance.integers(len(_SITE), size=(24, 2))
    links = [(int(a), int(b)) for a, b in pairs if a != b] + [(row, (row + 1) % 9) for row in range(9)]
    graph = _graph(links, len(_SITE))
    found = initial_partition(_SITE, graph, resolution)
    best = max(_cuts(), key=lambda labels: _worth(graph, labels, resolution))
    assert _worth(graph, found.tolist(), resolution) == pytest.approx(_worth(graph, best, resolution))
    assert any(_same(found, cut) for cut in _cuts())


def test_a_page_that_is_linked_with_those_below_it_is_their_family() -> None:
    graph = _graph([(1, 2), (1, 3), (2, 3), (3, 4), (2, 4), (0, 1), (5, 6), (7, 8), (0, 7)], len(_SITE))
    assert initial_partition(_SITE, graph, 1.0).tolist() == [0, 1, 1, 1, 1, 2, 2, 3, 3]


def test_one_collection_without_folders_begins_page_by_page() -> None:
    names = tuple(DocId(f"vault:{letter}.md") for letter in "abcdef")
    graph = _graph([(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (2, 3)], 6)
    assert initial_partition(names, graph, 3.0).tolist() == [0, 1, 2, 3, 4, 5]


def test_names_without_folders_or_collections_are_read_too() -> None:
    names = tuple(map(DocId, ("a", "b:index.md", "c:.md", "index")))
    assert initial_partition(names, _graph([(0, 1), (2, 3)], 4), 1.0).tolist() == [0, 1, 2, 3]


def test_a_collection_among_others_may_be_a_family() -> None:
    names = tuple(DocId(f"{collection}:{page}.md") for collection in "abcdefgh" for page in "xyz")
    links = [pair for at in range(0, 24, 3) for pair in ((at, at + 1), (at + 1, at + 2), (at, at + 2))]
    assert initial_partition(names, _graph(links, 24), 3.0).tolist() == np.repeat(np.arange(8), 3).tolist()


def test_pages_of_any_depth_are_read() -> None:
    deep = (DocId(f"a:{'d/' * 1_500}{name}.md") for name in "xyz")
    names = (*deep, *(DocId(f"a:near/{name}.md") for name in "xyz"))
    triangles = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (2, 3)]
    assert initial_partition(names, _graph(triangles, 6), 1.0).tolist() == [0, 0, 0, 1, 1, 1]
    # One deep path makes the ways of all documents that long.
    assert _tree(names).ways.shape == (6, 32)


def _site(seed: int, folders: int = 60, pages: int = 12) -> tuple[tuple[DocId, ...], list[tuple[int, int]]]:
    """Ten folders of twelve pages in each of six, and links: half to the same folder, half to one of those
    near.
    """
    chance = np.random.default_rng(seed)
    names = tuple(
        DocId(f"a:{folder // 10}/{folder:02}/{page:02}.md")
        for folder in range(folders)
        for page in range(pages)
    )
    here = np.repeat(np.arange(folders * pages), 3)
    step = np.where(chance.random(len(here)) < 0.5, 0, chance.integers(-6, 7, size=len(here)))
    there = (here // pages + step) % folders * pages + chance.integers(pages, size=len(here))
    pairs = [pair for pair in zip(here.tolist(), there.tolist(), strict=True) if pair[0] != pair[1]]
    return names, pairs + [(row, row + 1) for row in range(0, len(names), 2)]


def _moved(seed: int, named: Callable[[DocId], DocId], settings: Communities) -> int:
    """Documents that are in other company once three links are gone, by the names that they have."""
    names, links = _site(seed)
    before, after = (_company([named(name) for name in names], each, settings) for each in (links, links[3:]))
    most: dict[int, int] = {}
    for (number, _), count in Counter((before[name], after[name]) for name in before).items():
        most[number] = max(most.get(number, 0), count)
    return len(before) - sum(most.values())


def _company(
    names: Sequence[DocId], links: Sequence[tuple[int, int]], settings: Communities
) -> dict[DocId, int]:
    """The number of each document's community."""
    resolved = (ResolvedLink(names[a], names[b], "", "link", "", "", 0, "resolved") for a, b in links)
    graph = link_graph(names, resolved)
    members = find_clusters(graph, settings).members
    return {graph.documents[row]: number for number, rows in members.items() for row in rows}


def _in_one_folder(name: DocId) -> DocId:
    return DocId(f"a:{name[2:].replace('/', ' ')}")


def test_communities_of_pages_in_folders_change_less_when_links_do() -> None:
    in_folders = sum(_moved(seed, lambda name: name, Communities()) for seed in SEEDS)
    in_one = sum(_moved(seed, _in_one_folder, Communities()) for seed in SEEDS)
    shuffled = sum(_moved(seed, lambda name: name, Communities(seed=7)) for seed in SEEDS)
    assert in_folders < 0.65 * in_one
    assert in_folders < 0.65 * shuffled
