"""What is plain to see before a run: whether it can begin, and whether anything seems to have changed.

It imports little: with the answer Prefect's server is started, which takes seconds.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from ...artifacts.store import locks
from ...artifacts.store.layout import LOCK
from ...artifacts.store.run_records import recorded_at
from ...artifacts.store.store import Store
from .request import IndexRequest


def require_ready(request: IndexRequest) -> None:
    """Returns if nothing plain to see stands in the way; what is found here needs no waiting for Prefect.

    Raises ``SettingsError``, ``SourceError``, ``MissingRoot`` or, while another run writes, ``StoreBusy``.
    """
    settings = request.settings()
    Store(request.store).require_own()
    reads_files = request.start in (None, "parse")
    if reads_files and not all(Path(each.root).is_dir() for each in settings.collections.values()):
        from ..stages.sources import list_sources  # says which is missing, and takes a moment to import

        list_sources(settings)
    lock = request.store / LOCK
    if lock.exists():
        with locks.exclusive(lock, "index"):
            pass


def seems_changed(request: IndexRequest) -> bool:
    """Whether the sources or the settings are newer than the last run on record, by times alone: a guess."""
    config = () if request.config is None else (request.config,)
    roots = [Path(each.root) for each in request.settings().collections.values()]
    return newer_than(recorded_at(request.store), (*config, *roots))


def newer_than(time_s: float, paths: Iterable[Path]) -> bool:
    """Whether a path, or anything below it, was changed after this time.

    Times can lie, so all that hangs on it is what is done first.
    """
    return any(changed > time_s for path in paths for changed in _times(path))


def _times(path: Path) -> Iterator[float]:
    """When it and everything below it was changed, but for hidden names and what cannot be looked at."""
    with suppress(OSError):  # the run says what is wrong
        yield path.stat().st_mtime
    folders = [os.fspath(path)]
    while folders:
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                with suppress(OSError):
                    yield entry.stat(follow_symlinks=False).st_mtime
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
