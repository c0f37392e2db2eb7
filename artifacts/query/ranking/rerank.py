"""Reordering of the best candidates: by a cross-encoder, or so that each is unlike those before it (MMR)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ....pipeline.settings.search import Rerank
from ..model import Candidate
from .fuse import in_order


class PairScorer(Protocol):
    """Scores pairs of a query and a passage, as a cross-encoder does."""

    def relevance(self, query: str, passages: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return how well each passage answers the query, between 0 and 1."""


def reranked(
    candidates: Sequence[Candidate], relevance: npt.NDArray[np.float64], settings: Rerank
) -> list[Candidate]:
    """Reorder the first ``len(relevance)`` candidates by blended rank; the others follow as they were.

    A candidate at rank ``r`` that is the model's ``m``-th gets ``b / r + (1 − b) / m``. ``b`` falls with the
    rank, so that a model that disagrees does not bury the first hit of an exact search. (qmd adds the
    relevance itself, which reverses the order where ``b`` falls, even if all are equally relevant.) The
    result is spread between the score of the first candidate and that of the first one not read, so that one
    scale holds for all.
    """
    read, rest = candidates[: len(relevance)], candidates[len(relevance) :]
    if not read:
        return list(candidates)
    top, floor = read[0].score, rest[0].score if rest else 0.0
    place = np.empty(len(read))
    place[np.argsort(-relevance, kind="stable")] = np.arange(1, len(read) + 1)
    found = []
    for rank, (candidate, fits) in enumerate(zip(read, relevance.tolist(), strict=True), start=1):
        share = settings.blend[0 if rank <= 3 else 1 if rank <= 10 else 2]
        blended = share / rank + (1 - share) / float(place[rank - 1])
        factor = (floor + (top - floor) * blended) / candidate.score if candidate.score > 0 else 1.0
        found.append(candidate.times("rerank", factor, f"relevance {fits:.3f} by the cross-encoder"))
    return [*in_order(found), *rest]


def diversified(
    candidates: Sequence[Candidate],
    relevance: npt.NDArray[np.float64],
    vectors: npt.NDArray[np.float32],
    balance: float,
    count: int,
) -> list[Candidate]:
    """Return the ``count`` candidates that maximal marginal relevance takes, then the others.

        argmax  balance · relevance(d) − (1 − balance) · max similarity(d, taken)

    Carbonell and Goldstein 1998. Both parts are in [0, 1]: ``relevance`` is a share of the most, similarity a
    cosine (0 at least, and for the first). Ties go to the earlier candidate.
    """
    left = list(range(len(candidates)))
    nearest = np.zeros(len(candidates))
    taken: list[Candidate] = []
    while left and len(taken) < count:
        value = balance * relevance[left] - (1 - balance) * nearest[left]
        at = left.pop(int(np.argmax(value)))
        note = f"mmr: relevance {relevance[at]:.3f}, nearest before it {nearest[at]:.3f}"
        taken.append(candidates[at].with_note(note))
        nearest = np.maximum(nearest, vectors @ vectors[at])
    return [*taken, *(candidates[at] for at in left)]
