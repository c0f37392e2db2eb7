"""What the commands do, free of Prefect: ``--no-prefect`` runs these, and the flows run the very same."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ...artifacts.cache.parse_cache import ParseCache
from ...artifacts.store import durable, locks
from ...artifacts.store.layout import NIGHT_LOCK
from ...artifacts.store.night_reports import read_night
from ...artifacts.store.replaced_sites import replaced_site
from ...artifacts.store.store import Store
from ...pipeline.errors import ArtifactError, NoctuleError, PartialFailure, StoreBusy, WriteFailed
from ...pipeline.model import SnapshotId
from ...pipeline.settings.search import Search
from ...pipeline.settings.site import Site
from ..incremental.rebuild_reasons import rebuilds
from ..incremental.unchanged import as_before
from ..report.night import add_site, keep_report
from .background import beside
from .foreseen import foreseeing
from .gathered import Gathered, gathered
from .request import IndexRequest
from .result import BuildOptions, BuildResult, Start
from .steps import Progress, Steps

if TYPE_CHECKING:
    from ...artifacts.remote.send import Sent
    from ...artifacts.store.manifest import Manifest
    from ...docsite.build import SiteResult
    from ...docsite.search_only import SearchOnlyResult

_log = logging.getLogger("noctule")
# What another process does of a site.
SITE_WORK = (
    "noctule.docsite.search.background",
    "noctule.docsite.search.background_excerpts",
    "noctule.docsite.pages.background",
)


@dataclass(frozen=True, slots=True)
class Night:
    """What a nightly run did."""

    build: BuildResult
    site: SiteResult


def look_ahead(request: IndexRequest, steps: Steps) -> BuildResult | None:
    """The result if nothing has changed since the current snapshot: that takes no Prefect, no model and no worker.

    Else what was looked at is kept for the run of this request that follows. Raises ``MissingRoot``.
    """
    start, settings, store = time.perf_counter(), request.settings(), Store(request.store)
    options = options_of(request)
    given = gathered(settings, store, steps, options)
    done = as_before(given.inputs, store, steps, options, start)
    if done is None:
        _ahead[request] = given
    return done


def read_ahead(request: IndexRequest) -> None:
    """What the store remembers is read for the run of this request that follows a look at its sources."""
    if (given := _ahead.get(request)) is not None and given.looked is not None:
        _ahead[request] = replace(given, remembered=ParseCache(request.store))


# Of the run that this process was started for.
_ahead: dict[IndexRequest, Gathered] = {}


def build_index(request: IndexRequest, steps: Steps, progress: Progress) -> BuildResult:
    """The request's documents, published as the store's current snapshot; raises as ``build_snapshot`` does."""
    from .build import build_snapshot  # imports for a second what a run without changes does not need

    settings, store = request.settings(), Store(request.store)
    given = _ahead.pop(request, None)
    rebuilt, previous = rebuilds(store, settings), _current(store)
    for reason in rebuilt:
        _log.info("%s", reason)
    result = build_snapshot(settings, store, steps, progress, options_of(request), given)
    if result.changed:
        keep_report(store, result, previous, rebuilt)
        _prune(store, settings.store.keep)
    return result


def options_of(request: IndexRequest) -> BuildOptions:
    """What the request allows, and where it begins."""
    return BuildOptions(
        request.allow_empty, request.accept_drop, request.accept_shrink, cast(Start | None, request.start)
    )


def _current(store: Store) -> SnapshotId | None:
    try:
        return store.current()
    except ArtifactError:
        return None  # the run mends it, or says what is wrong


def _prune(store: Store, keep: int) -> None:
    """Old snapshots go; the new one is published already, so this may fail without failing the run."""
    try:
        removed = store.prune(keep)
    except (StoreBusy, ArtifactError) as error:
        _log.warning("old snapshots were not removed: %s", error)
        return
    if removed:
        _log.info("%d old snapshots removed", len(removed))


def publish_elsewhere(
    store: Path, targets: Sequence[str], keep: int, steps: Steps, *, deep: bool = False
) -> tuple[Sent, ...]:
    """The store's current snapshot at every target; raises ``PartialFailure`` if some could not be reached."""
    sent: list[Sent] = []
    failures: list[NoctuleError] = []
    for target in targets:
        try:
            sent.append(steps.run(f"publish to {target}", partial(_send, store, target, keep, deep)))
        except NoctuleError as error:
            if len(targets) == 1:
                raise
            _log.error("not published to %s: %s", target, error)
            failures.append(error)
    if failures:
        raise PartialFailure(
            f"{len(failures)} of {len(targets)} publishing targets failed: {'; '.join(e.what for e in failures)}",
            where=", ".join(error.where for error in failures),
            hint="The snapshot is published here and at the others. Send it again: noctule publish",
        )
    return tuple(sent)


