"""Checks before a run: whether it can begin, and whether anything has changed.

This module imports little: its answer decides whether to start Prefect's server, which takes seconds.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...artifacts.disk import locks
from ...artifacts.disk.layout import LOCK
from ...artifacts.store.store import Store
from ..run.context import RunContext
from ..run.request import IndexRequest

if TYPE_CHECKING:
    from .unchanged import UnchangedSnapshot


def preflight(request: IndexRequest, out: Path | None = None) -> tuple[RunContext, UnchangedSnapshot | None]:
    """Return the context of the run, and the current snapshot if it was made from these sources and settings.

    The context knows what was found, so that the run need not look again. Raise what can be found cheaply:
    ``SettingsError``, ``SourceError``, ``MissingRoot`` and, while another run writes, ``StoreBusy``.
    """
    store, begins_later = Store(request.store), request.options.start is not None
    if begins_later:
        from ..graph import context_of  # knows which stages need no sources

        run = context_of(request, out)
    else:
        run = RunContext(request.settings(), request.store, request.options, out)
    store.require_own()
    if (lock := request.store / LOCK).exists():
        with locks.exclusive(lock, "index"):
            pass
    if begins_later:
        return run, None
    from .unchanged import find_unchanged  # imports what hashes files, and no model

    known, same = find_unchanged(run, store)
    return replace(run, known=known), same
