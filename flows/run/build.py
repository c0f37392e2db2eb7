"""The main job: folders of documents become a published snapshot.

The same composition runs with Prefect and without: ``steps`` decides who calls the stages, and the snapshot
does not depend on it. Whatever fails, the current snapshot stays as it was.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence

from ...artifacts.judged.reading import Judged
from ...artifacts.store import durable
from ...artifacts.store.snapshot import Snapshot
from ...artifacts.store.store import Published, Store
from ...pipeline.errors import SettingsError, WriteFailed
from ...pipeline.settings.settings import Settings
from ..engines.open import opened
from ..incremental.unchanged import as_before
from ..quality.gate import Verdict, current_of, judge, judged_for
from ..report.record import record, refused
from ..stages.required import require_room
from .foreseen import foresee
from .gathered import Gathered, gathered
from .memory import give_back
from .result import BuildOptions, BuildResult
from .staged import Run, Staged, stage
from .steps import Progress, Steps

_log = logging.getLogger("noctule")


def build_snapshot(
    settings: Settings,
    store: Store,
    steps: Steps,
    progress: Progress,
    options: BuildOptions | None = None,
    ahead: Gathered | None = None,
) -> BuildResult:
    """Indexes every collection and publishes the snapshot; ``ahead`` is what a look at the sources found already.

    Raises ``MissingRoot``, ``EmptyCollection``, ``CollectionShrank``, ``RelevanceFell``, ``SourceError``,
    ``SettingsError``, ``StoreBusy``, ``WriteFailed`` or ``DamagedSnapshot``; the current snapshot is then untouched.
    """
    start, options = time.perf_counter(), options or BuildOptions()
    if not settings.collections:
        raise SettingsError(
            "there is nothing to index",
            where="collections",
            hint="Name a folder, or make a noctule.toml: noctule init",
        )
    require_room(settings)
    judged = judged_for(settings)
    with store.lock("index"), opened(settings, store) as engine:
        run = Run(settings, store, engine, steps, progress, options)
        given = ahead or gathered(settings, store, steps, options)
        if (done := as_before(given.inputs, store, steps, options, start)) is not None:
            return done
        staged = stage(run, given)
        foresee(staged.staging.path, staged.manifest)
        give_back()  # publishing reads everything again
        verdict = _through_gate(store, staged, judged, settings, steps)
        if verdict and verdict.reasons and not options.accept_drop:
            durable.remove_tree(staged.staging.path)
            raise refused(
                store, staged.manifest.snapshot_id(), verdict, steps.times, time.perf_counter() - start
            )
        _remember(staged)
        # Not to be tried again: it ends with the staging moved or removed.
        published = steps.run("publish", lambda: store.publish(staged.staging, staged.manifest), once=True)
        result = _result(published, staged, verdict, steps, time.perf_counter() - start)
        _tidy(staged, store, settings)
        record(store, result)
        return result


def _through_gate(
    store: Store, staged: Staged, judged: Sequence[Judged], settings: Settings, steps: Steps
) -> Verdict | None:
    """What judged queries say of the snapshot that is not published yet; nothing where there are none."""
    if not judged:
        return None
    # Opened here: a second try must not find it closed.
    return steps.run(
        "relevance",
        lambda: judge(
            Snapshot(staged.staging.path, staged.manifest, None), current_of(store), judged, settings
        ),
    )


def _remember(staged: Staged) -> None:
    """Write down what each collection says, for a night on which it fails; a disk that refuses is a warning."""
    try:
        staged.remembered.record(staged.manifest.snapshot_id(), staged.published)
    except WriteFailed as error:
        _log.warning("a collection that fails in the next run will fail that run: %s", error)


def _tidy(staged: Staged, store: Store, settings: Settings) -> None:
    """Drop what is remembered of snapshots that are gone; the new one is out, so a disk that refuses is a warning."""
    try:
        # The current snapshot, the one before, and those that prune would keep besides.
        snapshots = [info.snapshot_id for info in store.snapshots()]
        staged.remembered.tidy(snapshots, 2 + settings.store.keep)
    except WriteFailed as error:
        _log.warning("what is remembered takes more room than it needs: %s", error)


def _result(
    published: Published, staged: Staged, verdict: Verdict | None, steps: Steps, seconds: float
) -> BuildResult:
    kinds = [rejection.kind for rejection in staged.rejections]
    counts = staged.manifest.counts
    return BuildResult(
        snapshot=published.snapshot_id,
        generation=published.generation,
        changed=published.changed,
        documents=counts["documents"],
        passages=counts["passages"],
        skipped=kinds.count("skipped"),
        quarantined=kinds.count("quarantined"),
        encoded=staged.encoded,
        reused=staged.distinct - staged.encoded,
        rejections=staged.rejections,
        times=steps.times,
        seconds=seconds,
        counts=dict(counts),
        relevance=verdict,
        parsed=staged.parsed,
        failed=staged.failed,
        inputs=staged.inputs,
    )
