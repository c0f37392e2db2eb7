"""Documents that changed lately count more."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import numpy as np
import numpy.typing as npt

from ....pipeline.settings.search import Recency
from ..model import Candidate
from .fuse import in_order


def boost_recent(
    candidates: Sequence[Candidate],
    document_of: npt.NDArray[np.int32],
    modified: npt.NDArray[np.datetime64],
    today: date,
    tiers: Recency,
    bias: float,
) -> list[Candidate]:
    """Candidates times the factor of the first tier that their document's age in days does not pass.

    ``bias`` scales what a factor adds: 1 takes the factors as they stand, 0 none. A document without a date, or
    with one to come, is of no tier.
    """
    now = np.datetime64(today, "D")
    return in_order(_boosted(each, modified[document_of[each.row]], now, tiers, bias) for each in candidates)


def _boosted(
    candidate: Candidate, day: np.datetime64, now: np.datetime64, tiers: Recency, bias: float
) -> Candidate:
    if np.isnat(day):
        return candidate
    factor = 1 + bias * (tier_factor(int((now - day).astype(int)), tiers) - 1)
    return candidate if factor == 1 else candidate.times("recency", factor, f"changed {day}")


def tier_factor(age_days: int, tiers: Recency) -> float:
    """The factor for an age in days; 1 beyond the last tier, and for a day to come."""
    if age_days < 0:
        return 1.0
    fitting = (factor for days, factor in zip(tiers.days, tiers.factors, strict=True) if age_days <= days)
    return next(fitting, 1.0)
