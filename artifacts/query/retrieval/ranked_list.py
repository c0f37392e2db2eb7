"""Scores of passages become a ranked list: the best first, ties by row, none without a positive score."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ..index.postings import PostingList
from ..model import ListName, Mask, RankedList

Ints = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]
Weighted = tuple[PostingList, float]


def add_up(found: Iterable[Weighted], passages: int) -> Scores:
    """Each passage's sum of posting scores, every list times its weight; shape ``(passages,)``."""
    weighted = list(found)
    if not weighted:
        return np.zeros(passages)
    rows = np.concatenate([posting.passages for posting, _ in weighted])
    scores = np.concatenate([posting.scores.astype(np.float64) * weight for posting, weight in weighted])
    return np.bincount(rows, weights=scores, minlength=passages).astype(np.float64, copy=False)


def ranked(name: ListName, scores: Scores, limit: int, allowed: Mask | None, most: float) -> RankedList:
    """The list of the passages with the ``limit`` highest positive scores, of those that are allowed."""
    may = scores if allowed is None else np.where(allowed, scores, 0.0)
    rows = np.flatnonzero(may > 0)
    rows, found = best(rows, may[rows], limit)
    return RankedList(name, rows, found, most, score_of=scores.__getitem__)


def best(rows: Ints, scores: Scores, limit: int) -> tuple[Ints, Scores]:
    """The ``limit`` highest scores in the order ``(-score, row)``."""
    if len(scores) > limit:
        cut = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        rows, scores = rows[scores >= cut], scores[scores >= cut]
    order = np.lexsort((rows, -scores))[:limit]
    return rows[order].astype(np.int64), scores[order]
