"""Whoever has work done by another process; the site asks for no more of it than this."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

A = TypeVar("A")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Begun(Protocol[T_co]):
    """Work that another process does."""

    def __call__(self) -> T_co:
        """Waits for its result, and raises what it raised."""

    def is_over(self) -> bool:
        """Whether nobody would have to wait."""


class Beside(Protocol):
    """A process for one piece of work after the other."""

    def start(self, stage: Callable[[A], T], given: A) -> Begun[T]:
        """``stage(given)`` begins once what was started before is over."""
