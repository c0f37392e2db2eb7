"""A weighted graph falls into communities of high modularity: Louvain, and documents one by one, by turns.

    gain(i → c) = w(i, c) − resolution · s_i · S_c / Σ s

``w(i, c)`` is the weight between document ``i`` and community ``c``, ``s_i`` the sum of its weights, and ``S_c`` that of
the community without it: twice the gain of modularity (Newman 2006), times the weight of the graph.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..settings.settings import Communities

Labels = npt.NDArray[np.int64]
Weights = npt.NDArray[np.float64]
# The library counts in 32 bits: gains of modularity below these are rounding.
_LEAST_OF_A_PASS, _LEAST_OF_A_LEVEL = 1e-6, 1e-7
# In links, which are counted in 64.
_LEAST_GAIN = 1e-6


def partition(graph: sparse.csr_matrix, begun: Labels, settings: Communities) -> Labels:
    """A label from 0 on for each row of a symmetric matrix of weights, of which every row has one.

    Louvain joins what ``begun`` has together, and whole communities are all that it moves. So documents that are better
    off elsewhere move after it, communities fall into the parts that the links inside them show, parts join, documents
    move again, and communities join once more. Whatever modularity the first round had: a choice between the two would
    be another one some night.
    """
    labels = _settled(graph, _joined(graph, begun, settings), settings.resolution)
    labels = _settled(graph, _joined(graph, _parts(graph, labels, settings), settings), settings.resolution)
    return _joined(graph, labels, settings)


def modularity(graph: sparse.csr_matrix, labels: Labels) -> float:
    """The share of the weight that lies inside communities, less the share that chance would put there."""
    strength = strengths(graph)
    shares = np.bincount(labels, strength) / strength.sum()
    return float(inside(graph, labels).sum() / strength.sum() - (shares**2).sum())


def inside(graph: sparse.csr_matrix, labels: Labels) -> Weights:
    """The weight between each row and the others of its community."""
    return strengths(_within(graph, labels))


def strengths(graph: sparse.csr_matrix) -> Weights:
    """The sum of the weights of each row."""
    return np.asarray(graph.sum(axis=1), dtype=np.float64).ravel()


def _joined(graph: sparse.csr_matrix, labels: Labels, settings: Communities) -> Labels:
    member = _membership(labels)
    return _louvain(sparse.csr_matrix(member.T @ graph @ member), settings)[labels]


def _parts(graph: sparse.csr_matrix, labels: Labels, settings: Communities) -> Labels:
    """What communities fall into where links between them count for nothing."""
    within = _within(graph, labels)
    return _louvain(within, settings) if within.nnz else np.arange(len(labels))


def _within(graph: sparse.csr_matrix, labels: Labels) -> sparse.csr_matrix:
    """The graph without the links between communities."""
    pairs = graph.tocoo()
    same = labels[pairs.row] == labels[pairs.col]
    return sparse.csr_matrix((pairs.data[same], (pairs.row[same], pairs.col[same])), shape=graph.shape)


def _louvain(graph: sparse.csr_matrix, settings: Communities) -> Labels:
    """Rows are visited in order: a shuffle is another one when there is a document more."""
    from sknetwork.clustering import Louvain

    found = Louvain(
        settings.resolution,
        modularity="newman",
        tol_optimization=_LEAST_OF_A_PASS,
        tol_aggregation=_LEAST_OF_A_LEVEL,
        shuffle_nodes=bool(settings.seed),
        sort_clusters=False,  # equal sizes would stand in an order that hangs on the processor
        random_state=settings.seed,
        return_probs=False,
        return_aggregate=False,
    ).fit_predict(graph)
    return np.asarray(found, dtype=np.int64)


def _settled(graph: sparse.csr_matrix, labels: Labels, resolution: float) -> Labels:
    """The labels after every document that gains by it has moved, one by one and in order, until none does."""
    moved = labels.copy()
    strength = strengths(graph)
    share = resolution * strength / strength.sum()
    total = np.bincount(labels, strength).astype(np.float64)
    while sum(
        _moves(row, graph, moved, strength, share, total)
        for row in _restless(graph, moved, strength, share, total)
    ):
        pass
    return np.unique(moved, return_inverse=True)[1].astype(np.int64)


def _restless(
    graph: sparse.csr_matrix, labels: Labels, strength: Weights, share: Weights, total: Weights
) -> list[int]:
    """The rows that would gain by going elsewhere, all the others staying."""
    to = sparse.csr_matrix(graph @ _membership(labels))
    row = np.repeat(np.arange(len(labels)), np.diff(to.indptr))
    at_home = to.indices == labels[row]
    gain = to.data - share[row] * (total[to.indices] - at_home * strength[row])
    stays = -share * (total[labels] - strength)
    stays[row[at_home]] = gain[at_home]
    return np.flatnonzero(np.maximum.reduceat(gain, to.indptr[:-1]) > stays + _LEAST_GAIN).tolist()


def _moves(
    row: int, graph: sparse.csr_matrix, labels: Labels, strength: Weights, share: Weights, total: Weights
) -> bool:
    """Whether the row goes elsewhere, as the others are now; if so ``labels`` and ``total`` are changed."""
    home, own = labels[row], slice(graph.indptr[row], graph.indptr[row + 1])
    near, place = np.unique(labels[graph.indices[own]], return_inverse=True)
    at_home = near == home
    gain = np.bincount(place, graph.data[own]) - share[row] * (total[near] - at_home * strength[row])
    stays = gain[at_home].sum() if at_home.any() else -share[row] * (total[home] - strength[row])
    best = near[np.argmax(gain)]
    if gain.max() <= stays + _LEAST_GAIN:
        return False
    labels[row] = best
    total[home] -= strength[row]
    total[best] += strength[row]
    return True


def _membership(labels: Labels) -> sparse.csr_matrix:
    """A one for each row, in the column of its label."""
    rows = len(labels)
    return sparse.csr_matrix((np.ones(rows), labels, np.arange(rows + 1)), shape=(rows, labels.max() + 1))
