"""The contents of the store, and the report on one of them: counts, files left out, broken links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from itertools import repeat
from typing import TYPE_CHECKING, Any

from ...artifacts.store.night_reports import read_night
from ...artifacts.store.run_records import read_runs
from ...artifacts.store.snapshot import read_manifest
from ...artifacts.store.store import Store
from ...pipeline.directives import is_fault
from ...pipeline.errors import ArtifactError, NoSnapshot
from ...pipeline.model import OTHER_PROJECT, ReportEntry, SnapshotId, leads_nowhere
from ...pipeline.visibility import DRAFT, UNLISTED, UNSEARCHED
from .history import recorded_seconds

if TYPE_CHECKING:
    from ...artifacts.store.contents import SnapshotInfo
    from ...artifacts.store.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class SnapshotRow:
    """A snapshot in the store's list; ``damage`` says why its manifest cannot be read."""

    snapshot: SnapshotId
    generation: int
    current: bool
    previous: bool
    documents: int = 0
    passages: int = 0
    bytes: int = 0
    damage: str = ""


@dataclass(frozen=True, slots=True)
class UnresolvedLink:
    """A link target that no document here has; ``first_source`` is the first document that links to it."""

    target: str
    status: str
    count: int
    first_source: str


@dataclass(frozen=True, slots=True)
class SnapshotReport:
    """All that ``noctule report`` shows; ``stages`` and ``finished`` are empty if the run's record is gone.

    ``other_projects`` are labels for which Sphinx would look in other projects; they count as no broken link.
    ``night`` is the report of the night that made the snapshot, empty if it has none. ``relevance`` is what
    the gate found when the snapshot was made, and ``refused`` the last run that it stopped since then; both
    are empty where there is none.
    """

    snapshot: SnapshotId
    settings_sha256: str
    model: str
    counts: Mapping[str, int]
    rejected: tuple[ReportEntry, ...]
    unresolved: int
    unresolved_targets: tuple[UnresolvedLink, ...]
    other_projects: tuple[UnresolvedLink, ...]
    finished: str
    seconds: float
    stages: Mapping[str, float]
    relevance: Mapping[str, object] = field(default_factory=dict)
    refused: Mapping[str, object] = field(default_factory=dict)
    night: Mapping[str, Any] = field(default_factory=dict)

    @property
    def skipped(self) -> int:
        """Return the number of files passed over, such as links, pipes and drafts."""
        return sum(each.kind == "skipped" for each in self.rejected)

    @property
    def quarantined(self) -> int:
        """Return the number of files that could not be used."""
        return sum(each.kind == "quarantined" for each in self.rejected)

    @property
    def directives(self) -> int:
        """Return the number of directives that stand as text or name a missing file."""
        return sum(is_fault(each.reason) for each in self.rejected)

    @property
    def private(self) -> dict[str, int]:
        """Return the numbers of documents that their front matter keeps from readers, by how much."""
        kinds = {"drafts": DRAFT, "unlisted": UNLISTED, "unsearched": UNSEARCHED}
        reasons = [each.reason for each in self.rejected]
        return {name: sum(map(str.startswith, reasons, repeat(text))) for name, text in kinds.items()}

    def as_dict(self) -> dict[str, object]:
        """Return the report as a JSON object."""
        counted = {name: getattr(self, name) for name in ("skipped", "quarantined", "directives", "private")}
        return asdict(self) | counted


def chosen(store: Store, named: str | None) -> SnapshotId:
    """Return the snapshot named, or the current one; raise ``NoSnapshot`` if there is none."""
    if named is not None:
        return SnapshotId(named)
    current = store.current()
    if current is None:
        raise NoSnapshot(
            "nothing has been published yet", where=str(store.root), hint="Make one: noctule index FOLDER"
        )
    return current


def snapshot_rows(store: Store) -> tuple[SnapshotRow, ...]:
    """Return every snapshot of the store, the latest to become current first."""
    store.current()  # A pointer that cannot be read must not look like a store without a current snapshot.
    return tuple(_row(info, store) for info in store.snapshots())


