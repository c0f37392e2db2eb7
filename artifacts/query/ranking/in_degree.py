"""Documents that many others link to count more."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..model import Candidate
from .fuse import in_order


def boost_linked(
    candidates: Sequence[Candidate],
    document_of: npt.NDArray[np.int32],
    links_in: npt.NDArray[np.int32],
    share: float,
) -> list[Candidate]:
    """Candidates times ``1 + share · ln(1 + n)``, n being the documents that link to theirs.

    A prior on the query-independent worth of a page, as in Kraaij, Westerveld, Hiemstra 2002: links are votes, and
    the tenth tells less than the first.
    """
    return in_order(_boosted(each, int(links_in[document_of[each.row]]), share) for each in candidates)


def _boosted(candidate: Candidate, links: int, share: float) -> Candidate:
    if links <= 0:
        return candidate
    because = f"{links} document{'s' if links > 1 else ''} link{'' if links > 1 else 's'} here"
    return candidate.times("in_degree", 1 + share * math.log1p(links), because)
