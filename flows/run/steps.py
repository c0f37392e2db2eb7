"""How stages are driven: one by one in this process, or each as a Prefect task. The stages do not know.

``noctule.flows.run.build`` composes the stages against ``Steps``; ``PlainSteps`` calls them, ``noctule.flows.index`` gives a
``Steps`` that wraps each call in a Prefect task. So both build the same snapshot.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from .signals import heeding_signals, stop_if_told

if TYPE_CHECKING:
    from collections.abc import Iterator

T = TypeVar("T")
A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class StageTime:
    """How long a stage took, in seconds of wall time."""

    stage: str
    seconds: float


class Steps(Protocol):
    """Runs stages and remembers how long each took."""

    @property
    def times(self) -> tuple[StageTime, ...]:
        """Finished stages in order."""

    def run(self, name: str, stage: Callable[[], T], *, once: bool = False) -> T:
        """The result of one stage, called once (again only after an I/O error, and never if ``once``)."""

    def map(self, name: str, stage: Callable[[A], T], batches: Sequence[A], slots: int) -> list[T]:
        """The results of a stage on each batch, in order, at most ``slots`` at a time."""


class Progress(Protocol):
    """Hears how far a long stage is; the command line draws a bar, others may log or stay silent."""

    def begin(self, stage: str, total: int, unit: str) -> None:
        """A stage of ``total`` units starts."""

    def advance(self, amount: int) -> None:
        """``amount`` more units are done; may be called from any thread."""

    def end(self) -> None:
        """The stage is done, or given up."""


class Silent:
    """Progress that nobody watches."""

    def begin(self, stage: str, total: int, unit: str) -> None:
        """Nothing is said."""

    def advance(self, amount: int) -> None:
        """Nothing is said."""

    def end(self) -> None:
        """Nothing is said."""


class Clock:
    """Collects stage times."""

    def __init__(self) -> None:
        self._times: list[StageTime] = []

    @property
    def times(self) -> tuple[StageTime, ...]:
        """Finished stages in order."""
        return tuple(self._times)

    def measure(self, stage: str) -> AbstractContextManager[None]:
        """Times the block as a run of ``stage``."""
        return self._measure(stage)

    @contextmanager
    def _measure(self, stage: str) -> Iterator[None]:
        start = time.perf_counter()
        stop_if_told()
        try:
            with heeding_signals():
                yield
        finally:
            self._times.append(StageTime(stage, time.perf_counter() - start))


class PlainSteps(Clock):
    """Calls every stage directly: what ``--no-prefect`` uses."""

    def run(self, name: str, stage: Callable[[], T], *, once: bool = False) -> T:  # noqa: ARG002
        """The stage's result."""
        with self.measure(name):
            return stage()

    def map(self, name: str, stage: Callable[[A], T], batches: Sequence[A], slots: int) -> list[T]:
        """The stage's result on each batch, in order."""
        with self.measure(name):
            if slots <= 1:
                return [_unless_told(stage(batch)) for batch in batches]
            return by_threads(stage, batches, slots)


def by_threads(work: Callable[[A], T], items: Iterable[A], threads: int) -> list[T]:
    """The results in order; after an error or a signal nothing more is begun."""
    with ThreadPoolExecutor(threads) as pool:
        try:
            return [_unless_told(result) for result in pool.map(work, items)]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _unless_told(result: T) -> T:
    stop_if_told()
    return result
