"""The interface of a background process; whoever runs builds supplies the implementation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

A = TypeVar("A")
T = TypeVar("T")


class BackgroundProcess(Protocol):
    """A process that does one piece of work at a time."""

    def start(
        self, stage: Callable[[A], T], given: A, here: Callable[[], T] | None = None, *, waits: bool = True
    ) -> Callable[[], T]:
        """Start ``stage(given)`` once earlier work has finished; the callable returned waits for the result.

        If the process dies, or, without ``waits``, has not started by then, ``here`` does the work in this
        process; by default that is ``stage(given)`` itself.
        """

    def is_idle(self) -> bool:
        """Return whether all work that was started has finished."""
