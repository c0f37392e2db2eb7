"""The main job: folders of documents become a published snapshot.

The same composition runs with Prefect and without: ``steps`` decides who calls the stages, and the snapshot
does not depend on it. Whatever fails, the current snapshot stays as it was.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from artifacts import durable
from artifacts.catalog import write_catalog
from artifacts.judged import Judged
from artifacts.layout import FAISS_INDEX, FORMAT_VERSION, table_file
from artifacts.manifest import IndexRecord, Manifest, ModelRecord
from artifacts.parquet import write_table
from artifacts.snapshot import Snapshot
from artifacts.store import Published, Staging, Store, describe
from artifacts.vectors import write_index
from flows import assemble, shrink
from flows.collect import Listing, list_sources, understand_all
from flows.engines.opened import opened
from flows.gate import Verdict, current_of, judge, judged_for
from flows.memory import give_back
from flows.parts import Parts
from flows.record import record, refused
from flows.required import require_documents, require_room
from flows.steps import Progress, StageTime, Steps
from pipeline import __version__, text
from pipeline.errors import SettingsError
from pipeline.model import Rejection, SnapshotId
from pipeline.settings import Settings

# Few enough that reading one passage's text reads little else.
PASSAGES_PER_GROUP = 1024
_TOOLS = (
    "faiss-cpu",
    "markdown-it-py",
    "networkx",
    "numpy",
    "pyarrow",
    "PyStemmer",
    "python-louvain",
    "torch",
)


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """What a run may be allowed to do.

    ``allow_empty``: publish although a collection holds nothing; ``accept_drop``: although relevance fell;
    ``accept_shrink``: although a collection lost many documents.
    """

    allow_empty: bool = False
    accept_drop: bool = False
    accept_shrink: bool = False


@dataclass(frozen=True, slots=True)
class BuildResult:
    """What a run did; ``encoded`` and ``reused`` count distinct passage texts."""

    snapshot: SnapshotId
    generation: int
    changed: bool
    documents: int
    passages: int
    skipped: int
    quarantined: int
    encoded: int
    reused: int
    rejections: tuple[Rejection, ...]
    times: tuple[StageTime, ...]
    seconds: float
    counts: Mapping[str, int]
    relevance: Verdict | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run would read: files by collection, and what it would leave out."""

    files: Mapping[str, int]
    bytes: int
    rejections: tuple[Rejection, ...]


def plan(settings: Settings) -> Plan:
    """What ``build_snapshot`` would read; nothing is written. Raises ``MissingRoot``."""
    listing = list_sources(settings)
    files = dict.fromkeys(settings.collections, 0)
    for file in listing.files:
        files[file.collection] += 1
    return Plan(files, sum(file.size for file in listing.files), listing.rejections)


def build_snapshot(
    settings: Settings, store: Store, steps: Steps, progress: Progress, options: BuildOptions | None = None
) -> BuildResult:
    """Indexes every collection and publishes the snapshot.

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
    with store.lock("index"):
        listing = steps.run("discover", lambda: list_sources(settings))
        if not options.accept_shrink:  # before hours of work
            shrink.require_unshrunk(settings, store, shrink.of_listing(listing), accept=False)
        staged = _stage(listing, settings, store, steps, progress, options)
        give_back()  # publishing reads everything again
        verdict = _through_gate(store, staged, judged, settings, steps)
        if verdict and verdict.reasons and not options.accept_drop:
            durable.remove_tree(staged.staging.path)
            raise refused(
                store, staged.manifest.snapshot_id(), verdict, steps.times, time.perf_counter() - start
            )
        # Not to be tried again: it ends with the staging moved or removed.
        published = steps.run("publish", lambda: store.publish(staged.staging, staged.manifest), once=True)
        result = _result(published, staged, verdict, steps, time.perf_counter() - start)
        record(store, result)
        return result


def _through_gate(
    store: Store, staged: _Staged, judged: Sequence[Judged], settings: Settings, steps: Steps
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


@dataclass(frozen=True, slots=True)
class _Staged:
    """A snapshot written aside, and what is still needed of the build: nothing large."""

    staging: Staging
    manifest: Manifest
    rejections: tuple[Rejection, ...]
    encoded: int
    distinct: int


def _stage(
    listing: Listing,
    settings: Settings,
    store: Store,
    steps: Steps,
    progress: Progress,
    options: BuildOptions,
) -> _Staged:
    with opened(settings, store) as engine:
        understanding = understand_all(listing, settings, store, steps, progress, engine)
        require_documents(settings, listing, understanding, allow_empty=options.allow_empty)
        found = shrink.of_understanding(understanding)
        shrink.require_unshrunk(settings, store, found, accept=options.accept_shrink)
        rejections, batches = understanding.rejections, [understanding.whole]
        del understanding  # its counts go as soon as they are in an index
        parts = Parts(settings, store, steps, progress, batches, rejections, engine)
    give_back()
    staging, manifest = steps.run("write", lambda: _write(store.stage(), parts))
    return _Staged(
        staging=staging,
        manifest=manifest,
        rejections=rejections,
        encoded=parts.encoded.computed,
        distinct=len(parts.encoded.hashes),
    )


def _write(staging: Staging, parts: Parts) -> tuple[Staging, Manifest]:
    """Every file of the snapshot but the manifest, which is returned."""
    written = parts.tables()
    for name, table in written.items():
        groups = {"postings": parts.prose, "code_postings": parts.code}.get(name)
        write_table(
            table,
            staging.path / table_file(name),
            row_group_size=PASSAGES_PER_GROUP if name in ("passages", "term_vectors") else 65_536,
            row_groups=assemble.group_sizes(groups) if groups else None,
        )
    index = write_index(parts.encoded.vectors, staging.path / FAISS_INDEX, parts.settings.vectors)
    write_catalog(staging.path, parts.encoder.dimension, parts.languages)
    counts = {name: len(table) for name, table in written.items()}
    return staging, _manifest(staging, counts, index, parts)


def _manifest(staging: Staging, counts: Mapping[str, int], index: IndexRecord, parts: Parts) -> Manifest:
    model = parts.encoder.model
    return Manifest(
        format_version=FORMAT_VERSION,
        files=describe(staging, counts),
        counts=dict(counts),
        settings_sha256=parts.settings.fingerprint(),
        settings=parts.settings.shaping(),
        model=ModelRecord(model.name, model.sha256, parts.encoder.dimension, parts.encoder.precision),
        index=index,
        analyzer={"version": text.VERSION, "languages": ",".join(parts.languages)},
        tools={"noctule": __version__} | {name: version(name) for name in _TOOLS},
    )


def _result(
    published: Published, staged: _Staged, verdict: Verdict | None, steps: Steps, seconds: float
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
    )
