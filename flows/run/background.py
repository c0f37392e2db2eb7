"""Work that another process does meanwhile: it is killed when its block ends, whatever the reason.

with beside():              # the process of a night
    with beside() as one:   # a stage of it: the same process
        ...
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from types import TracebackType
from typing import Any, Generic, TypeVar

from ..engines.workers import WorkerFailed, Workers

A = TypeVar("A")
T = TypeVar("T")
# Only what hangs takes so long.
_LIMIT_S = 86_400.0
_log = logging.getLogger("noctule")


@dataclass(frozen=True, slots=True)
class Begun(Generic[T]):
    """Work that another process does; called, it waits for the result and raises what the work raised."""

    _result: Future[T]
    _here: Callable[[], T]
    _waits: bool = True

    def __call__(self) -> T:
        """The result, once it is there."""
        if not self._waits and self._result.cancel():
            return self._here()
        try:
            return self._result.result()
        except WorkerFailed:
            _log.warning("a process beside this one died (out of memory?): its work is done again here")
            return self._here()


class Beside:
    """A process beside this one, for one piece of work at a time.

    ``then`` names modules that it imports once it is up and has done all that it was given, for work that comes later.
    """

    def __init__(self, then: tuple[str, ...] = ()) -> None:
        self._workers, self._then = Workers(1), then
        self._waiting = ThreadPoolExecutor(1, "noctule-beside")
        self._open = set[Future[Any]]()

    def __enter__(self) -> Beside:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._workers.kill()
        self._waiting.shutdown()
        self._workers.__exit__(kind, error, trace)

    def start(
        self, stage: Callable[[A], T], given: A, here: Callable[[], T] | None = None, *, waits: bool = True
    ) -> Begun[T]:
        """``stage(given)`` begins, once what was started before is over.

        ``stage`` must be importable and its values picklable. Where the process dies, this one does the work: as ``here``
        does, where that takes less than ``stage(given)`` in a process that has other things in memory. Without ``waits`` it
        also does what has not begun when it is asked for.
        """
        return Begun(self._submit(stage, given), here or partial(stage, given), waits)

    def _submit(self, stage: Callable[[A], T], given: A) -> Future[T]:
        begun = self._waiting.submit(self._workers.call, stage, given, _LIMIT_S)
        self._open.add(begun)
        begun.add_done_callback(self._noted)
        return begun

    def _noted(self, done: Future[Any]) -> None:
        """A piece is over, whose result nobody may ever ask for; the last one known so far makes room for imports."""
        self._open.discard(done)
        if done.cancelled():
            return
        if (error := done.exception()) is not None:
            _log.debug("work beside this process failed: %s", error)
        elif self._then and self.is_idle():
            modules, self._then = self._then, ()
            with suppress(RuntimeError):  # the block has ended meanwhile
                self._submit(_imported, modules)

    def is_idle(self) -> bool:
        """Whether all that was started is over."""
        return not self._open


_around: ContextVar[Beside | None] = ContextVar("beside", default=None)


@contextmanager
def beside(then: tuple[str, ...] = ()) -> Iterator[Beside]:
    """The process of the block around this one, where there is one; else one of its own, which ends with the block."""
    known = _around.get()
    if known is not None:
        yield known
        return
    with Beside(then) as own:
        token = _around.set(own)
        try:
            yield own
        finally:
            _around.reset(token)


def _imported(modules: tuple[str, ...]) -> None:
    for module in modules:
        import_module(module)
