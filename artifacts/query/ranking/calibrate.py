"""Confidence: the chance that a hit is about what was asked, on a scale from 0 to 1.

A fused score says which passage is best, not whether it is good: the best of nothing is still the best. So
the scores that a hit has in the lists are taken as shares of the most that each list could give (1 for a
cosine; for BM25F the best posting of every word of the query, known here or not), averaged by the lists'
weights, and bent by a sigmoid. Its two numbers are fitted (Platt 1999) to queries that a collection answers
and queries that it cannot answer; others can be read from a file. Reciprocal ranks have no such scores: of
them a hit's share is that of the best possible ranks.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ....pipeline.errors import SettingsError
from ....pipeline.settings.search import Calibrate
from ..model import Candidate

_MAX_FILE_BYTES = 100_000


@dataclass(frozen=True, slots=True)
class Curve:
    """A sigmoid over the share of what can be had: ``1 / (1 + exp(-steepness · (share - threshold)))``."""

    steepness: float
    threshold: float
    fitted_on: str = ""

    def at(self, share: float) -> float:
        """Return the confidence of a share."""
        return sigmoid(share, self.steepness, self.threshold)


def sigmoid(x: float, steepness: float, threshold: float) -> float:
    """Return ``1 / (1 + exp(-steepness · (x - threshold)))``, without overflow."""
    z = steepness * (x - threshold)
    return 1 / (1 + math.exp(-z)) if z >= 0 else math.exp(z) / (1 + math.exp(z))


def calibrated(
    candidates: Sequence[Candidate], share: Callable[[Candidate], float], curve: Curve, min_confidence: float
) -> list[Candidate]:
    """Give candidates their confidence by their ``share`` of what is possible; drop those below the least."""
    trusted = (each.with_confidence(curve.at(share(each))) for each in candidates)
    return [each for each in trusted if (each.confidence or 0.0) >= min_confidence]


def curve_of(settings: Calibrate) -> Curve:
    """Return the curve in the calibration file, or that of the settings; raise ``SettingsError``."""
    if not settings.file:
        return Curve(settings.steepness, settings.threshold)
    path = Path(settings.file).expanduser()
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_FILE_BYTES + 1)
        if len(content) > _MAX_FILE_BYTES:
            raise _refused("the calibration is over 100 kB", path)
        given = json.loads(content)
        curve = Curve(float(given["steepness"]), float(given["threshold"]), str(given.get("fitted_on", "")))
    except OSError as error:
        raise _refused(f"cannot read the calibration: {error.strerror}", path) from None
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise _refused(f"not a calibration: {type(error).__name__}: {error}", path) from None
    if not (math.isfinite(curve.steepness) and curve.steepness > 0 and math.isfinite(curve.threshold)):
        raise _refused("the steepness must be above 0, and both numbers finite", path)
    return curve


def fit(shares: npt.NDArray[np.float64], relevant: npt.NDArray[np.bool_], steps: int = 100) -> Curve:
    """Fit the curve to shares of hits and whether each was relevant: Platt scaling by Newton's method.

    Targets are smoothed as in Platt's paper, ``(n₊ + 1)/(n₊ + 2)`` and ``1/(n₋ + 2)``, so that separable data
    has an answer.
    """
    positive, negative = int(relevant.sum()), int((~relevant).sum())
    if not positive or not negative:
        raise _unfit("all hits are relevant, or none is")
    target = np.where(relevant, (positive + 1) / (positive + 2), 1 / (negative + 2))
    slope, offset = 1.0, 0.0
    for _ in range(steps):
        p = 1 / (1 + np.exp(-(slope * shares + offset)))
        weight = np.maximum(p * (1 - p), 1e-12)
        gradient = np.array([((target - p) * shares).sum(), (target - p).sum()])
        mixed = (weight * shares).sum()
        hessian = np.array([[(weight * shares**2).sum() + 1e-9, mixed], [mixed, weight.sum() + 1e-9]])
        change = np.linalg.solve(hessian, gradient)
        slope, offset = slope + float(change[0]), offset + float(change[1])
        if float(np.abs(change).max()) < 1e-10:
            break
    if not (slope > 0 and math.isfinite(offset / slope)):
        raise _unfit("relevant hits have no higher scores than others")
    return Curve(slope, -offset / slope)


def _unfit(what: str) -> SettingsError:
    return SettingsError(f"no calibration can be fitted: {what}", hint="Judge more queries.")


def _refused(what: str, path: Path) -> SettingsError:
    return SettingsError(
        what, where=str(path), hint='It holds {"steepness": 8.1, "threshold": 0.6}, fitted to judged queries.'
    )
