"""A clock for tests that limit the time of an algorithm, whatever machine they run on."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

_STEPS = 100_000
_REFERENCE_S = 0.0065
"""What the loop takes on the machine for which the limits of the tests were chosen."""


def _slowness() -> float:
    """Return how many times slower than there this processor is now; never less than 1."""
    began, total = time.thread_time(), 0
    for step in range(_STEPS):
        total += step
    return max(1.0, (time.thread_time() - began) / _REFERENCE_S)


@dataclass
class _Clock:
    seconds: float = 0.0
    read_at: float = field(default_factory=time.process_time)
    slowness: float = 1.0

    def read(self) -> float:
        """Return the seconds; processors change their speed, so the loop runs at either end of a span."""
        passed, now = time.process_time() - self.read_at, _slowness()
        self.seconds += passed / max(self.slowness, now)
        self.slowness, self.read_at = now, time.process_time()
        return self.seconds


processor_seconds = _Clock().read
"""Processor time of this process, in seconds of the reference machine; only differences have a meaning."""
