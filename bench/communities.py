"""Communities of the link graphs that a store's snapshots hold, in the order in which those were made."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeAlias, TypeVar

import networkx as nx
import numpy as np
from scipy import sparse

from noctule.artifacts.store.layout import SNAPSHOTS, table_file
from noctule.artifacts.tables.parquet import read_table
from noctule.pipeline.communities.communities import LinkGraph, find_clusters, link_graph
from noctule.pipeline.model import DocId, ResolvedLink
from noctule.pipeline.settings.settings import Communities

_COPIES = 9  # of MDN: the documents of a million passages
Of: TypeAlias = Mapping[DocId, int]
T = TypeVar("T")


def measure() -> None:
    """Modularity, seconds, and documents that keep their community, however they begin, beside networkx's Louvain."""
    graphs = [_graph(folder) for folder in _snapshots(Path(os.environ["NOCTULE_STORE"]))]
    flat = [_without_folders(graph) for graph in graphs]
    for name, states, settings in (
        ("begun with families", graphs, Communities()),
        ("begun with single pages", flat, Communities()),
        ("shuffled", graphs, Communities(seed=1)),
    ):
        before: Of = {}
        for graph in states:
            found, seconds = _timed(partial(find_clusters, graph, settings))
            of = {graph.documents[row]: number for number, rows in found.members.items() for row in rows}
            kept = f"{100 * _kept(before, of):.2f} % kept" if before else ""
            print(
                f"{name}: {len(found.members)} communities, modularity {found.modularity:.4f}, {seconds:.2f} s {kept}"
            )
            before = of
    _reference(graphs[-1])
    many = _side_by_side(graphs[-1], _COPIES)
    found, seconds = _timed(partial(find_clusters, many, Communities()))
    print(
        f"{_COPIES} side by side, {len(many.documents):,} documents: {len(found.members)} communities, {seconds:.1f} s"
    )


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    """What the work gives, and its seconds of processor."""
    start = time.process_time()
    return work(), time.process_time() - start


def _snapshots(store: Path) -> Sequence[Path]:
    return sorted((store / SNAPSHOTS).iterdir(), key=lambda folder: folder.stat().st_mtime)


def _graph(snapshot: Path) -> LinkGraph:
    names = read_table(snapshot / table_file("documents"), ["doc_id"])["doc_id"].to_pylist()
    links = read_table(snapshot / table_file("links")).to_pylist()
    return link_graph(names, (ResolvedLink(**each) for each in links))


def _without_folders(graph: LinkGraph) -> LinkGraph:
    """The graph of documents that all stand at the top, where none is a family."""
    names = tuple(DocId(name.replace("/", " ").replace(":", " ")) for name in graph.documents)
    return replace(graph, documents=names)


def _side_by_side(graph: LinkGraph, copies: int) -> LinkGraph:
    """The graph so many times over, with links from each page to its copies, so that it does not fall apart."""
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
    """The share of documents whose community is, by most of its members, the one that they were in."""
    both = before.keys() & after.keys()
    pairs = Counter((after[name], before[name]) for name in both)
    most: dict[int, int] = {}
    for (now, _), count in pairs.items():
        most[now] = max(most.get(now, 0), count)
    return sum(most.values()) / len(both)


def _reference(graph: LinkGraph) -> None:
    size = len(graph.documents)
    directed = sparse.csr_matrix((graph.weight, (graph.source, graph.target)), shape=(size, size))
    undirected = nx.from_scipy_sparse_array(directed + directed.T)
    found, seconds = _timed(partial(nx.community.louvain_communities, undirected, seed=1))
    print(f"networkx: modularity {nx.community.modularity(undirected, found):.4f}, {seconds:.2f} s")
