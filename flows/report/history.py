"""Durations of recent runs, from their records: the basis of an estimate and of a report's comparison."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any, Literal

from ..run.stage import StageTime, seconds_by_stage

Kind = Literal["full", "incremental", "unchanged"]
RECENT_RUNS = 7
_FEW_TEXTS = 100
# The pass of a set of shards in which texts are encoded, among much else; one snapshot has a stage for it.
_SURVEY = "survey"


@dataclass(frozen=True, slots=True)
class PastRun:
    """A run that published a snapshot, or found nothing new."""

    kind: Kind
    snapshot: str
    finished: str
    documents: int
    encoded: int
    seconds: float
    stages: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate in seconds, based on ``runs`` runs of a ``kind``; stages are in order."""

    kind: Kind
    runs: int
    seconds: float
    least: float
    most: float
    stages: Mapping[str, float]


def past_runs(records: Iterable[Mapping[str, Any]]) -> tuple[PastRun, ...]:
    """Return records as runs, in the order given; those refused or unreadable are left out."""
    found = []
    for record in records:
        try:
            found.append(_run(record))
        except (KeyError, TypeError, ValueError):
            continue
    return tuple(found)


def _run(record: Mapping[str, Any]) -> PastRun:
    stages = recorded_seconds(record)
    encoded, reused = int(record["encoded"]), int(record["reused"])
    is_first = int(record.get("generation", 0)) == 1 and bool(record["changed"])
    mostly_new = encoded > reused or is_first
    kind: Kind = "full" if mostly_new else "incremental" if record["changed"] else "unchanged"
    documents, finished = int(record["documents"]), str(record.get("finished", ""))
    return PastRun(
        kind, str(record["snapshot"]), finished, documents, encoded, float(record["seconds"]), stages
    )


def recorded_seconds(record: Mapping[str, Any]) -> dict[str, float]:
    """Return the seconds of each stage of a run on record."""
    return seconds_by_stage(StageTime(time["stage"], float(time["seconds"])) for time in record["times"])


def usual(runs: Sequence[PastRun]) -> Mapping[str, float]:
    """Return the median seconds of each stage, in the order of the first run that has it."""
    names = dict.fromkeys(name for run in runs for name in run.stages)
    return {name: median(run.stages.get(name, 0.0) for run in runs) for name in names}


def estimate(runs: Sequence[PastRun], kind: Kind, documents: int, texts: int) -> Estimate | None:
    """Return the estimated duration of a run of this kind, for so many documents and so many texts to encode.

    The latest runs of the kind are used, first runs scaled by their documents, encoding by the texts; without
    any of the kind, those of another; for a run that finds nothing new, they say nothing. ``None`` if no run
    is on record to go by.
    """
    runs = _like_the_latest(runs)
    like = [run for run in runs if run.kind == kind][:RECENT_RUNS]
    like = like or ([] if kind == "unchanged" else list(runs[:RECENT_RUNS]))
    if not like:
        return None
    each = [_scaled(run, documents if kind == "full" else run.documents) for run in like]
    stages = dict(usual([run for run, _ in each]))
    per_text = seconds_per_text(runs)
    if per_text is not None:
        stages["embed"] = per_text * texts
    total = sum(stages.values())
    others = [seconds - run.stages.get("embed", 0.0) + stages.get("embed", 0.0) for run, seconds in each]
    return Estimate(like[0].kind, len(like), total, min([total, *others]), max([total, *others]), stages)


def _like_the_latest(runs: Sequence[PastRun]) -> list[PastRun]:
    """Return the runs that made what the latest did: sets of shards have other stages than snapshots.

    Runs that found nothing new made neither.
    """
    latest = next((_SURVEY in run.stages for run in runs if run.kind != "unchanged"), False)
    return [run for run in runs if run.kind == "unchanged" or (_SURVEY in run.stages) == latest]


def _scaled(run: PastRun, documents: int) -> tuple[PastRun, float]:
    """Return the run scaled to so many documents, and its total seconds."""
    factor = documents / run.documents if run.documents else 1.0
    stages = {name: seconds * factor for name, seconds in run.stages.items()}
    return replace(run, documents=documents, stages=stages), run.seconds * factor


def seconds_per_text(runs: Sequence[PastRun]) -> float | None:
    """Return the seconds to encode a passage, over runs that encoded more than a few, if there are any."""
    encoding = [run for run in runs if run.encoded >= _FEW_TEXTS and run.stages.get("embed")]
    encoding = encoding or [run for run in runs if run.encoded and run.stages.get("embed")]
    texts = sum(run.encoded for run in encoding)
    return sum(run.stages["embed"] for run in encoding) / texts if texts else None
