"""Whether anything at all has changed since the current snapshot was made."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from ... import flows
from ...artifacts.store.layout import FORMAT_VERSION
from ...artifacts.store.run_records import read_runs
from ...artifacts.store.store import Store
from ...pipeline.embedding.model_files import find
from ...pipeline.errors import ArtifactError
from ...pipeline.identity import combined_hash
from ...pipeline.model import Rejection, SnapshotId
from ...pipeline.settings.settings import Settings
from ..report.record import record
from ..run.result import BuildOptions, BuildResult
from ..run.steps import Steps
from ..stages.sources import Listing, Looked
from .groups import sources_hash
from .tools import tools


@dataclass(frozen=True, slots=True)
class AsBefore:
    """The current snapshot, which a run would make once more."""

    snapshot: SnapshotId
    generation: int
    counts: Mapping[str, int]
    rejections: tuple[Rejection, ...]


def inputs_of(looked: Looked, listing: Listing, settings: Settings) -> str:
    """The address of all that goes into a snapshot; empty where a file or a collection cannot be read."""
    if listing.failures or not all(looked.keys):
        return ""
    rejected = (f"{r.collection}\0{r.path}\0{r.kind}\0{r.reason}" for r in listing.rejections)
    return combined_hash(
        [
            str(FORMAT_VERSION),
            sources_hash(Path(flows.__file__).parent),
            settings.fingerprint(),
            find(settings.embed).sha256,
            settings.embed.precision,
            settings.embed.device,
            *(f"{name}={number}" for name, number in sorted(tools().items())),
            version("scipy"),  # fits the query encoder
            *looked.keys,
            *rejected,
        ]
    )


def unchanged(store: Store, inputs: str) -> AsBefore | None:
    """The current snapshot if it was made of these inputs, every byte of it is there, and nothing went wrong."""
    try:
        current = store.current()
        if not inputs or current is None or not _made_of(store, current, inputs):
            return None
        with store.open(current) as snapshot:
            rejections = tuple(Rejection(**row) for row in snapshot.table("report").to_pylist())
            return AsBefore(current, store.generation(), dict(snapshot.manifest.counts), rejections)
    except ArtifactError:
        return None  # it is made again


def _made_of(store: Store, current: SnapshotId, inputs: str) -> bool:
    records = (record for record in read_runs(store.root) if record.get("snapshot") == current)
    return any(record.get("inputs") == inputs for record in records)


def as_before(
    inputs: str, store: Store, steps: Steps, options: BuildOptions, start: float
) -> BuildResult | None:
    """The result of a run with nothing to do, which is on record then; nothing if there is something to do."""
    found = unchanged(store, inputs) if options.start is None else None
    if found is None:
        return None
    result = _as_before(found, inputs, steps, time.perf_counter() - start)
    record(store, result)
    return result


def _as_before(found: AsBefore, inputs: str, steps: Steps, seconds: float) -> BuildResult:
    """The result of a run that found nothing to do."""
    kinds = [rejection.kind for rejection in found.rejections]
    return BuildResult(
        snapshot=found.snapshot,
        generation=found.generation,
        changed=False,
        documents=found.counts["documents"],
        passages=found.counts["passages"],
        skipped=kinds.count("skipped"),
        quarantined=kinds.count("quarantined"),
        encoded=0,
        reused=found.counts["vectors"],
        rejections=found.rejections,
        times=steps.times,
        seconds=seconds,
        counts=found.counts,
        inputs=inputs,
    )
