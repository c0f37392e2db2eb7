"""Stages called directly in this process, for ``--no-prefect``."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from ...pipeline.thread_pool import ThreadPool
from .signals import raise_if_stopped, raising_stop_signals, received
from .stage import Stage, StageTime

A = TypeVar("A")
T = TypeVar("T")


class StageTimer:
    """A timer that collects the duration of every stage."""

    def __init__(self) -> None:
        self._times: list[StageTime] = []

    @property
    def times(self) -> tuple[StageTime, ...]:
        """Return the finished stages in order."""
        return tuple(self._times)

    @contextmanager
    def measure(self, stage: str) -> Iterator[None]:
        """Time the block as a run of ``stage``; raise if a signal arrived in the meantime."""
        start = time.perf_counter()
        raise_if_stopped()
        try:
            if threading.current_thread() is threading.main_thread():
                with raising_stop_signals():
                    yield
            else:
                yield
        finally:
            self._times.append(StageTime(stage, time.perf_counter() - start))


class PlainDriver(StageTimer):
    """A driver that calls every stage directly."""

    def call(self, stage: Stage, work: Callable[[], T], after: Sequence[object]) -> tuple[T, object]:  # noqa: ARG002
        """Return the stage's result without a handle, since nothing here needs one."""
        with self.measure(stage.name):
            return work(), None

    def map(
        self,
        name: str,  # noqa: ARG002
        function: Callable[[A], T],
        batches: Sequence[A],
        slots: int,
        labels: Sequence[str] = (),  # noqa: ARG002
    ) -> list[T]:
        """Return the function's result on each batch, in order."""
        raise_if_stopped()
        if slots <= 1:
            return [unless_stopped(function(batch)) for batch in batches]
        return by_threads(function, batches, slots)


def by_threads(work: Callable[[A], T], items: Iterable[A], threads: int) -> list[T]:
    """Return the results in order; after an error or a signal no further item is begun.

    An error waits for the items under way, a signal for none: a parser may hang, an encoder have long to go.
    """
    pool = ThreadPool(threads)
    try:
        found = [unless_stopped(result) for result in pool.map(work, items)]
    except BaseException as error:
        is_stop = received() is not None or not isinstance(error, Exception)
        pool.shutdown(wait=not is_stop, cancel_futures=True)
        raise
    pool.shutdown()
    return found


def unless_stopped(result: T) -> T:
    """Return the result; raise if a signal arrived in the meantime."""
    raise_if_stopped()
    return result
