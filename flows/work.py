"""What the commands do, free of Prefect: ``--no-prefect`` runs these, and the flows run the very same."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from artifacts import durable
from artifacts.layout import LOCK
from artifacts.store import Store
from flows.build import as_before, build_snapshot, plan
from flows.outcome import BuildOptions, BuildResult, Start
from flows.request import IndexRequest
from flows.staged import Gathered, gathered
from flows.steps import Progress, Steps
from pipeline.errors import ArtifactError, StoreBusy
from pipeline.search_settings import Search
from pipeline.site_settings import Site

if TYPE_CHECKING:
    from docsite.build import SiteResult

_log = logging.getLogger("noctule")


@dataclass(frozen=True, slots=True)
class Night:
    """What a nightly run did."""

    build: BuildResult
    site: SiteResult


def require_ready(request: IndexRequest) -> None:
    """Returns if nothing plain to see stands in the way; what is found here needs no waiting for Prefect.

    Raises ``SettingsError``, ``SourceError``, ``MissingRoot`` or, while another run writes, ``StoreBusy``.
    """
    settings = request.settings()
    if not all(Path(collection.root).is_dir() for collection in settings.collections.values()):
        plan(settings)
    lock = request.store / LOCK
    if lock.exists():
        with durable.lock_exclusive(lock, "index"):
            pass


def look_ahead(request: IndexRequest, steps: Steps) -> BuildResult | None:
    """The result if nothing has changed since the current snapshot: that takes no Prefect, no model and no worker.

    Else what was looked at is kept for the run of this request that follows. Raises ``MissingRoot``.
    """
    start, settings, store = time.perf_counter(), request.settings(), Store(request.store)
    options = _options(request)
    given = gathered(settings, store, steps, options)
    done = as_before(given, store, steps, options, start)
    if done is None:
        _ahead[request] = given
    return done


# Of the run that this process was started for.
_ahead: dict[IndexRequest, Gathered] = {}


def build_index(request: IndexRequest, steps: Steps, progress: Progress) -> BuildResult:
    """The request's documents, published as the store's current snapshot; raises as ``build_snapshot`` does."""
    settings, store = request.settings(), Store(request.store)
    given = _ahead.pop(request, None)
    result = build_snapshot(settings, store, steps, progress, _options(request), given)
    if result.changed:
        _prune(store, settings.store.keep)
    return result


def _options(request: IndexRequest) -> BuildOptions:
    return BuildOptions(
        request.allow_empty, request.accept_drop, request.accept_shrink, cast(Start | None, request.start)
    )


def _prune(store: Store, keep: int) -> None:
    """Old snapshots go; the new one is published already, so this may fail without failing the run."""
    try:
        removed = store.prune(keep)
    except (StoreBusy, ArtifactError) as error:
        _log.warning("old snapshots were not removed: %s", error)
        return
    if removed:
        _log.info("%d old snapshots removed", len(removed))


def build_site(
    store: Path, out: Path, settings: Site, steps: Steps, ranking: Search | None = None
) -> SiteResult:
    """The store's current snapshot as a site in ``out``, which appears at once or not at all.

    Its search ranks as ``ranking`` says, by default as every search does.
    """
    from docsite.build import build_site as render

    with Store(store).open() as snapshot:
        return steps.run("site", lambda: render(snapshot, out, settings, ranking or Search()))


def night_site(request: IndexRequest, out: Path, steps: Steps) -> SiteResult:
    """The site of the current snapshot, as the request's settings want it."""
    settings = request.settings()
    return build_site(request.store, out, settings.site, steps, settings.search)


def build_night(request: IndexRequest, out: Path, steps: Callable[[], Steps], progress: Progress) -> Night:
    """The index, then the site of it; a failed index leaves the site as it was."""
    built = build_index(request, steps(), progress)
    return Night(built, night_site(request, out, steps()))
