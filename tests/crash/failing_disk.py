"""A disk that refuses a call: the n-th, or every one from the n-th on that needs space."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from noctule.artifacts.disk.system_calls import Disk

FREES_SPACE = {"unlink", "rmdir", "close"}


@dataclass
class FailingDisk(Disk):
    """Refuses the n-th call with this error; if it is a full disk, it refuses every later one that needs
    space.
    """

    nth: int
    code: int
    for_ever: bool
    calls: int = 0
    refused: list[str] = field(default_factory=list)

    def __getattribute__(self, name: str) -> Any:
        method = super().__getattribute__(name)
        if name.startswith("_") or not callable(getattr(Disk, name, None)):
            return method
        return lambda *arguments: self._call(name, method, arguments)

    def _call(self, name: str, method: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        self.calls += 1
        if self.calls == self.nth or (self.calls > self.nth and self.for_ever and name not in FREES_SPACE):
            self.refused.append(name)
            if name == "close":
                method(*arguments)
            raise OSError(self.code, os.strerror(self.code))
        # Nothing cuts the power here, and a real sync costs a hundred times the rest.
        return None if name == "fsync" else method(*arguments)
