"""Communities of real link graphs: their modularity, and how many documents stay together over nights."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import TypeAlias, TypeVar

import networkx as nx
import numpy as np
from community import best_partition, modularity

from bench.corpora import corpus, settings_file
from bench.nights import apply, archives, read_night
from noctule.artifacts.store.store import Store
from noctule.flows.engines.open import opened
from noctule.flows.graph import BUILD
from noctule.flows.run.background import Background
from noctule.flows.run.context import BuildOptions, Resources, RunContext
from noctule.flows.run.executor import Execution
from noctule.flows.run.plain import PlainDriver
from noctule.flows.run.stage import Silent
from noctule.pipeline.communities.communities import LinkGraph, find_clusters
from noctule.pipeline.model import DocId
from noctule.pipeline.settings.reading import load
from noctule.pipeline.settings.settings import Communities, Settings

_SMALL = ("foam", "dendron", "rust", "fastapi")
_SEEDS = 21
_SEEDS_OF_MDN = 5
_COPIES = 9  # of MDN: the documents of a million passages
Of: TypeAlias = Mapping[DocId, int]
T = TypeVar("T")


def measure() -> None:
    """Compare modularity with python-louvain's from single pages; follow MDN's nights; time nine MDNs."""
    with tempfile.TemporaryDirectory() as folder:
        for name in _SMALL:
            _compare(name, _graph(load(settings_file(name)), Path(folder) / name), _SEEDS)
        states = list(_mdn_by_night(Path(folder)))
    _compare("mdn", states[0], _SEEDS_OF_MDN)
    for name, graphs, settings in (
        ("as it is", states, Communities()),
        ("begun with single pages", [_without_folders(graph) for graph in states], Communities()),
        ("shuffled", states, Communities(seed=1)),
    ):
        found = [_company(graph, settings) for graph in graphs]
        kept = [_kept(before, after) for before, after in pairwise(found)]
        shown = " ".join(f"{100 * each:.2f}" for each in kept)
        print(
            f"{name}: {shown} % kept, median {100 * median(kept):.2f}, worst {100 * min(kept):.2f}",
            flush=True,
        )
    many = _side_by_side(states[0], _COPIES)
    clusters, seconds = _timed(partial(find_clusters, many, Communities()))
    print(
        f"{_COPIES} side by side, {len(many.source):,} edges: "
        f"modularity {clusters.modularity:.4f}, {seconds:.0f} s"
    )


def _compare(name: str, graph: LinkGraph, seeds: int) -> None:
    undirected = _undirected(graph)
    scratch, spent = _timed(
        lambda: [
            modularity(best_partition(undirected, random_state=seed), undirected) for seed in range(seeds)
        ]
    )
    found, seconds = _timed(partial(find_clusters, graph, Communities()))
    print(
        f"{name}: {len(found.members)} communities, modularity {found.modularity:.4f} in {seconds:.1f} s; "
        f"from single pages, {seeds} seeds: median {median(scratch):.4f}, "
        f"most {max(scratch):.4f}, {spent / seeds:.1f} s each",
        flush=True,
    )


def _undirected(graph: LinkGraph) -> nx.Graph:
    undirected = nx.Graph()
    for one, other, weight in zip(
        graph.source.tolist(), graph.target.tolist(), graph.weight.tolist(), strict=True
    ):
        known = undirected.get_edge_data(one, other, {"weight": 0})["weight"]
        undirected.add_edge(one, other, weight=known + weight)
    return undirected


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    """Return what the work gives, and its seconds of processor."""
    start = time.process_time()
    return work(), time.process_time() - start


def _mdn_by_night(folder: Path) -> Iterator[LinkGraph]:
    """Yield the link graph of MDN, and that after each of its nights."""
    root = shutil.copytree(corpus("mdn"), folder / "mdn")
    given = load(settings_file("mdn"))
    collection = given.collections["mdn"].model_copy(update={"root": str(root)})
    settings = given.model_copy(update={"collections": {"mdn": collection}})
    yield _graph(settings, folder / "store")
    for archive in archives():
        apply(root, read_night(archive))
        yield _graph(settings, folder / "store")


def _graph(settings: Settings, folder: Path) -> LinkGraph:
    """Run the build up to the link graph; nothing is encoded."""
    folder.mkdir(exist_ok=True)
    store, driver = Store(folder), PlainDriver()
    run = RunContext(settings, folder, BuildOptions(accept_shrink=True))
    with Background() as background, store.lock("index"), opened(settings, store) as engine:
        resources = Resources(driver, Silent(), background)
        given = {"run": run, "store": store, "engine": engine, "resources": resources}
        with Execution(BUILD, given, driver, background, ("link_graph",)) as execution:
            graph: LinkGraph = execution.make("link_graph")
            return graph


def _company(graph: LinkGraph, settings: Communities) -> Of:
    members = find_clusters(graph, settings).members
    return {graph.documents[row]: number for number, rows in members.items() for row in rows}


def _without_folders(graph: LinkGraph) -> LinkGraph:
    """Return the graph of documents that all stand at the top of their page tree."""
    names = tuple(DocId(name.replace("/", " ").replace(":", " ")) for name in graph.documents)
    return replace(graph, documents=names)


def _side_by_side(graph: LinkGraph, copies: int) -> LinkGraph:
    """Return the graph so many times over, each page linked with its copies so that it holds together."""
    count = len(graph.documents)
    names = tuple(DocId(f"{copy}:{name}") for copy in range(copies) for name in graph.documents)
    offset = np.repeat(np.arange(copies) * count, len(graph.source))
    every = np.arange(count * (copies - 1))
    return LinkGraph(
        names,
        np.concatenate([np.tile(graph.source, copies) + offset, every]),
        np.concatenate([np.tile(graph.target, copies) + offset, every + count]),
        np.concatenate([np.tile(graph.weight, copies), np.ones(len(every), np.int64)]),
    )


def _kept(before: Of, after: Of) -> float:
    """Return the share of documents whose community is, by most of its members, the one that they were in."""
    both = before.keys() & after.keys()
    pairs = Counter((after[name], before[name]) for name in both)
    most: dict[int, int] = {}
    for (now, _), count in pairs.items():
        most[now] = max(most.get(now, 0), count)
    return sum(most.values()) / len(both)
