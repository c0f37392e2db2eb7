"""The partition that Louvain starts from: branches of the page tree whose pages link to one another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..address import INDEX_NAMES
from ..model import DocId

if TYPE_CHECKING:
    from scipy import sparse

Labels = npt.NDArray[np.int64]
Weights = npt.NDArray[np.float64]
Places = npt.NDArray[np.int32]
_NOWHERE = -1
# Deeper pages count as lying there: one path of two thousand folders must not make all others as long.
_DEEPEST = 32
# Less is the order of addition, at resolutions that anybody uses; beyond, it decides ties alone.
_LEAST = 1e-12


@dataclass(frozen=True, slots=True)
class _Tree:
    """Places by number: each document's path from the root, and each place's parent.

    A path is filled up with ``_NOWHERE`` below the document's own place.
    """

    ways: Places
    above: Places

    def levels(self) -> list[Places]:
        """Return the places at each depth."""
        return [np.setdiff1d(level, _NOWHERE) for level in self.ways.T]


def initial_partition(documents: Sequence[DocId], graph: sparse.csr_matrix, resolution: float) -> Labels:
    """Return a label from 0 on for each row of a symmetric matrix of weights, in the order of the rows.

    Of all ways to cut the page tree so that each part is a page with everything below it, or a page alone,
    take the one of highest modularity at this resolution: ``Σ w_c / Σ w − resolution · (s_c / Σ s)²`` over
    parts, where ``w_c`` is the weight inside and ``s_c`` that of all its links. Modularity is a sum over
    parts, so the best cut is found from the leaves up.
    """
    tree = _tree(documents)
    whole, alone = _worth(tree, graph, resolution)
    split, is_one = alone, np.zeros(len(whole), dtype=bool)
    for places in reversed(tree.levels()):
        is_one[places] = whole[places] > split[places] + _LEAST
        best = np.where(is_one[places], whole[places], split[places])
        inner = tree.above[places] != _NOWHERE
        np.add.at(split, tree.above[places[inner]], best[inner])
    return _in_order(_heads(tree, is_one))


def strengths(graph: sparse.csr_matrix) -> Weights:
    """Return the sum of the weights of each row."""
    return np.asarray(graph.sum(axis=1), dtype=np.float64).ravel()


def _tree(documents: Sequence[DocId]) -> _Tree:
    numbers: dict[tuple[str, ...], int] = {}
    above: list[int] = []
    ways: list[list[int]] = []
    for document in documents:
        names, way = _place(document)[:_DEEPEST], [_NOWHERE]
        for depth in range(1, len(names) + 1):
            number = numbers.setdefault(names[:depth], len(numbers))
            if number == len(above):
                above.append(way[-1])
            way.append(number)
        ways.append(way[1:])
    padded = np.full((len(ways), max(map(len, ways))), _NOWHERE, dtype=np.int32)
    for row, way in enumerate(ways):
        padded[row, : len(way)] = way
    return _Tree(padded, np.array(above, dtype=np.int32))


def _place(document: DocId) -> tuple[str, ...]:
    """Return collection, folders and name without its ending; an index or README stands for its folder."""
    names = PurePosixPath(document.replace(":", "/", 1)).with_suffix("").parts
    return names[:-1] if len(names) > 1 and names[-1].lower() in INDEX_NAMES else names


def _worth(tree: _Tree, graph: sparse.csr_matrix, resolution: float) -> tuple[Weights, Weights]:
    """Return what each place adds to modularity as one part, and what its own documents add alone."""
    strength = strengths(graph)
    total, places, pairs = float(strength.sum()), len(tree.above), graph.tocoo()
    inside, links = np.zeros(places), np.zeros(places)
    for level in tree.ways.T:
        there = level != _NOWHERE
        links += np.bincount(level[there], strength[there], places)
        both = (level[pairs.row] == level[pairs.col]) & there[pairs.row]
        inside += np.bincount(level[pairs.row[both]], pairs.data[both], places)
    own = tree.ways[np.arange(len(tree.ways)), (tree.ways != _NOWHERE).sum(axis=1) - 1]
    alone = -resolution * np.bincount(own, (strength / total) ** 2, places)
    whole = inside / total - resolution * (links / total) ** 2
    return whole.astype(np.float64), alone.astype(np.float64)


def _heads(tree: _Tree, is_one: npt.NDArray[np.bool_]) -> Labels:
    """Return the topmost place of each document that is one part, or a unique number if there is none."""
    heads = len(is_one) + np.arange(len(tree.ways))
    for level in reversed(tree.ways.T):
        found = (level != _NOWHERE) & is_one[level]
        heads[found] = level[found]
    return heads


def _in_order(labels: Labels) -> Labels:
    """Return the same parts, numbered as they come."""
    _, first, found = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[found]
