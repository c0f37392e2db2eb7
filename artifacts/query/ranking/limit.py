"""Limits on how much of an answer one document may take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..model import Candidate


def limit_per_document(
    candidates: Sequence[Candidate], document_of: npt.NDArray[np.int32], limit: int
) -> list[Candidate]:
    """The candidates in order, without those after the ``limit`` best of their document (0: no limit)."""
    if limit == 0:
        return list(candidates)
    seen: Counter[int] = Counter()
    kept = []
    for candidate in candidates:
        document = int(document_of[candidate.row])
        seen[document] += 1
        if seen[document] <= limit:
            kept.append(candidate)
    return kept
