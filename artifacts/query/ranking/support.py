"""A document of which several passages were found counts more than one of which a single passage was."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..model import Candidate
from .fuse import in_order


def support_documents(
    candidates: Sequence[Candidate],
    document_of: npt.NDArray[np.int32],
    passages: npt.NDArray[np.int32],
    share: float,
) -> list[Candidate]:
    """Each document's best passage, times ``1 + share · second / best``; the others keep their score.

    Callan 1994 and many since: the best passage finds a document, the next ones confirm it. A document that has
    but one passage (``passages`` counts them) needs no second, or short documents would lose to long ones.
    """
    best: dict[int, int] = {}
    second: dict[int, float] = {}
    for at, candidate in enumerate(candidates):
        document = int(document_of[candidate.row])
        if document in best:
            second.setdefault(document, candidate.score)
        else:
            best[document] = at
    supported = list(candidates)
    for document, at in best.items():
        first = candidates[at]
        alone = passages[document] == 1
        confirmed = first.score if alone else second.get(document, 0.0)
        if first.score > 0 and confirmed > 0:
            because = "it is its whole document" if alone else "another passage of its document was found"
            supported[at] = first.times("support", 1 + share * confirmed / first.score, because)
    return in_order(supported)
