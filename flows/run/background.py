"""A second process for stages that would otherwise hold this interpreter's lock."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from .signals import raise_if_stopped, received
from .workers import WorkerFailed, Workers, WorkersEnded

A = TypeVar("A")
T = TypeVar("T")
# Only what hangs takes so long.
_LIMIT_S = 86_400.0
_log = logging.getLogger("noctule")


@dataclass(frozen=True, slots=True)
class BackgroundResult(Generic[T]):
    """Work under way in another process; calling it waits for the result and raises what the work raised."""

    _result: Future[T]
    _here: Callable[[], T]
    _waits: bool = True

    def __call__(self) -> T:
        """Return the result, waiting for it if necessary."""
        if not self._waits and self._result.cancel():
            return self._here()
        try:
            return self._result.result()
        except (WorkerFailed, WorkersEnded):
            raise_if_stopped()  # it did not die, it was killed for that
            _log.warning("the background process died (out of memory?); its work is repeated here")
            return self._here()


class Background:
    """A second process that does one piece of work at a time; it is killed when its block ends."""

    def __init__(self) -> None:
        self._workers = Workers(1)
        self._waiting = ThreadPoolExecutor(1, "noctule-background")
        self._open = set[Future[Any]]()

    def __enter__(self) -> Background:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process, whatever it is doing."""
        self._workers.kill()
        self._waiting.shutdown(wait=received() is None)
        self._workers.close()

    def start(
        self, stage: Callable[[A], T], given: A, here: Callable[[], T] | None = None, *, waits: bool = True
    ) -> BackgroundResult[T]:
        """Start ``stage(given)`` once earlier work is done; return a handle that waits for the result when
        called.

        ``stage`` must be importable and its values picklable. If the process dies, this one does the work, by
        calling ``here`` if given: it may need less than ``stage(given)`` where data is already in memory.
        Without ``waits`` it also does work that has not begun when the result is requested.
        """
        return BackgroundResult(self._submit(stage, given), here or partial(stage, given), waits)

    def _submit(self, stage: Callable[[A], T], given: A) -> Future[T]:
        begun = self._waiting.submit(self._workers.call, stage, given, _LIMIT_S)
        self._open.add(begun)
        begun.add_done_callback(self._noted)
        return begun

    def _noted(self, done: Future[Any]) -> None:
        """Record that a piece of work is over, even if nobody asks for its result."""
        self._open.discard(done)
        if not done.cancelled() and (error := done.exception()) is not None:
            _log.debug("work in the background process failed: %s", error)

    def is_idle(self) -> bool:
        """Return whether all work that was started is over."""
        return not self._open
