"""Checks before a run: whether it can begin, and whether anything has changed.

This module imports little: its answer decides whether to start Prefect's server, which takes seconds.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ...artifacts.disk import locks
from ...artifacts.disk.layout import LOCK
from ...artifacts.store.store import Store
from ..run.context import BuildOptions, RunContext
from ..run.request import IndexRequest

if TYPE_CHECKING:
    from .unchanged import UnchangedSnapshot


def require_ready(request: IndexRequest) -> None:
    """Raise the errors that can be found cheaply, before waiting for Prefect.

    These are ``SettingsError``, ``SourceError``, ``MissingRoot`` and, while another run writes,
    ``StoreBusy``.
    """
    settings = request.settings()
    Store(request.store).require_own()
    reads_files = request.start is None
    if reads_files and not all(Path(each.root).is_dir() for each in settings.collections.values()):
        from ..stages.sources import list_sources  # says which is missing, and takes a moment to import

        list_sources(settings)
    lock = request.store / LOCK
    if lock.exists():
        with locks.exclusive(lock, "index"):
            pass


def unchanged_snapshot(request: IndexRequest) -> UnchangedSnapshot | None:
    """Return the current snapshot if sources and settings have not changed since it was made; raise
    ``MissingRoot``.
    """
    from .unchanged import look  # imports what hashes files, and no model

    options = BuildOptions(start=request.start, accept_shrink=request.accept_shrink)
    run = RunContext(request.settings(), request.store, options, reads_sources=request.start is None)
    return look(run, Store(request.store))
