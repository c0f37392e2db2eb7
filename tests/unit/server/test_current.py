"""The searcher that is lent: another snapshot takes its place, and nobody's is closed under them."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

import pytest

from noctule.artifacts.query.searcher import Searcher
from noctule.artifacts.store.store import Store
from noctule.pipeline.errors import DamagedSnapshot, NoSnapshot
from noctule.pipeline.settings.settings import Settings
from noctule.server import current as module
from noctule.server.current import CurrentSearcher, Swap


@dataclass
class _Pointed:
    """A store whose pointer a test moves."""

    snapshot: str | None = "a"
    count: int = 1

    def current(self) -> str | None:
        return self.snapshot

    def generation(self) -> int:
        return self.count

    def move(self, snapshot: str) -> None:
        self.snapshot, self.count = snapshot, self.count + 1


@dataclass
class _Opened:
    """A searcher that says whether it was closed, and fails if it is asked after that."""

    snapshot_id: str
    closed: int = 0
    asked: int = 0

    @property
    def corpus(self) -> Any:
        return self

    @property
    def snapshot(self) -> Any:
        return self

    @property
    def id(self) -> str:
        return self.snapshot_id

    def search(self, _text: str) -> str:
        assert not self.closed
        self.asked += 1
        return self.snapshot_id

    def close(self) -> None:
        self.closed += 1


@dataclass
class _World:
    """A store, what was opened in it, and what was told."""

    store: _Pointed = field(default_factory=_Pointed)
    opened: list[_Opened] = field(default_factory=list)
    damaged: set[str] = field(default_factory=set)
    swaps: list[Swap] = field(default_factory=list)

    def make(self, _store: Store, _settings: Settings) -> Searcher:
        name = str(self.store.snapshot)
        if name in self.damaged:
            raise DamagedSnapshot("bytes", where=name)
        self.opened.append(_Opened(name))
        return cast(Searcher, self.opened[-1])


@pytest.fixture
def world() -> _World:
    return _World()


@pytest.fixture
def current(world: _World) -> Iterator[CurrentSearcher]:
    made = CurrentSearcher(cast(Store, world.store), Settings(), make=world.make, on_swap=world.swaps.append)
    yield made
    made.close()
    assert all(each.closed == 1 for each in world.opened)


def test_nothing_is_lent_before_the_first_is_open(current: CurrentSearcher) -> None:
    with pytest.raises(NoSnapshot), current.borrow():
        pass


def test_a_searcher_has_answered_before_it_is_lent(world: _World, current: CurrentSearcher) -> None:
    assert current.refresh()
    assert world.opened[0].asked == 1
    with current.borrow() as served:
        assert (served.snapshot, served.generation) == ("a", 1)
    assert not current.refresh()
    assert len(world.opened) == 1


def test_who_borrows_keeps_what_was_borrowed(world: _World, current: CurrentSearcher) -> None:
    current.refresh()
    with current.borrow() as before:
        world.store.move("b")
        assert current.refresh()
        assert not world.opened[0].closed
        before.searcher.search("x")
        with current.borrow() as after:
            assert after.snapshot == "b"
    assert world.opened[0].closed == 1
    assert not world.opened[1].closed


def test_the_same_snapshot_again_is_not_opened_anew(world: _World, current: CurrentSearcher) -> None:
    current.refresh()
    world.store.count += 2  # there and back between two looks
    assert current.refresh()
    assert len(world.opened) == 1
    with current.borrow() as served:
        assert served.generation == 3


def test_what_cannot_be_opened_leaves_the_old_and_is_tried_again_later(
    world: _World, current: CurrentSearcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    current.refresh()
    world.damaged.add("b")
    world.store.move("b")
    assert not current.refresh()
    assert isinstance(current.failure, DamagedSnapshot)
    with current.borrow() as served:
        assert served.snapshot == "a"
    told = len(world.swaps)
    current.refresh()
    assert len(world.swaps) == told, "it is not tried again at once"
    world.damaged.clear()
    now[0] += 1.1
    assert current.refresh()
    assert current.failure is None
    assert [swap.failure is None for swap in world.swaps] == [True, False, True]


def test_a_rollback_takes_back_what_failed(world: _World, current: CurrentSearcher) -> None:
    current.refresh()
    world.damaged.add("b")
    world.store.move("b")
    current.refresh()
    world.store.move("a")
    assert current.refresh()
    assert current.failure is None


def test_the_first_that_cannot_be_opened_is_an_error(world: _World, current: CurrentSearcher) -> None:
    world.damaged.add("a")
    with pytest.raises(DamagedSnapshot):
        current.refresh()


def test_threads_that_ask_while_snapshots_change_never_meet_a_closed_one(
    world: _World, current: CurrentSearcher
) -> None:
    current.refresh()
    done = threading.Event()

    def ask() -> int:
        count = 0
        while not done.is_set():
            with current.borrow() as served:
                assert served.searcher.search("x") == served.snapshot
            count += 1
        return count

    with ThreadPoolExecutor(4) as pool:
        asking = [pool.submit(ask) for _ in range(4)]
        for at in range(200):
            world.store.move(f"s{at}")
            current.refresh()
        done.set()
        assert all(each.result() > 0 for each in asking)
    assert len(world.opened) == 201
    assert sum(each.closed for each in world.opened) == 200


def test_what_is_opened_while_it_closes_is_closed_too(world: _World) -> None:
    def make(store: Store, settings: Settings) -> Searcher:
        made = world.make(store, settings)
        current.close()
        return made

    current = CurrentSearcher(cast(Store, world.store), Settings(), make=make)
    assert not current.refresh()
    assert [each.closed for each in world.opened] == [1]


def test_nobody_waits_while_the_store_is_asked(world: _World, current: CurrentSearcher) -> None:
    asked, borrowed = threading.Event(), threading.Event()

    def slow() -> str:
        asked.set()
        assert borrowed.wait(5)
        return "a"

    assert current.refresh()
    world.store.count += 1
    calls = [slow, lambda: "a"]

    def looked_up() -> str:
        return calls.pop()()

    world.store.current = looked_up  # type: ignore[method-assign]
    thread = threading.Thread(target=current.refresh)
    thread.start()
    assert asked.wait(5)
    is_free = current._lock.acquire(timeout=1)
    if is_free:
        current._lock.release()
    borrowed.set()
    thread.join()
    assert is_free


class _Circle:
    """What only a collection lets go of."""

    def __init__(self) -> None:
        self.itself = self


def test_what_is_served_is_not_looked_through_again_and_what_was_goes(
    world: _World,
    current: CurrentSearcher,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.setattr(module, "gc", gc)
    request.addfinalizer(partial(gc.set_threshold, *gc.get_threshold()))
    current.refresh()
    # Answers that are kept are as many objects: with Python's 700, 10 and 10 all are looked at every second.
    assert gc.get_threshold() == (10_000, 20, 100)
    kept = gc.get_freeze_count()
    assert kept > 0
    left = weakref.ref(_Circle())
    gc.freeze()  # as the last swap would have left it
    assert left() is not None
    world.store.move("b")
    current.refresh()
    assert left() is None
    assert gc.get_freeze_count() > 0
