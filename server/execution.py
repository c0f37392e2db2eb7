"""A bounded number of threads for searches: so many run, so many wait, and none for longer than its time."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from ..pipeline.settings.serve import Serve
from .problems import HttpProblem

_Result = TypeVar("_Result")


class BoundedExecution:
    """Threads with a queue of a fixed length; ``in_flight`` counts what runs and waits."""

    def __init__(self, threads: int, queue: int, deadline_s: float) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="noctule-request")
        self._most, self._deadline, self._lock = threads + queue, deadline_s, threading.Lock()
        self.in_flight = 0

    @classmethod
    def of(cls, settings: Serve) -> BoundedExecution:
        """Return what the settings ask for."""
        threads = settings.threads or 2 * (os.cpu_count() or 1)
        return cls(threads, settings.queue, settings.deadline_s)

    async def run(self, function: Callable[[], _Result]) -> _Result:
        """Return what the function returns; raise ``HttpProblem`` if too many wait or it takes too long.

        A thread cannot be interrupted: what has begun ends by itself, and holds its place until then.
        """
        with self._lock:
            if self.in_flight >= self._most:
                raise HttpProblem("overloaded", "Try again in a moment.", headers={"Retry-After": "1"})
            self.in_flight += 1
        try:
            future = self._pool.submit(function)
        except BaseException:
            self._end(None)
            raise
        future.add_done_callback(self._end)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self._deadline)
        except TimeoutError:
            detail = f"There was no answer within {self._deadline:g} s."
            raise HttpProblem("deadline-exceeded", detail, headers={"Retry-After": "1"}) from None

    def close(self) -> None:
        """Start nothing more, and wait for what has begun."""
        self._pool.shutdown(cancel_futures=True)

    def _end(self, _future: Future[_Result] | None) -> None:
        with self._lock:
            self.in_flight -= 1
