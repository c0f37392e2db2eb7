"""Communities of the link graphs that a store's snapshots hold, in the order in which those were made."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import networkx as nx
import numpy as np

from artifacts.layout import table_file
from artifacts.parquet import read_table
from pipeline.communities import LinkGraph, find_clusters
from pipeline.model import DocId
from pipeline.settings import Communities

_COPIES = 9  # of MDN: the documents of a million passages
Of: TypeAlias = Mapping[DocId, int]


def measure() -> None:
    """Modularity, seconds, and documents that keep their community, by name and shuffled, beside networkx's Louvain."""
    graphs = [_graph(folder) for folder in _snapshots(Path(os.environ["NOCTULE_STORE"]))]
    for name, settings in (("by name", Communities()), ("shuffled", Communities(seed=1))):
        before: Of = {}
        for graph in graphs:
            start = time.process_time()
            found = find_clusters(graph, settings)
            seconds = time.process_time() - start
            of = {graph.documents[row]: number for number, rows in found.members.items() for row in rows}
            kept = f"{100 * _kept(before, of):.2f} % kept" if before else ""
            print(
                f"{name}: {len(found.members)} communities, modularity {found.modularity:.4f}, {seconds:.2f} s {kept}"
            )
            before = of
    _reference(graphs[-1])
    many = _side_by_side(graphs[-1], _COPIES)
    start = time.process_time()
    found = find_clusters(many, Communities())
    seconds = time.process_time() - start
    print(
        f"{_COPIES} side by side, {len(many.documents):,} documents: {len(found.members)} communities, {seconds:.1f} s"
    )


def _snapshots(store: Path) -> Sequence[Path]:
    return sorted((store / "snapshots").iterdir(), key=lambda folder: folder.stat().st_mtime)


def _graph(snapshot: Path) -> LinkGraph:
    names = sorted(read_table(snapshot / table_file("documents"), ["doc_id"])["doc_id"].to_pylist())
    links = read_table(snapshot / table_file("links"), ["source_id", "target_id"])
    row = {name: at for at, name in enumerate(names)}
    pairs = zip(links["source_id"].to_pylist(), links["target_id"].to_pylist(), strict=True)
    ends = np.array([(row[a], row[b]) for a, b in pairs if b is not None and a != b]).reshape(-1, 2)
    edges, weight = np.unique(ends, axis=0, return_counts=True)
    return LinkGraph(tuple(names), edges[:, 0], edges[:, 1], weight.astype(np.int64))


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
    undirected: nx.Graph[int] = nx.Graph()
    for a, b, weight in zip(graph.source.tolist(), graph.target.tolist(), graph.weight.tolist(), strict=True):
        known = undirected.get_edge_data(a, b, {"weight": 0})["weight"]
        undirected.add_edge(a, b, weight=known + weight)
    start = time.process_time()
    found = nx.community.louvain_communities(undirected, seed=1)
    seconds = time.process_time() - start
    print(f"networkx: modularity {nx.community.modularity(undirected, found):.4f}, {seconds:.2f} s")
