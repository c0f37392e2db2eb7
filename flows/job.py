"""A run's work, with or without Prefect: an index, a site, both as one night, and copies elsewhere.

``noctule.flows.graph`` has the stages; this module says which products a run wants, under which locks they
are made, and what is recorded about it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..artifacts.disk import durable, locks
from ..artifacts.disk.layout import NIGHT_LOCK
from ..artifacts.disk.manifest import Manifest
from ..artifacts.store.night_reports import read_night
from ..artifacts.store.run_records import read_runs
from ..artifacts.store.staging import Staging
from ..artifacts.store.store import Published, Store
from ..pipeline.errors import ArtifactError, NoctuleError, StoreBusy, WriteFailed, machine_refusals
from ..pipeline.model import SnapshotId
from .engines.open import opened
from .graph import BUILD
from .incremental.rebuild_reasons import rebuilds
from .incremental.unchanged import UnchangedSnapshot, inputs_of, unchanged
from .report.night import add_site, keep_report
from .report.result import BuildResult, record, require_relevance
from .run.background import Background
from .run.context import Resources, RunContext
from .run.executor import Execution
from .run.request import require_collections
from .run.stage import Silent, Stage
from .shards.build import build_set
from .stages.guards import require_room
from .stages.site import build_search
from .stages.write import StagedSnapshot

if TYPE_CHECKING:
    from ..artifacts.remote.send import Sent
    from ..docsite.build import SiteResult
    from ..docsite.search_only import SearchOnlyResult
    from .run.stage import Driver, Progress

_log = logging.getLogger("noctule")


@dataclass(frozen=True, slots=True)
class JobResult:
    """The result of a run: one field for each part that was requested."""

    build: BuildResult | None = None
    site: SiteResult | None = None
    search: SearchOnlyResult | None = None
    sent: tuple[Sent, ...] = ()


def run_job(
    run: RunContext,
    driver: Driver,
    progress: Progress,
    *,
    index: bool = True,
    publish: bool = True,
    same: UnchangedSnapshot | None = None,
    stages: Sequence[Stage] = BUILD,
) -> JobResult:
    """Build the index, then the site if the run has a folder for one, then send copies to other places.

    ``same`` is the unchanged snapshot found by a check before the run, if any. A failed index leaves the site
    as it was, and a failed copy leaves both. Raise ``MissingRoot``, ``EmptyCollection``,
    ``CollectionShrank``, ``RelevanceFell``, ``SourceError``, ``SettingsError``, ``StoreBusy``,
    ``WriteFailed``, ``OutOfResources`` or ``DamagedSnapshot`` with the current snapshot untouched;
    ``PartialFailure`` where only a copy failed.
    """
    run = _in_version(run)
    store, publish = Store(run.store), publish and bool(run.settings.publish.targets)
    parts = {"published": index, "site": run.out is not None, "sent": publish}
    wanted = [product for product, is_wanted in parts.items() if is_wanted]
    with machine_refusals(str(run.store)), ExitStack() as stack:
        if index and run.out:
            stack.enter_context(only_night(run.store))
        background = stack.enter_context(Background())
        given = {"run": run, "store": store, "resources": Resources(driver, progress, background)}
        asked = [_known(each, run) for each in stages if publish or "sent" not in each.makes]
        execution = stack.enter_context(Execution(asked, given, driver, background, wanted))
        built = _index(run, store, driver, execution, same) if index else None
        if built is None:
            _provide_current(store, execution)
        made = _site(run, driver, execution) if run.out else None
        sent = _publish(built, execution) if publish else ()
        execution.finish()
        return JobResult(built, made, sent=sent)


def _in_version(run: RunContext) -> RunContext:
    """Return the run; that of a version has a folder below the one of all versions, and its address."""
    if run.out is None or not run.settings.site.version:
        return run
    from ..docsite.editions.versions import require_room_for_versions, site_of_version

    require_room_for_versions(run.out)
    settings = run.settings.model_copy(update={"site": site_of_version(run.settings.site)})
    return replace(run, settings=settings, out=run.out / run.settings.site.version)


def _known(stage: Stage, run: RunContext) -> Stage:
    """Return the stage; one whose products a check before the run has made only hands them on."""
    if not set(stage.makes) <= run.known.keys():
        return stage
    made = tuple(run.known[product] for product in stage.makes)
    return replace(stage, function=lambda *_: made[0] if len(made) == 1 else made)


def run_search_only(run: RunContext, driver: Driver, *, insert: bool = False) -> JobResult:
    """Build the search of the current snapshot for pages in the run's folder that another tool built."""
    with machine_refusals(str(run.store)), Background() as background:
        work = partial(build_search, run, Resources(driver, Silent(), background), insert=insert)
        return JobResult(search=driver.call(Stage("search", build_search, (), ("search",)), work, ())[0])


def _index(
    run: RunContext, store: Store, driver: Driver, execution: Execution, same: UnchangedSnapshot | None
) -> BuildResult:
    """Publish the documents as the store's current snapshot, unless that has the same inputs."""
    start = time.perf_counter()
    if same is not None:
        return _unchanged(same, store, driver, execution, start)
    require_collections(run.settings, where="collections")
    require_room(run.settings)
    execution.make("judged")
    previous, reasons = _current(store), rebuilds(store, run.settings)
    for reason in reasons:
        _log.info("%s", reason)
    with store.lock("index"), opened(run.settings, store) as engine:
        execution.provide(engine=engine)
        if run.settings.shards.wanted:
            result = build_set(run, store, driver, execution, engine)
        else:
            result = _build(run, store, driver, execution)
        if isinstance(result, UnchangedSnapshot):
            return _unchanged(result, store, driver, execution, start)
        record(store, result)
    if result.changed:
        keep_report(store, result, previous, reasons)
        _prune(store, run.settings.store.keep)
    if run.settings.shards.wanted or not result.changed:
        _provide_current(store, execution)
    return result


