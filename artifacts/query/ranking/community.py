"""Documents of the communities that the best ones belong to count a little more."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..model import Candidate
from .fuse import in_order


def boost_communities(
    candidates: Sequence[Candidate],
    document_of: npt.NDArray[np.int32],
    community_of: npt.NDArray[np.int32],
    seeds: int,
    factor: float,
) -> list[Candidate]:
    """Candidates whose document shares a community with one of the ``seeds`` best documents, times ``factor``.

    The seeds themselves are not boosted, and nothing enters that was not found; ``community_of`` is -1 for none.
    """
    documents = [int(document_of[candidate.row]) for candidate in candidates]
    best = list(dict.fromkeys(documents))[:seeds]
    communities = {int(community_of[document]) for document in best} - {-1}
    return in_order(
        candidate.times("community", factor, f"community {community_of[document]}")
        if document not in best and int(community_of[document]) in communities
        else candidate
        for candidate, document in zip(candidates, documents, strict=True)
    )
