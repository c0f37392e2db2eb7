"""The graph that python-louvain reads, in arrays: one of networkx takes a dozen times as much memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from scipy import sparse

Data: TypeAlias = Mapping[str, float]


class CompactGraph:
    """What python-louvain calls of ``networkx.Graph``, for a symmetric matrix of weights without loops.

    Nodes are rows, in the order given, and so are the neighbours of each. It is only read, and its own copy.
    """

    def __init__(self, weights: sparse.csr_matrix, order: npt.NDArray[np.int64]) -> None:
        self._order, self._rank = order, np.argsort(order, kind="stable")
        pairs = weights.tocoo()
        by_row = np.lexsort((self._rank[pairs.col], pairs.row))
        self._starts, self._neighbours = weights.indptr, pairs.col[by_row]
        self._weights = pairs.data[by_row]
        self._degrees = np.asarray(weights.sum(axis=1), dtype=np.float64).ravel()
        self._data = {weight: {"weight": weight} for weight in np.unique(self._weights).tolist()}

    def is_directed(self) -> bool:
        """Return that it is not."""
        return False

    def copy(self) -> CompactGraph:
        """Return the graph itself."""
        return self

    def nodes(self) -> list[int]:
        """Return the nodes in order."""
        nodes: list[int] = self._order.tolist()
        return nodes

    def __iter__(self) -> Iterator[int]:
        return iter(self.nodes())

    def number_of_edges(self) -> int:
        """Return how many pairs of nodes are linked."""
        return len(self._weights) // 2

    def size(self, weight: str) -> float:  # noqa: ARG002  # all have one
        """Return the sum of the weights of all edges."""
        return float(self._weights.sum()) / 2

    def degree(self, node: int, weight: str) -> float:  # noqa: ARG002
        """Return the sum of the weights of a node's edges."""
        return float(self._degrees[node])

    def __getitem__(self, node: int) -> dict[int, Data]:
        own = slice(self._starts[node], self._starts[node + 1])
        data = map(self._data.__getitem__, self._weights[own].tolist())
        return dict(zip(self._neighbours[own].tolist(), data, strict=True))

    def edges(self, data: bool) -> Iterator[tuple[int, int, Data]]:  # noqa: ARG002
        """Yield each edge once, from the node that comes first."""
        for node in self.nodes():
            for other, found in self[node].items():
                if self._rank[node] < self._rank[other]:
                    yield node, other, found
