"""Cutoffs: where an answer ends, and how much of it one document may take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..model import Candidate
from .fuse import values_of


def limit_per_document(
    candidates: Sequence[Candidate], document_of: npt.NDArray[np.int32], limit: int
) -> list[Candidate]:
    """Keep the ``limit`` best candidates of each document, in their order (0: no limit)."""
    if limit == 0:
        return list(candidates)
    seen: Counter[int] = Counter()
    kept = []
    for candidate, document in zip(candidates, values_of(document_of, candidates), strict=True):
        seen[document] += 1
        if seen[document] <= limit:
            kept.append(candidate)
    return kept


def before_elbow(candidates: Sequence[Candidate], ratio: float, max_results: int) -> list[Candidate]:
    """Keep at most ``max_results`` candidates, up to the first below ``ratio`` times the one before it."""
    return list(candidates[: elbow([candidate.score for candidate in candidates], ratio, max_results)])


def elbow(scores: Sequence[float], ratio: float, max_results: int) -> int:
    """Count the positive scores before the first fall below ``ratio``, at most ``max_results``."""
    for count, score in enumerate(scores[:max_results]):
        if score <= 0 or (count > 0 and score < ratio * scores[count - 1]):
            return count
    return min(len(scores), max_results)
