"""A cross-encoder reads the best candidates again, and its word is blended with the order so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ....pipeline.settings.search import Rerank
from ..model import Candidate
from .fuse import in_order


class PairScorer(Protocol):
    """What reranking needs of a model."""

    def relevance(self, query: str, passages: Sequence[str]) -> npt.NDArray[np.float64]:
        """How well each passage answers the query, between 0 and 1."""


def reranked(
    candidates: Sequence[Candidate], relevance: npt.NDArray[np.float64], settings: Rerank
) -> list[Candidate]:
    """The first ``len(relevance)`` candidates in their new order, then the others as they were.

    A candidate at rank ``r`` that is the model's ``m``-th gets ``b / r + (1 − b) / m``: ``b`` falls with the rank, so
    that the first hit of an exact search is not buried by a model that thinks otherwise (qmd adds the relevance
    itself, and so turns the order round where ``b`` falls, though all be equally relevant). The result is spread
    between the score of the first candidate and that of the first one not read, so that one scale holds for all.
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
