"""Maximal marginal relevance: what is chosen next is relevant, and unlike what was chosen before."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..model import Candidate


def diversified(
    candidates: Sequence[Candidate],
    relevance: npt.NDArray[np.float64],
    vectors: npt.NDArray[np.float32],
    balance: float,
    count: int,
) -> list[Candidate]:
    """The ``count`` candidates that maximal marginal relevance takes, in the order of taking; then the others.

        argmax  balance · relevance(d) − (1 − balance) · max similarity(d, taken)

    Carbonell and Goldstein 1998. Both parts are in [0, 1]: ``relevance`` is a share of the most, similarity a cosine
    (0 at least, and for the first). Ties go to the earlier candidate.
    """
    left = list(range(len(candidates)))
    nearest = np.zeros(len(candidates))
    taken: list[Candidate] = []
    while left and len(taken) < count:
        value = balance * relevance[left] - (1 - balance) * nearest[left]
        at = left.pop(int(np.argmax(value)))
        note = f"mmr: relevance {relevance[at]:.3f}, nearest before it {nearest[at]:.3f}"
        taken.append(candidates[at].noting(note))
        nearest = np.maximum(nearest, vectors @ vectors[at])
    return [*taken, *(candidates[at] for at in left)]
