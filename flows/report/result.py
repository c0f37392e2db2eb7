"""The result of an index run, and the record that it leaves: what it published, or refused to."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from ...artifacts.disk import folders
from ...artifacts.store.run_records import read_runs, write_run
from ...artifacts.store.snapshot import Snapshot
from ...artifacts.store.store import Store
from ...pipeline.errors import ArtifactError, PartialFailure, RelevanceFell, WriteFailed
from ...pipeline.model import ReportEntry, SnapshotId
from ..quality.gate_lines import lines
from ..run.context import RunContext
from ..run.stage import StageTime
from ..stages.write import StagedSnapshot

if TYPE_CHECKING:
    from ..quality.gate import Verdict

_log = logging.getLogger("noctule")
_SIZES = ("bytes", "broken_links")
TOTALS = ("documents", "passages", "skipped", "quarantined")


@dataclass(frozen=True, slots=True)
class BuildResult:
    """The result of a run; ``encoded`` and ``reused`` count distinct passage texts, ``parsed`` files.

    ``counts`` has the rows of each table. ``failed`` maps collections that keep their documents of the
    previous snapshot to the reason. ``inputs`` is a hash of all inputs, empty where some could not be read.
    """

    snapshot: SnapshotId
    generation: int
    changed: bool
    encoded: int
    reused: int
    rejections: tuple[ReportEntry, ...]
    times: tuple[StageTime, ...]
    seconds: float
    counts: Mapping[str, int]
    relevance: Verdict | None = None
    parsed: int = 0
    failed: Mapping[str, str] = field(default_factory=dict)
    inputs: str = ""

    @property
    def documents(self) -> int:
        """Return the number of documents."""
        return self.counts["documents"]

    @property
    def passages(self) -> int:
        """Return the number of passages."""
        return self.counts["passages"]

    @property
    def skipped(self) -> int:
        """Return the number of files passed over."""
        return sum(each.kind == "skipped" for each in self.rejections)

    @property
    def quarantined(self) -> int:
        """Return the number of files that could not be used."""
        return sum(each.kind == "quarantined" for each in self.rejections)

    @property
    def remarks(self) -> int:
        """Return the number of remarks on documents and collections that are indexed."""
        return sum(not each.is_left_out for each in self.rejections)

    def as_dict(self) -> dict[str, Any]:
        """Return the result as a run's record keeps it."""
        return asdict(self) | {name: getattr(self, name) for name in TOTALS}


def require_whole(result: BuildResult) -> None:
    """Raise ``PartialFailure`` if any collection failed."""
    if result.failed:
        raise PartialFailure(
            f"{len(result.failed)} of the collections failed, the others are published",
            where=", ".join(result.failed),
            hint=" ".join(f"{name}: {what}" for name, what in result.failed.items()),
        )


def record(store: Store, result: BuildResult) -> None:
    """Write the record of a run that has published; a disk error is only a warning by then."""
    found = _measured(store, result.snapshot)
    _written(store, result.as_dict() | found | {"relevance": _relevance(result.relevance)})


def _measured(store: Store, snapshot: SnapshotId) -> dict[str, int]:
    """Return the snapshot's size and its broken links; nothing if it cannot be read by now.

    An earlier run's record of the same snapshot says the same: its links need not be counted again.
    """
    for known in (each for each in read_runs(store.root) if each.get("snapshot") == snapshot):
        sizes: dict[str, int] = {name: known[name] for name in _SIZES if name in known}
        if len(sizes) == len(_SIZES) and all(isinstance(each, int) for each in sizes.values()):
            return sizes
    try:
        found = store.read_unverified(snapshot)
        statuses = found.table("links", ["status"]).column("status")
    except (ArtifactError, OSError, pa.ArrowException) as error:
        _log.warning("the run's record has no sizes: %s", error)
        return {}
    broken = pc.sum(pc.starts_with(statuses, "missing")).as_py() or 0
    return {"bytes": bytes_of(found), "broken_links": broken}


def bytes_of(snapshot: Snapshot) -> int:
    """Return the size of a snapshot's files."""
    return sum(entry.bytes for entry in snapshot.manifest.files.values())


def require_relevance(
    run: RunContext, store: Store, staged: StagedSnapshot, verdict: Verdict | None, times: Sequence[StageTime]
) -> None:
    """Raise ``RelevanceFell`` and remove what was staged if judged queries are answered too badly."""
    if verdict and verdict.reasons and not run.options.accept_drop:
        folders.remove_tree(staged.staging.path)
        seconds = sum(time.seconds for time in times)
        raise _refused(store, staged.manifest.snapshot_id(), verdict, times, seconds)


def _refused(
    store: Store, snapshot: SnapshotId, verdict: Verdict, times: Sequence[StageTime], seconds: float
) -> RelevanceFell:
    """Return the error of a run that published nothing, and record which queries fell and why."""
    taken = {"seconds": seconds, "times": [asdict(time) for time in times]}
    path = _written(store, {"refused": snapshot, "relevance": _relevance(verdict)} | taken)
    for line in lines(verdict):
        _log.warning("%s", line)
    return RelevanceFell(
        "; ".join(verdict.reasons),
        where=str(path or store.root),
        hint="Nothing was published, the current snapshot is as it was. "
        "Which queries fell, and why: noctule report. To publish all the same: --accept-drop.",
    )


def _relevance(verdict: Verdict | None) -> Mapping[str, object] | None:
    return None if verdict is None else asdict(verdict) | {"said": list(lines(verdict))}


def _written(store: Store, content: Mapping[str, object]) -> Path | None:
    try:
        return write_run(store.root, content)
    except WriteFailed as error:
        _log.warning("the run left no record: %s", error)
        return None
