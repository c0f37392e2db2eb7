"""The answer ends where the scores fall off."""

from __future__ import annotations

from collections.abc import Sequence

from ..model import Candidate


def before_elbow(candidates: Sequence[Candidate], ratio: float, max_results: int) -> list[Candidate]:
    """The candidates up to the first whose score is below ``ratio`` times the one before; ``max_results`` at most."""
    return list(candidates[: elbow([candidate.score for candidate in candidates], ratio, max_results)])


def elbow(scores: Sequence[float], ratio: float, max_results: int) -> int:
    """How many of the scores, which fall, come before the elbow: none that is not positive, and never more than the cap.

    A fall to exactly ``ratio`` does not cut.
    """
    count = 0
    for count, score in enumerate(scores[:max_results]):
        if score <= 0 or (count > 0 and score < ratio * scores[count - 1]):
            return count
    return min(len(scores), max_results)
