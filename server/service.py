"""The search service without its routes: the current searcher, threads that ask it, who may ask, metrics."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TypeVar

from ..artifacts.events.event_log import EventLog, event_log
from ..artifacts.store.store import Store
from ..pipeline.errors import WriteFailed
from ..pipeline.settings.serve import Serve
from ..pipeline.settings.settings import Settings
from ..pipeline.thread_pool import ThreadPool
from .current import CurrentSearcher, Swap
from .guard.gate import Guards
from .guard.rate import TokenBuckets
from .guard.tokens import TokenFile
from .observe.metrics import Metrics
from .problems import HttpProblem
from .served import SnapshotLender

_log = logging.getLogger("noctule")
_Result = TypeVar("_Result")
_SWEEP_S = 3600
# A router may ask for the edition before this one until all servers have the next.
_KEEP_PREVIOUS_S = 300.0


class BoundedExecution:
    """Threads with a queue of a fixed length, each request bounded in time.

    ``in_flight`` counts what runs and waits.
    """

    def __init__(self, threads: int, queue: int, deadline_s: float) -> None:
        self._pool = ThreadPool(threads, thread_name_prefix="noctule-request")
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


class SearchService:
    """What answers searches over HTTP, from a store or, given ``current``, from what that lends.

    Raise ``SettingsError`` for a file of tokens that cannot be read, and ``WriteFailed`` if events are to be
    recorded where nothing can be written.
    """

    def __init__(
        self,
        store: Store | None,
        settings: Settings,
        current: Callable[[Metrics], SnapshotLender] | None = None,
    ) -> None:
        serve = settings.serve
        self.settings, self.metrics = settings, Metrics()
        tokens = TokenFile(Path(serve.tokens)) if serve.tokens else None
        buckets = TokenBuckets(serve.requests_per_second, serve.burst)
        open_to_all = frozenset({"events"}) if serve.events.anonymous else frozenset[str]()
        self.guards = Guards(tokens, buckets, serve.max_body_bytes, serve.deadline_s, open_to_all)
        self.events = event_log(serve.events, store.root) if serve.events.enabled and store else None
        self.execution = BoundedExecution.of(serve)
        self.current: SnapshotLender = current(self.metrics) if current else self._lender(store)

    def _lender(self, store: Store | None) -> CurrentSearcher:
        assert store is not None
        kept = _KEEP_PREVIOUS_S if self.settings.serve.shards else 0.0
        return CurrentSearcher(store, self.settings, on_swap=self._tell, keep_previous_s=kept)

    async def run(self, function: Callable[[], _Result]) -> _Result:
        """Return what the function returns; raise ``HttpProblem`` as ``BoundedExecution`` does."""
        with self.metrics.in_flight.track_inprogress():
            return await self.execution.run(function)

    def _tell(self, swap: Swap) -> None:
        self.metrics.tell_swap(swap)
        if swap.failure is None:
            with self.current.borrow() as served:
                self.metrics.tell_served(served)
                what = "serving snapshot %s, generation %d, opened in %.2f s"
                _log.info(what, served.snapshot, served.generation, swap.seconds)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Open the current snapshot beside the block, and follow the store until it ends."""
        if self.settings.serve.workers > 1:
            # Of processes at one socket, one that accepts before it is ready refuses what another answers.
            await self.current.refresh_or_log()
        tasks = [asyncio.create_task(self.current.follow(self.settings.serve.poll_s))]
        if self.events is not None:
            tasks.append(asyncio.create_task(_delete_old(self.events)))
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
            self.execution.close()
            self.current.close()


async def _delete_old(events: EventLog) -> None:
    """Delete the days that are too old, every hour: nobody may search for weeks."""
    while True:
        try:
            await asyncio.to_thread(events.delete_old)
        except WriteFailed as error:
            _log.error("expired events could not be deleted: %s", error)
        await asyncio.sleep(_SWEEP_S)
