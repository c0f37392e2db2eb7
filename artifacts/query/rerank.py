"""A cross-encoder reads the best candidates again, and its word is blended with the order so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from artifacts.query.fuse import in_order
from artifacts.query.model import Candidate
from pipeline.search_settings import Rerank


class PairScorer(Protocol):
    """What reranking needs of a model."""

    def relevance(self, query: str, passages: Sequence[str]) -> npt.NDArray[np.float64]:
        """How well each passage answers the query, between 0 and 1."""


def reranked(
    candidates: Sequence[Candidate], relevance: npt.NDArray[np.float64], settings: Rerank
) -> list[Candidate]:
    """The first ``len(relevance)`` candidates in their new order, then the others as they were.

    A candidate at rank ``r`` gets ``b / r + (1 − b) · relevance``: ``b`` falls with the rank, so that the first hit of
    an exact search is not buried by a model that thinks otherwise (as qmd does). The result is spread between the
    score of the first candidate and that of the first one not read, so that one scale holds for all.
    """
    read, rest = candidates[: len(relevance)], candidates[len(relevance) :]
    if not read:
        return list(candidates)
    top, floor = read[0].score, rest[0].score if rest else 0.0
    found = []
    for rank, (candidate, fits) in enumerate(zip(read, relevance.tolist(), strict=True), start=1):
        share = settings.blend[0 if rank <= 3 else 1 if rank <= 10 else 2]
        blended = share / rank + (1 - share) * fits
        factor = (floor + (top - floor) * blended) / candidate.score if candidate.score > 0 else 1.0
        found.append(candidate.times("rerank", factor, f"relevance {fits:.3f} by the cross-encoder"))
    return [*in_order(found), *rest]
