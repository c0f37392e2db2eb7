"""The searcher of a store's current snapshot, exchanged when another becomes current.

Requests borrow the searcher that is current when they begin, and keep it until they end. The next one is
opened, verified and asked its first query while the old one answers; then one reference changes. Whoever
returns an old searcher last closes it.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from ..artifacts import query
from ..artifacts.query.searcher import Searcher
from ..artifacts.store.store import Store
from ..pipeline.errors import NoctuleError, NoSnapshot
from ..pipeline.settings.settings import Settings
from .served import ServedSnapshot

_log = logging.getLogger("noctule")
# The first query loads the model, and reads what later ones find in memory.
_FIRST_QUERY = "what is this about"
_LONGEST_PAUSE_S = 60.0
# Objects made and not freed until Python looks for reference cycles; how often it looks beyond the youngest.
_COLLECT_AFTER = (10_000, 20, 100)
_open_silent = partial(query.open, silent=True)  # nobody reads Python's warnings here


@dataclass(frozen=True, slots=True)
class Swap:
    """An attempt to serve what became current; ``failure`` says why what was served before still is."""

    generation: int
    seconds: float
    failure: NoctuleError | None = None


@dataclass(slots=True)
class _Loan:
    """A searcher, how many borrow it, and whether another has taken its place."""

    served: ServedSnapshot
    borrowers: int = 0
    is_retired: bool = False


@dataclass(frozen=True, slots=True)
class _Failed:
    """A generation that could not be opened, and when it is tried again."""

    swap: Swap
    pause_s: float
    until: float


class CurrentSearcher:
    """Lends the searcher of a store's current snapshot, and follows the store; threads may share it."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        *,
        make: Callable[[Store, Settings], Searcher] = _open_silent,
        on_swap: Callable[[Swap], None] | None = None,
        keep_previous_s: float = 0.0,
    ) -> None:
        self._keep_s, self._kept_until = keep_previous_s, 0.0
        self._previous: _Loan | None = None
        self._store, self._settings, self._make, self._on_swap = store, settings, make, on_swap
        self._lock, self._refreshing = threading.Lock(), threading.Lock()
        self._loan: _Loan | None = None
        self._is_closed = False
        self._failed: _Failed | None = None

    @property
    def settings(self) -> Settings:
        """Return the settings that every searcher is made with."""
        return self._settings

    @property
    def failure(self) -> NoctuleError | None:
        """Return why what is current in the store is not served, if it is not."""
        return self._failed.swap.failure if self._failed is not None else None

    @property
    def editions(self) -> tuple[ServedSnapshot, ...]:
        """Return what can be borrowed, what is current first."""
        with self._lock:
            return tuple(each.served for each in (self._loan, self._previous) if each is not None)

    @contextmanager
    def borrow(self, snapshot: str = "") -> Iterator[ServedSnapshot]:
        """Yield what is served now, or the named snapshot, open until the block ends.

        Raise ``NoSnapshot`` before the first, and if the named one is not served, or not any more.
        """
        with self._lock:
            loan = self._loan
            if snapshot and loan is not None and loan.served.snapshot != snapshot:
                loan = self._previous
            if loan is None or snapshot not in ("", loan.served.snapshot):
                hint = "Try again in a moment; if that fails, see what the server logs."
                what = "that snapshot is not served" if snapshot else "no snapshot is open yet"
                raise NoSnapshot(what, where=snapshot, hint=hint)
            loan.borrowers += 1
            served = loan.served
        try:
            yield served
        finally:
            with self._lock:
                loan.borrowers -= 1
                is_last = loan.is_retired and loan.borrowers == 0
            if is_last:
                served.searcher.close()

    def refresh(self) -> bool:
        """Serve what is current in the store, and return whether that changed anything.

        What cannot be opened leaves what was served in its place; if there was nothing, its error is raised.
        A failed generation is tried again after a pause, which grows to a minute.
        """
        with self._refreshing:
            started, generation = time.monotonic(), 0
            try:
                self._drop_previous()
                self._store.current()  # of a store elsewhere, this fetches what is new there
                generation = self._store.generation()
                if not self._is_due(generation) or not self._open(generation):
                    return False
            except NoctuleError as error:
                self._fail(Swap(generation, time.monotonic() - started, error))
                if self._loan is None:
                    raise
                return False
            self._failed = None
            _exempt_from_collection()
            self._tell(Swap(generation, time.monotonic() - started))
            return True

    async def follow(self, seconds: float) -> None:
        """Look at the store now, and then so often, for as long as the task lives."""
        while True:
            await self.refresh_or_log()
            await asyncio.sleep(seconds)

    async def refresh_or_log(self) -> None:
        """Serve what is current in the store, or log why not."""
        try:
            await asyncio.to_thread(self.refresh)
        except NoctuleError:
            pass  # it was logged, and nothing older can be served
        except Exception:
            _log.exception("the store could not be looked at")

    def close(self) -> None:
        """Serve nothing from now on; the searcher is closed as soon as nobody borrows it."""
        self._exchange(None)
        gc.unfreeze()

    def _is_due(self, generation: int) -> bool:
        if self._loan is not None and self._loan.served.generation == generation:
            self._failed = None  # a rollback may have taken back what failed
            return False
        failed = self._failed
        return failed is None or failed.swap.generation != generation or time.monotonic() >= failed.until

    def _open(self, generation: int) -> bool:
        """Lend the searcher of what is current now, and return whether that was done."""
        snapshot = self._store.current()  # may fetch: whoever borrows must not wait for that
        with self._lock:
            loan = self._loan
            if loan is not None and loan.served.snapshot == snapshot:
                loan.served = replace(loan.served, generation=generation)
                return True
        searcher = self._make(self._store, self._settings)
        try:
            searcher.search(_FIRST_QUERY)
        except BaseException:
            searcher.close()
            raise
        new = _Loan(ServedSnapshot(searcher, searcher.corpus.snapshot.id, generation))
        if self._exchange(new):
            return True
        searcher.close()
        return False

    def _exchange(self, new: _Loan | None) -> bool:
        """Lend another from now on, and return whether that was done: not once it is closed."""
        with self._lock:
            if self._is_closed:
                return False
            free = self._retire_current(is_kept=new is not None and self._keep_s > 0)
            self._loan = new
            self._is_closed = new is None
        _close(free)
        return True

    def _retire_current(self, *, is_kept: bool) -> list[_Loan]:
        """Make what is current what was before, if that is kept; return the loans that nobody borrows."""
        before, old = self._previous, self._loan
        self._previous = old if is_kept else None
        self._kept_until = time.monotonic() + self._keep_s
        return _retired(before, None if is_kept else old)

    def _drop_previous(self) -> None:
        """Let go of what was current before, after a time in which others may still ask for it."""
        free: list[_Loan] = []
        with self._lock:
            if self._previous is not None and time.monotonic() >= self._kept_until:
                free = _retired(self._previous)
                self._previous = None
        _close(free)

    def _fail(self, swap: Swap) -> None:
        before = self._failed
        again = before is not None and before.swap.generation == swap.generation
        pause = min(2 * before.pause_s, _LONGEST_PAUSE_S) if before is not None and again else 1.0
        self._failed = _Failed(swap, pause, time.monotonic() + pause)
        if not again:
            _log.warning("generation %d cannot be served: %s", swap.generation, swap.failure)
        self._tell(swap)

    def _tell(self, swap: Swap) -> None:
        if self._on_swap is not None:
            self._on_swap(swap)


def _exempt_from_collection() -> None:
    """Collect what can go now; never look through the rest again, which stops all requests for 0.1 s.

    Answers that are kept are hundreds of thousands of objects, too, and a search makes no reference cycles.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECT_AFTER)


def _close(loans: Iterable[_Loan]) -> None:
    for each in loans:
        each.served.searcher.close()


def _retired(*loans: _Loan | None) -> list[_Loan]:
    """Retire loans, with their lender's lock held, and return those that nobody borrows."""
    given = list(filter(None, loans))
    for each in given:
        each.is_retired = True
    return [each for each in given if each.borrowers == 0]