def _row(info: SnapshotInfo, store: Store) -> SnapshotRow:
    row = SnapshotRow(info.snapshot_id, info.generation, info.current, info.previous)
    try:
        manifest = read_manifest(store.path_of(row.snapshot), row.snapshot)
    except ArtifactError as error:
        return replace(row, damage=error.what)
    documents, passages = (manifest.counts.get(name, 0) for name in ("documents", "passages"))
    size = sum(entry.bytes for entry in manifest.files.values())
    return replace(row, documents=documents, passages=passages, bytes=size)


def snapshot_report(store: Store, named: str | None) -> SnapshotReport:
    """Return what the snapshot named (or the current one) holds and left out; raise as ``Store.open``."""
    with store.open(None if named is None else SnapshotId(named)) as snapshot:
        manifest, run = snapshot.manifest, _run_of(store, snapshot.id)
        targets = _unresolved(snapshot)
        missing = tuple(each for each in targets if each.status != OTHER_PROJECT)
        return SnapshotReport(
            snapshot=snapshot.id,
            settings_sha256=manifest.settings_sha256,
            model=manifest.model.name,
            counts=dict(manifest.counts),
            rejected=tuple(ReportEntry(**row) for row in snapshot.table("report").to_pylist()),
            unresolved=sum(each.count for each in missing),
            unresolved_targets=missing,
            other_projects=tuple(each for each in targets if each.status == OTHER_PROJECT),
            finished=_readable(run.get("finished", "")),
            seconds=run.get("seconds", 0.0),
            stages=recorded_seconds(run) if run.get("times") else {},
            relevance=run.get("relevance") or {},
            refused=_refused(store) if named is None else {},
            night=read_night(store.root, snapshot.id) or {},
        )


def remarks_of(snapshot: Snapshot) -> list[tuple[str, str]]:
    """Return the remarks on documents that were indexed, each after the document's name."""
    rows = snapshot.table("report").to_pylist()
    return [(f"{row['collection']}:{row['path']}", row["reason"]) for row in rows if row["kind"] == "noted"]


def _unresolved(snapshot: Snapshot) -> tuple[UnresolvedLink, ...]:
    """Return link targets that no document here has by how often they are linked to, then by name."""
    links = snapshot.table("links", ["source_id", "target", "status"])
    counts: dict[tuple[str, str], int] = {}
    first: dict[tuple[str, str], str] = {}
    columns = (links.column(name).to_pylist() for name in ("source_id", "target", "status"))
    for source, target, status in zip(*columns, strict=True):
        if leads_nowhere(status):
            counts[target, status] = counts.get((target, status), 0) + 1
            first.setdefault((target, status), source)
    ordered = sorted(counts, key=lambda key: (-counts[key], key))
    return tuple(UnresolvedLink(key[0], key[1], counts[key], first[key]) for key in ordered)


def _refused(store: Store) -> Mapping[str, object]:
    """Return the latest run's record, if the gate stopped that run."""
    latest = next(iter(read_runs(store.root)), {})
    return latest | {"finished": _readable(latest["finished"])} if "refused" in latest else {}


def gate_lines(relevance: Mapping[str, object]) -> tuple[str, ...]:
    """Return the gate's findings as lines; none if it did not run."""
    lines = relevance.get("said", ())
    return tuple(map(str, lines)) if isinstance(lines, list) else ()


def _run_of(store: Store, snapshot: SnapshotId) -> Mapping[str, Any]:
    """Return the record of the run that made the snapshot, which is the first; empty if there is none."""
    return next((each for each in reversed(read_runs(store.root)) if each.get("snapshot") == snapshot), {})


def _readable(stamp: str) -> str:
    """Return the time in a record's name, such as ``20261121T032825491023Z``, in readable form."""
    try:
        return f"{datetime.strptime(stamp, '%Y%m%dT%H%M%S%fZ').replace(tzinfo=UTC):%Y-%m-%d %H:%M:%S} UTC"
    except ValueError:
        return stamp
