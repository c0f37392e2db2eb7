"""Groups of servers asked at once: another replica where one is late or fails, until the deadline."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeVar

from ...pipeline.settings.serve import RouterSettings
from ...pipeline.thread_pool import ThreadPool
from .backend_metrics import BackendMetrics
from .backends import Backend, BackendFailed
from .editions import ReplicaGroup

_T = TypeVar("_T")
# What says nothing against the next request.
_STILL_UP = frozenset({"stale", "rejected", "overloaded"})
_THREADS_EACH, _MOST_THREADS = 8, 128
# Before enough times are known, and at least: two processes on one machine answer in less.
_FIRST_HEDGE, _LEAST_HEDGE_S = 0.25, 0.005


@dataclass(frozen=True, slots=True)
class GroupReply(Generic[_T]):
    """What one of a group's servers answered, or ``None`` and why none did."""

    value: _T | None
    backend: Backend | None = None
    failures: tuple[BackendFailed, ...] = ()

    @property
    def is_stale(self) -> bool:
        """Return whether the group has left the edition that was asked for."""
        return any(each.outcome == "stale" for each in self.failures)


class GroupAsker:
    """Asks groups of servers in threads of its own; threads may share it."""

    def __init__(self, settings: RouterSettings, metrics: BackendMetrics) -> None:
        threads = min(_MOST_THREADS, _THREADS_EACH * len(settings.backends))
        self._pool = ThreadPool(threads, thread_name_prefix="noctule-backend")
        self._settings, self._metrics = settings, metrics

    def close(self) -> None:
        """Ask nobody any more."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def ask(
        self, groups: Sequence[ReplicaGroup], call: Callable[[str, Backend, float], _T]
    ) -> dict[str, GroupReply[_T]]:
        """Return what each group answers, by its name.

        ``call`` gets that name, a server of the group, and the seconds that it has.
        """
        deadline = time.monotonic() + self._settings.timeout_s
        asked = [
            _Asked(group, _in_order(group), self, partial(call, group.name), deadline) for group in groups
        ]
        for each in asked:
            each.begin()
        while True:
            running = {future: each for each in asked if not each.is_over for future in each.running}
            now = time.monotonic()
            if not running or now >= deadline:
                return {each.group.name: each.reply() for each in asked}
            wake = min(deadline, *(each.hedge_at for each in asked if not each.is_over))
            done, _ = wait(running, max(0.0, wake - now), FIRST_COMPLETED)
            for future in done:
                running[future].take(future)
            for each in asked:
                each.hedge_if_late()

    def submit(self, backend: Backend, call: Callable[[Backend, float], _T], deadline: float) -> Future[_T]:
        """Ask a server, and record how that went."""

        def asked() -> _T:
            start = time.monotonic()
            try:
                found = call(backend, deadline - start)
            except BackendFailed as error:
                self._metrics.observe(backend, error.outcome, time.monotonic() - start)
                if error.outcome not in _STILL_UP:
                    backend.fail(error.reason)
                raise
            self._metrics.observe(backend, "answered", time.monotonic() - start)
            return found

        return self._pool.submit(asked)

    def tell_hedge(self, backend: Backend) -> None:
        """Count a server that was asked because another was late."""
        self._metrics.hedges.labels(backend.url).inc()

    def patience(self, backend: Backend) -> float:
        """Return the seconds after which another server is asked."""
        share, limit = self._settings.hedge_quantile, self._settings.timeout_s
        if share >= 1:
            return limit
        known = backend.quantile(share)
        return max(_LEAST_HEDGE_S, _FIRST_HEDGE * limit if known is None else min(known, limit))


def _in_order(group: ReplicaGroup) -> list[Backend]:
    """Return the servers of a group, the one with least to do first; of equals, any."""
    # By lot: taken in turn, one of two would get all questions where each asks an even number of times.
    drawn = random.sample(group.replicas, len(group.replicas))
    return sorted(drawn, key=lambda each: each.in_flight)


@dataclass(slots=True)
class _Asked(Generic[_T]):
    """One group on its way to an answer."""

    group: ReplicaGroup
    waiting: list[Backend]
    asker: GroupAsker
    call: Callable[[Backend, float], _T]
    deadline: float
    running: dict[Future[_T], Backend] = field(default_factory=dict)
    failures: list[BackendFailed] = field(default_factory=list)
    found: GroupReply[_T] | None = None
    hedge_at: float = 0.0

    @property
    def is_over(self) -> bool:
        """Return whether there is an answer, or nobody left to ask."""
        return self.found is not None or not (self.running or self.waiting)

    def begin(self) -> Backend:
        """Ask the next server."""
        backend = self.waiting.pop(0)
        patience = self.asker.patience(backend) if self.waiting else float("inf")
        self.hedge_at = time.monotonic() + patience
        self.running[self.asker.submit(backend, self.call, self.deadline)] = backend
        return backend

    def take(self, future: Future[_T]) -> None:
        """Take an answer, or ask the next server after a failure."""
        backend = self.running.pop(future)
        try:
            self.found = GroupReply(future.result(), backend)
        except BackendFailed as error:
            self.failures.append(error)
            if self.waiting:
                self.begin()

    def hedge_if_late(self) -> None:
        """Ask the next server too, if the answer is late."""
        if not self.is_over and self.waiting and time.monotonic() >= self.hedge_at:
            self.asker.tell_hedge(self.begin())

    def reply(self) -> GroupReply[_T]:
        """Return the answer; what is not there by now is late."""
        if self.found is not None:
            return self.found
        urls = [each.url for each in self.running.values()]
        late = [BackendFailed("timeout", f"{url} does not answer in time") for url in urls]
        return GroupReply(None, None, (*self.failures, *late))
