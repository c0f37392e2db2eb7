"""What the site asks of a background process; who runs builds provides one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

A = TypeVar("A")
T = TypeVar("T")


class BackgroundProcess(Protocol):
    """A process for one piece of work after the other."""

    def start(
        self, stage: Callable[[A], T], given: A, here: Callable[[], T] | None = None, *, waits: bool = True
    ) -> Callable[[], T]:
        """Begin ``stage(given)`` once what was started before is over; what is returned waits for its result when called.

        Where the process dies, or without ``waits`` has not begun by then, ``here`` does the work in this one, by default
        ``stage(given)`` itself.
        """

    def is_idle(self) -> bool:
        """Return whether all that was started is over."""
