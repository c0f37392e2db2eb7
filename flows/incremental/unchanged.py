"""A check whether anything at all has changed since the current snapshot was made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ... import flows
from ...artifacts.disk.layout import FORMAT_VERSION
from ...artifacts.disk.manifest import Manifest
from ...artifacts.store.query_models import require_sound
from ...artifacts.store.run_records import read_runs
from ...artifacts.store.store import Store
from ...pipeline.embedding.model_files import find
from ...pipeline.embedding.onnx_export import exporter
from ...pipeline.errors import ArtifactError
from ...pipeline.identity import combined_hash, installed_version, stable_text
from ...pipeline.model import ReportEntry, SnapshotId
from ...pipeline.settings.settings import Settings
from ..run.context import RunContext
from ..run.versions import sources_hash, tools
from ..sources.publication_dates import is_due, today
from ..sources.publishing_rules import Rules
from ..stages.sources import HashedSources, Listing, discover, hash_sources


@dataclass(frozen=True, slots=True)
class UnchangedSnapshot:
    """The current snapshot, verified, which a run would only reproduce."""

    snapshot: SnapshotId
    generation: int
    manifest: Manifest
    rejections: tuple[ReportEntry, ...]
    inputs: str


def find_unchanged(run: RunContext, store: Store) -> tuple[dict[str, object], UnchangedSnapshot | None]:
    """Read and hash the sources; return both, and the current snapshot if its inputs were the same.

    What failed is not returned, so that a run looks again. This needs no Prefect, no model and no worker.
    Raise ``MissingRoot``.
    """
    if run.settings.shards.wanted:
        return {}, None  # a worker lists its sources
    listing = discover(run, store)
    # Without the lock: the files of hashes have the names of their contents, and one lost is read again.
    hashed = hash_sources(run, listing, store)
    same = unchanged(run, store, inputs_of(hashed, listing, run.settings))
    failed = listing is None or hashed is None or listing.failures or hashed.failures
    return {} if failed else {"listing": listing, "hashed": hashed}, same


def inputs_of(hashed: HashedSources | None, listing: Listing | None, settings: Settings) -> str:
    """Return a hash of all inputs of a snapshot; empty where a file or a collection cannot be read."""
    if hashed is None or listing is None or listing.failures or hashed.failures or not all(hashed.keys):
        return ""
    shared = shared_inputs(settings, listing.rules)
    return combined_hash([*shared, *hashed.inputs(), *rejected_inputs(listing.rejections)])


def shared_inputs(settings: Settings, rules: Rules) -> list[str]:
    """Return what every snapshot depends on besides its files."""
    return [
        str(FORMAT_VERSION),
        sources_hash(Path(flows.__file__).parent),
        settings.fingerprint(),
        find(settings.embed).sha256,
        settings.embed.precision,
        settings.embed.device,
        *(f"{name}={number}" for name, number in sorted(tools().items())),
        installed_version("scipy"),  # fits the static encoder
        exporter(),
        *(stable_text(each) for _, each in rules if each.away is None),
    ]


def rejected_inputs(rejections: Iterable[ReportEntry]) -> Iterator[str]:
    """Yield what stands for files that were left out."""
    return (f"{each.collection}\0{each.path}\0{each.kind}\0{each.reason}" for each in rejections)


def unchanged(run: RunContext, store: Store, inputs: str) -> UnchangedSnapshot | None:
    """Return the current snapshot if it was made from these inputs, without a failure, and is intact."""
    if not inputs or run.options.start is not None:
        return None
    try:
        current = store.current()
        if current is None or not _was_made_of(store, current, inputs):
            return None
        with store.open(current) as snapshot:
            require_sound(store.root, snapshot.manifest.query_model)
            rejections = tuple(ReportEntry(**row) for row in snapshot.table("report").to_pylist())
            if is_due(rejections, today()):
                return None
            return UnchangedSnapshot(current, store.generation(), snapshot.manifest, rejections, inputs)
    except ArtifactError:
        return None  # it is made again


def _was_made_of(store: Store, current: SnapshotId, inputs: str) -> bool:
    records = (record for record in read_runs(store.root) if record.get("snapshot") == current)
    return any(record.get("inputs") == inputs for record in records)
