"""The record that a run leaves beside the snapshots: what it published, or refused to publish, and why."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from ...artifacts.store.run_records import write_run
from ...artifacts.store.store import Store
from ...pipeline.errors import RelevanceFell, WriteFailed
from ...pipeline.model import SnapshotId
from ..quality.gate_lines import lines
from ..run.stage import StageTime

if TYPE_CHECKING:
    from ..quality.gate import Verdict
    from .result import BuildResult

_log = logging.getLogger("noctule")


def record(store: Store, result: BuildResult) -> None:
    """Write the record of a run that has published; a disk error is only a warning by then."""
    _written(store, result.as_dict() | {"relevance": _relevance(result.relevance)})


def refused(
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