def _unchanged(
    same: UnchangedSnapshot, store: Store, driver: Driver, execution: Execution, start: float
) -> BuildResult:
    """Provide the snapshot to later stages, and record that it is still the current one."""
    _provide(execution, store.path_of(same.snapshot), same.manifest, same.generation)
    result = BuildResult(
        snapshot=same.snapshot,
        generation=same.generation,
        changed=False,
        encoded=0,
        reused=same.manifest.counts["vectors"],
        rejections=same.rejections,
        times=driver.times,
        seconds=time.perf_counter() - start,
        counts=dict(same.manifest.counts),
        inputs=same.inputs,
    )
    record(store, result)
    return result


def _build(
    run: RunContext, store: Store, driver: Driver, execution: Execution
) -> BuildResult | UnchangedSnapshot:
    """Make the snapshot and publish it, unless it is the current one, or answers judged queries too badly."""
    start = time.perf_counter()
    inputs = inputs_of(execution.make("hashed"), execution.make("listing"), run.settings)
    if (found := unchanged(run, store, inputs)) is not None:
        return found
    corpus, vectors = execution.make("corpus_record"), execution.make("vectors")
    encoded, distinct = vectors.computed, len(vectors.hashes)
    del vectors  # or it would stay in memory beside the snapshot's tables
    staged: StagedSnapshot = execution.make("staged")
    verdict = execution.make("verdict")
    require_relevance(run, store, staged, verdict, driver.times)
    published: Published = execution.make("published")
    return BuildResult(
        published.snapshot_id,
        published.generation,
        published.changed,
        encoded=encoded,
        reused=distinct - encoded,
        rejections=corpus.rejections,
        times=driver.times,
        seconds=time.perf_counter() - start,
        counts=dict(staged.manifest.counts),
        relevance=verdict,
        parsed=corpus.parsed,
        failed=corpus.failed,
        inputs=inputs if corpus.as_hashed else "",
    )


def _provide_current(store: Store, execution: Execution) -> None:
    """Provide the current snapshot to later stages."""
    with store.open() as snapshot:
        _provide(execution, snapshot.path, snapshot.manifest, store.generation())


def _provide(execution: Execution, path: Path, manifest: Manifest, generation: int) -> None:
    published = Published(manifest.snapshot_id(), generation, changed=False)
    execution.provide(staged=StagedSnapshot(Staging(path), manifest), published=published)


def _site(run: RunContext, driver: Driver, execution: Execution) -> SiteResult:
    """Build the site and put the night's report into its page."""
    published: Published = execution.make("published")
    made: SiteResult = execution.make("site")
    seconds = next(time.seconds for time in reversed(driver.times) if time.stage == "site")
    _fill_report(run, published.snapshot_id, seconds, made.healed)
    if run.out is not None and run.settings.site.version:
        from ..docsite.editions.versions import add_version

        add_version(run.out.parent, run.settings.site)
    return made


def _fill_report(run: RunContext, snapshot: SnapshotId, seconds: float, healed: int) -> None:
    """Put the night's report on the site's page; the site exists by then, so an error is only a warning."""
    from ..docsite.pages.report import fill_report
    from .report.dashboard import dashboard
    from .report.sheets import sheets
    from .report.trends import last_nights

    assert run.out is not None
    try:
        add_site(run.store, snapshot, seconds, healed)
    except (WriteFailed, KeyError, TypeError) as error:
        _log.warning("the seconds of the site are not in the night's report: %s", error)
    night = read_night(run.store, snapshot)
    try:
        if night is not None:
            pictures = dashboard(night, last_nights(read_runs(run.store)))
            fill_report(run.out.resolve(), [*pictures, *sheets(night)])
    except (WriteFailed, KeyError, TypeError, ValueError) as error:
        _log.warning("the site has no report of the night: %s", error)


def _publish(built: BuildResult | None, execution: Execution) -> tuple[Sent, ...]:
    """Send the snapshot to the targets; if that fails, first report which collections had failed before."""
    try:
        sent: tuple[Sent, ...] = execution.make("sent")
        return sent
    except NoctuleError:
        for name, why in (built.failed if built else {}).items():
            _log.error("collection %s failed; its documents are unchanged: %s", name, why)
        raise


def only_night(store: Path) -> AbstractContextManager[None]:
    """Hold the lock of the store's nights; raise ``StoreBusy``.

    Without it, a site of an older snapshot could replace a newer one. The store's own lock is held while its
    snapshot is made, and not for the site that follows.
    """
    durable.make_directory(store)
    return locks.exclusive(store / NIGHT_LOCK, "nightly")


def _current(store: Store) -> SnapshotId | None:
    try:
        return store.current()
    except ArtifactError:
        return None  # the run mends it, or says what is wrong


def _prune(store: Store, keep: int) -> None:
    """Remove old snapshots; the new one is published already, so this may fail without failing the run."""
    try:
        removed = store.prune(keep)
    except (StoreBusy, ArtifactError) as error:
        _log.warning("old snapshots were not removed: %s", error)
        return
    if removed:
        _log.info("%d old snapshots removed", len(removed))
