"""Caches of answers and query vectors, an answer for an hour by default; and what is read once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, MutableMapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from cachetools import LRUCache, TTLCache

Value = TypeVar("Value")
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Usage:
    """How a cache was used."""

    hits: int
    misses: int
    size: int
    most: int


class Cache(Generic[Value]):
    """The values used last, shared by threads."""

    def __init__(
        self, most: int, seconds: float | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._kept: MutableMapping[Hashable, Value] = (
            LRUCache(most) if seconds is None else TTLCache(most, seconds, clock)
        )
        self._most, self._lock = most, threading.Lock()
        self._hits = self._misses = 0

    def get(self, key: Hashable) -> Value | None:
        """Return the value kept under the key, if it is still there."""
        with self._lock:
            found = self._kept.get(key)
            self._hits, self._misses = self._hits + (found is not None), self._misses + (found is None)
            return found

    def put(self, key: Hashable, value: Value) -> None:
        """Keep a value; the one not used for longest goes if there is no room."""
        if self._most > 0:
            with self._lock:
                self._kept[key] = value

    def usage(self) -> Usage:
        """Return hits, misses, how many values are kept, and how many may be."""
        with self._lock:
            return Usage(self._hits, self._misses, len(self._kept), self._most)


class Once(Generic[_T]):
    """A property that is read once; a second thread waits for the first, and later ones find the value.

    What has such properties has a ``_lock``.
    """

    def __init__(self, read: Callable[[Any], _T]) -> None:
        self._read, self.__doc__ = read, read.__doc__

    def __get__(self, owner: object, _: type) -> _T:
        """Return the value, read now if nobody has asked before; of the class there is none."""
        if owner is None:
            raise AttributeError(self._read.__name__)
        kept, name = vars(owner), self._read.__name__
        with kept["_lock"]:
            if name not in kept:
                kept[name] = self._read(owner)
        value: _T = kept[name]
        return value