def publish_as_set(request: IndexRequest, built: BuildResult, steps: Steps) -> tuple[Sent, ...]:
    """The current snapshot at the targets that the settings name; raises as ``publish_elsewhere`` does, and says then which
    collections had failed before that."""
    publish = request.settings().publish
    try:
        return publish_elsewhere(request.store, publish.targets, publish.keep, steps)
    except NoctuleError:
        for name, why in built.failed.items():
            _log.error("collection %s failed and is as it was: %s", name, why)
        raise


def _send(store: Path, target: str, keep: int, deep: bool) -> Sent:
    from ...artifacts.remote.send import send

    return send(Store(store), target, keep, deep=deep)


def build_site(
    store: Path, out: Path, settings: Site, steps: Steps, ranking: Search | None = None, *, full: bool = False
) -> SiteResult:
    """The store's current snapshot as a site in ``out``, which appears at once or not at all.

    Its search ranks as ``ranking`` says, by default as every search does. With ``full`` every file is made anew.
    """
    from ...docsite.build import build_site as render

    with Store(store).open() as snapshot, beside() as other:
        built = steps.run(
            "site",
            lambda: render(
                snapshot,
                out,
                settings,
                ranking or Search(),
                full=full,
                beside=other,
                aside=replaced_site(store, out),
            ),
        )
        _fill_report(store, snapshot.id, out.resolve(), steps.times[-1].seconds)
        return built


def _fill_report(store: Path, snapshot: SnapshotId, site: Path, seconds: float) -> None:
    """The night's report on the site's page; the site is there already, so a refusal is a warning."""
    from ...docsite.pages.report import fill_report
    from ..report.sheets import sheets

    try:
        add_site(store, snapshot, seconds)
    except (WriteFailed, KeyError, TypeError) as error:
        _log.warning("the seconds of the site are not in the night's report: %s", error)
    night = read_night(store, snapshot)
    try:
        if night is not None:
            fill_report(site, sheets(night))
    except (WriteFailed, KeyError, TypeError, ValueError) as error:
        _log.warning("the site has no report of the night: %s", error)


def build_search(
    store: Path, out: Path, settings: Site, steps: Steps, ranking: Search, *, insert: bool = False
) -> SearchOnlyResult:
    """The search of the store's current snapshot for the pages in ``out``, which something else built."""
    from ...docsite.search_only import build_search as render

    with Store(store).open() as snapshot, beside() as other:
        return steps.run(
            "search", lambda: render(snapshot, out, settings, ranking, insert=insert, beside=other)
        )


def night_site(request: IndexRequest, out: Path, steps: Steps) -> SiteResult:
    """The site of the current snapshot, as the request's settings want it."""
    settings = request.settings()
    return build_site(request.store, out, settings.site, steps, settings.search)


@contextmanager
def site_beside(request: IndexRequest, out: Path) -> Iterator[None]:
    """A process beside the block, which begins with the site as soon as a snapshot for it is written."""
    settings = request.settings()
    with beside(SITE_WORK) as other:

        def written(folder: Path, manifest: Manifest) -> None:
            from ...docsite.search.background import LookupJob, begin_ahead

            if settings.site.search and manifest.snapshot_id() != _current(Store(request.store)):
                begin_ahead(LookupJob(folder, manifest, settings.search, out.resolve()), other)

        with foreseeing(written):
            yield


@contextmanager
def only_night(store: Path) -> Iterator[None]:
    """The block is the only night of this store: else a site made of an older snapshot could take the place of a newer one.

    Raises ``StoreBusy``. The store's own lock is held while its snapshot is made, and not for the site that follows.
    """
    durable.make_directory(store)
    with locks.exclusive(store / NIGHT_LOCK, "nightly"):
        yield


def build_night(request: IndexRequest, out: Path, steps: Callable[[], Steps], progress: Progress) -> Night:
    """The index, the site of it, then other places; a failed index leaves the site as it was."""
    with only_night(request.store):
        with site_beside(request, out):
            built = build_index(request, steps(), progress)
            night = Night(built, night_site(request, out, steps()))
        publish_as_set(request, built, steps())
        return night


def unchanged_night(
    request: IndexRequest, built: BuildResult, out: Path, steps: Callable[[], Steps]
) -> Night:
    """The site of a snapshot that is as it was, which may be another site, then other places."""
    with only_night(request.store):
        night = Night(built, night_site(request, out, steps()))
        publish_as_set(request, built, steps())
        return night
