"""The report of a night: what changed since the last snapshot, how long it took, how relevant answers are."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa

from ...artifacts.store.night_reports import nights, read_night, write_night
from ...artifacts.store.run_records import read_runs
from ...artifacts.store.snapshot import Snapshot
from ...artifacts.store.store import Store
from ...pipeline.errors import ArtifactError
from ...pipeline.model import SnapshotId
from ..incremental.rebuild_reasons import Rebuild
from ..quality import gate_lines
from ..run.stage import seconds_by_stage
from .document_changes import (
    DocumentChanges,
    LinkChanges,
    RefusedFiles,
    document_changes,
    link_changes,
    refused_files,
)
from .folder_changes import Folder, folder_changes
from .history import RECENT_RUNS, past_runs, usual
from .result import BuildResult, bytes_of
from .topic_changes import RisingTerm, TopicChanges, rising_terms, topic_changes

_log = logging.getLogger("noctule")
_SITE = "site"
_COUNTED = ("documents", "sections", "passages", "links", "communities", "terms", "vocabulary")


@dataclass(frozen=True, slots=True)
class Size:
    """The size of something, before and now."""

    what: str
    before: int
    now: int


@dataclass(frozen=True, slots=True)
class StageSeconds:
    """Seconds of a stage tonight, and the median of the last seven runs."""

    stage: str
    seconds: float
    usual: float


@dataclass(frozen=True, slots=True)
class NightReport:
    """A report of all that changed with a snapshot.

    ``previous`` is empty for the first; ``runs`` are the recent nights that it is compared with. ``failed``
    maps collections that keep their old documents to the reason.
    """

    snapshot: str
    previous: str
    finished: str
    documents: DocumentChanges
    refused: RefusedFiles
    links: LinkChanges
    topics: TopicChanges
    rising: tuple[RisingTerm, ...]
    sizes: tuple[Size, ...]
    seconds: float
    usual_seconds: float
    runs: int
    stages: tuple[StageSeconds, ...]
    encoded: int
    reused: int
    rebuilt: tuple[str, ...]
    failed: Mapping[str, str]
    relevance: tuple[str, ...]
    folders: tuple[Folder, ...] = ()


def keep_report(
    store: Store, result: BuildResult, previous: SnapshotId | None, rebuilt: Sequence[Rebuild]
) -> None:
    """Write the report of a night that made a snapshot beside it; an error is only a warning by now."""
    try:
        report = compose(store, result, previous, rebuilt)
        write_night(store.root, result.snapshot, asdict(report))
    except (ArtifactError, OSError, pa.ArrowException) as error:
        _log.warning("the night has no report: %s", error)


def compose(
    store: Store, result: BuildResult, previous: SnapshotId | None, rebuilt: Sequence[Rebuild]
) -> NightReport:
    """Return the report, from both snapshots and the records of runs; raise ``ArtifactError``."""
    now = store.read_unverified(result.snapshot)
    before = None if previous in (None, result.snapshot) else _readable(store, previous)
    runs = [run for run in past_runs(read_runs(store.root)) if run.snapshot != result.snapshot]
    # A first run takes ten times as long, one that found nothing new a tenth: they count where there is no
    # other.
    earlier = ([run for run in runs if run.kind == "incremental"] or runs)[:RECENT_RUNS]
    typical = usual(earlier)
    return NightReport(
        snapshot=result.snapshot,
        previous=before.id if before else "",
        finished=f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC",
        documents=document_changes(before, now),
        refused=refused_files(before, now),
        links=link_changes(before, now),
        topics=topic_changes(before, now),
        rising=rising_terms(before, now),
        sizes=_sizes(before, now),
        seconds=round(result.seconds, 3),
        usual_seconds=round(sum(typical.values()), 3),
        runs=len(earlier),
        stages=_stages(result, typical),
        encoded=result.encoded,
        reused=result.reused,
        rebuilt=tuple(map(str, rebuilt)),
        failed=result.failed,
        relevance=gate_lines.figures(result.relevance) if result.relevance else (),
        folders=folder_changes(before, now),
    )


def add_site(store: Path, snapshot: SnapshotId, seconds: float, healed: int = 0) -> None:
    """Add the first site of a snapshot to its night's report as a stage, and the files that any healed; raise
    ``WriteFailed``.
    """
    report = read_night(store, snapshot)
    if report is None:
        return
    if healed:
        report = report | {"healed": report.get("healed", 0) + healed}
        write_night(store, snapshot, report)
    if _site_seconds(report) is not None:
        return
    others = [took for each in nights(store) if (took := _site_seconds(each)) is not None]
    stage = StageSeconds(_SITE, round(seconds, 3), round(median(others), 3) if others else 0.0)
    write_night(store, snapshot, report | {"stages": [*report["stages"], asdict(stage)]})


def _site_seconds(report: Mapping[str, Any]) -> float | None:
    return next((each["seconds"] for each in report["stages"] if each["stage"] == _SITE), None)


def _readable(store: Store, snapshot: SnapshotId | None) -> Snapshot | None:
    try:
        return store.read_unverified(snapshot) if snapshot else None
    except ArtifactError as error:
        _log.warning("the report compares with nothing: %s", error)
        return None


def _sizes(before: Snapshot | None, now: Snapshot) -> tuple[Size, ...]:
    old: Mapping[str, int] = before.manifest.counts if before else {}
    found = [Size(name, old.get(name, 0), now.manifest.counts.get(name, 0)) for name in _COUNTED]
    return (*found, Size("bytes", bytes_of(before) if before else 0, bytes_of(now)))


def _stages(result: BuildResult, typical: Mapping[str, float]) -> tuple[StageSeconds, ...]:
    tonight = seconds_by_stage(result.times)
    return tuple(
        StageSeconds(name, tonight.get(name, 0.0), round(typical.get(name, 0.0), 3))
        for name in dict.fromkeys([*tonight, *typical])
    )
