"""How often the long checks repeat what they do: a few times, or as often as ``make torture`` says.

``NOCTULE_KILLS=500`` stands for every repetition there is, and ``NOCTULE_PARTS=16`` cuts the longest loops
into as many tests, which ``pytest -n`` runs beside each other.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

import pytest

T = TypeVar("T")
KILLS = int(os.environ.get("NOCTULE_KILLS", "0"))
ALL = KILLS >= 500
POWER_CUTS = int(os.environ.get("NOCTULE_POWER_CUTS", "20"))
PARTS = int(os.environ.get("NOCTULE_PARTS", "1"))
# One loop of every call of a build, one after the other, takes hours.
LONG_S = 14_400 if ALL else 1200


# For a test whose promise others check at less cost.
torture_only = pytest.mark.skipif(not ALL, reason="make torture")


def sample(cases: Iterable[T], every: int) -> list[T]:
    """Return every ``every``-th of cases that are alike, or all of them for ``make torture``."""
    return list(islice(cases, 0, None, 1 if ALL else every))


def examples(most: int) -> int:
    """Return how many examples a property is tried with: a third of them, or all for ``make torture``."""
    return most if ALL else max(20, most // 3)


@dataclass(frozen=True, slots=True)
class Part:
    """One of several tests that share the cases of a loop."""

    index: int
    count: int

    def of(self, cases: Iterable[T]) -> Iterator[T]:
        """Yield every ``count``-th case, the first of them the ``index``-th."""
        return islice(cases, self.index, None, self.count)

    def share(self, times: int) -> int:
        """Return how many of so many repetitions are this part's."""
        return len(range(self.index, times, self.count))


WHOLE = Part(0, 1)
in_parts = pytest.mark.parametrize(
    "part", [Part(index, PARTS) for index in range(PARTS)], ids=lambda part: f"{part.index + 1}/{part.count}"
)
