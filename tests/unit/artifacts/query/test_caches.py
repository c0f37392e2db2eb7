"""What was asked lately is kept: by use, for a time, for threads, and never for another snapshot."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from concurrent.futures import ThreadPoolExecutor

import pytest

from noctule.artifacts.query.caches import Cache, Usage


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_what_was_not_used_for_longest_goes_when_there_is_no_room() -> None:
    cache: Cache[int] = Cache(2)
    cache.put("a", 1)
    cache.put("b", 2)
    assert cache.get("a") == 1
    cache.put("c", 3)
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (1, None, 3)


def test_what_is_kept_for_a_time_goes_when_it_is_over() -> None:
    clock = Clock()
    cache: Cache[int] = Cache(10, seconds=3600.0, clock=clock)
    cache.put("a", 1)
    clock.now = 3599.0
    cache.put("b", 2)
    assert cache.get("a") == 1
    clock.now = 3600.0
    assert (cache.get("a"), cache.get("b")) == (None, 2)
    assert cache.usage().size == 1
    clock.now = 7200.0
    assert cache.get("b") is None
    assert cache.usage().size == 0


def test_using_a_value_does_not_make_it_younger() -> None:
    clock = Clock()
    cache: Cache[int] = Cache(10, seconds=10.0, clock=clock)
    cache.put("a", 1)
    for clock.now in (3.0, 6.0, 9.0):
        assert cache.get("a") == 1
    clock.now = 10.0
    assert cache.get("a") is None


def test_within_the_time_what_was_not_used_for_longest_goes_first() -> None:
    cache: Cache[int] = Cache(2, seconds=10.0, clock=Clock())
    cache.put("a", 1)
    cache.put("b", 2)
    cache.get("a")
    cache.put("c", 3)
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (1, None, 3)


@pytest.mark.parametrize("seconds", [None, 10.0])
def test_a_cache_of_no_room_keeps_nothing(seconds: float | None) -> None:
    cache: Cache[int] = Cache(0, seconds)
    cache.put("a", 1)
    assert cache.get("a") is None
    assert cache.usage() == Usage(hits=0, misses=1, size=0, most=0)


def test_hits_and_misses_are_counted() -> None:
    cache: Cache[int] = Cache(3)
    for key in "aabac":
        if cache.get(key) is None:
            cache.put(key, ord(key))
    assert cache.usage() == Usage(hits=2, misses=3, size=3, most=3)


def test_a_value_that_is_put_again_is_replaced() -> None:
    cache: Cache[int] = Cache(2)
    cache.put("a", 1)
    cache.put("a", 2)
    assert cache.get("a") == 2
    assert cache.usage().size == 1


def test_a_key_is_compared_whole() -> None:
    cache: Cache[int] = Cache(5)
    cache.put(("snapshot 1", "boats"), 1)
    assert cache.get(("snapshot 2", "boats")) is None
    assert cache.get(("snapshot 1", "boats")) == 1


@pytest.mark.parametrize("seconds", [None, 1e-4])
def test_threads_may_share_one(seconds: float | None) -> None:
    cache: Cache[int] = Cache(50, seconds)
    start = threading.Barrier(8)

    def work(number: int) -> int:
        start.wait()
        asked = 0
        for at in range(3_000):
            key: Hashable = (at * 7 + number) % 100
            found = cache.get(key)
            asked += 1
            assert found is None or found == key
            cache.put(key, (at * 7 + number) % 100)
        return asked

    with ThreadPoolExecutor(8) as pool:
        asked = sum(pool.map(work, range(8)))
    usage = cache.usage()
    assert usage.hits + usage.misses == asked == 24_000
    assert usage.size <= 50
