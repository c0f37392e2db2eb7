"""Disks that fail at the n-th call: they refuse it, or also every later one that needs space."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from noctule.artifacts.disk.system_calls import Disk

FREES_SPACE = {"unlink", "rmdir", "close"}


class InterceptedDisk(Disk):
    """Hands every call to ``_call``: its name, the method that makes it, and its arguments."""

    def __getattribute__(self, name: str) -> Any:
        method = super().__getattribute__(name)
        if name.startswith("_") or not callable(getattr(Disk, name, None)):
            return method
        return lambda *arguments: self._call(name, method, arguments)

    def _call(self, name: str, method: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        raise NotImplementedError(name)


class CountingDisk(InterceptedDisk):
    """Counts the calls, and asks ``_failure`` before each of them."""

    calls = 0

    def _call(self, name: str, method: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        self.calls += 1
        if (error := self._failure(name)) is not None:
            if name == "close":  # the kernel does it, and with it goes the lock
                method(*arguments)
            raise error
        # Nothing cuts the power here, and a real sync costs a hundred times the rest.
        return None if name in {"fsync", "sync_file_system"} else method(*arguments)

    def _failure(self, name: str) -> BaseException | None:
        """Return what this call, the ``calls``-th, fails with; None if it is made."""
        raise NotImplementedError(name)


@dataclass
class FailingDisk(CountingDisk):
    """Refuses the n-th call with this error; if it is a full disk, it refuses every later one that needs
    space.
    """

    nth: int
    code: int
    for_ever: bool
    refused: list[str] = field(default_factory=list)

    def _failure(self, name: str) -> OSError | None:
        is_later = self.calls > self.nth and self.for_ever and name not in FREES_SPACE
        if self.calls != self.nth and not is_later:
            return None
        self.refused.append(name)
        return OSError(self.code, os.strerror(self.code))
