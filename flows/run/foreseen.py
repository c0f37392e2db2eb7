"""Who wants to know of a snapshot that is written and not yet published: work on it can begin while it is proved."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from ...artifacts.store.manifest import Manifest

_log = logging.getLogger("noctule")
# The folder that the snapshot lies in, which gets another name when it is published, and what it holds.
Written = Callable[[Path, Manifest], None]

_around: ContextVar[Written | None] = ContextVar("foreseen", default=None)


@contextmanager
def foreseeing(written: Written) -> Iterator[None]:
    """Within the block ``written`` is told of each snapshot before it is published, if ever it is."""
    token = _around.set(written)
    try:
        yield
    finally:
        _around.reset(token)


def foresee(folder: Path, manifest: Manifest) -> None:
    """A snapshot is written. Whatever that leads to, it is published."""
    written = _around.get()
    try:
        if written is not None:
            written(folder, manifest)
    except Exception as error:
        _log.warning("nothing is begun ahead of the snapshot: %s", error)
