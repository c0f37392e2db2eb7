"""Collections that cannot be read: their documents stay as the current set has them, in the same shards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ...artifacts.store.snapshot import Snapshot
from ...artifacts.store.store import Store
from ...pipeline.errors import ArtifactError, CollectionShrank, EmptyCollection, NoctuleError
from ...pipeline.identity import doc_id
from ...pipeline.model import ReportEntry, SnapshotId
from ..run.context import RunContext
from ..sources.published import document_counts
from ..stages.corpus import failure_note, first_reason
from ..stages.guards import CollectionSize, require_documents, require_size
from .plan import ShardPlan


def snapshots_of_shards(store: Store) -> dict[str, SnapshotId]:
    """Return the snapshot of each shard of the current set; none if it is no set, or cannot be read."""
    try:
        current = store.current()
        shards = store.read_unverified(current).manifest.shards if current is not None else ()
    except ArtifactError:
        return {}
    return {each.name: each.snapshot for each in shards}


def kept_collections(store: Store, plan: ShardPlan, failures: Mapping[str, NoctuleError]) -> Set[str]:
    """Return which of the failed collections have documents in the current set.

    Raise the error of one whose documents lie in other shards than the plan says, as they would be lost;
    ``ArtifactError`` if the set cannot be read.
    """
    found: set[str] = set()
    for part in _parts(store) if failures else ():
        rows = _documents(part, failures.keys())
        for document, name in zip(*(rows[each].to_pylist() for each in rows.column_names), strict=True):
            if plan.shard_of(document) != part.manifest.shard:
                raise _lost(failures[name])
            found.add(name)
    return found


def kept_rejections(store: Store, failures: Mapping[str, NoctuleError], kept: Set[str]) -> list[ReportEntry]:
    """Return the current report's rows on failed collections, and a note on each."""
    notes = [failure_note(name, error, kept=name in kept) for name, error in sorted(failures.items())]
    if not kept or (current := store.current()) is None:
        return notes
    rows = (ReportEntry(**row) for row in store.read_unverified(current).table("report").to_pylist())
    return [*(each for each in rows if each.collection in kept and each.is_left_out), *notes]


def _parts(store: Store) -> Sequence[Snapshot]:
    """Return the shards of the current set; raise ``ArtifactError``."""
    current = store.current()
    return store.read_unverified(current).parts if current is not None else ()


def _documents(part: Snapshot, collections: Set[str]) -> pa.Table:
    rows = part.table("documents", ["doc_id", "collection"])
    return rows.filter(pc.is_in(rows["collection"], value_set=pa.array(sorted(collections), pa.string())))


def _lost(error: NoctuleError) -> NoctuleError:
    return type(error)(
        f"{error.what}, and its documents cannot be kept, because the corpus is now cut into other shards",
        where=error.where,
        hint=f"{error.hint} Or restore the earlier [shards] settings until the collection can be read.",
    )


def empty_collections(run: RunContext, files: Mapping[str, Mapping[str, int]]) -> dict[str, NoctuleError]:
    """Return the errors of collections without a file, unless they may be empty; not all of them may."""
    allowed, found = run.options.allow_empty and bool(files), dict[str, NoctuleError]()
    for name in run.settings.collections.keys() - {each for own in files.values() for each in own}:
        try:
            require_documents(run.settings, name, 0, 0, "", drafts=0, allow_empty=allowed)
        except EmptyCollection as error:
            found[name] = error
    return found


def sizes_of_collections(
    store: Store, surveys: Mapping[str, Mapping[str, Any]], left_out: Sequence[ReportEntry]
) -> dict[str, CollectionSize]:
    """Return what became of the files of each collection, over all shards.

    ``surveys`` are what each shard's survey noted; they know nothing of the documents ``left_out`` because of
    other shards.
    """
    now = snapshots_of_shards(store)
    parts: dict[str, list[CollectionSize]] = {}
    for shard, noted in surveys.items():
        for name, size in noted["sizes"].items():
            part = CollectionSize(**size)
            is_compared = noted["before"] == now.get(shard)
            parts.setdefault(name, []).append(part if is_compared else replace(part, unpublished=0))
    for name, own in parts.items():
        own.append(_left_out(store, name, [each for each in left_out if each.collection == name]))
    return {name: _summed(each) for name, each in sorted(parts.items())}


def _left_out(store: Store, name: str, documents: Sequence[ReportEntry]) -> CollectionSize:
    skipped = {doc_id(name, each.path) for each in documents if each.kind == "skipped"}
    before = _parts(store) if skipped else ()
    held = [set(_documents(part, {name})["doc_id"].to_pylist()) for part in before]
    unpublished = sum(len(skipped & each) for each in held)
    return CollectionSize(len(documents), 0, len(skipped), unpublished, first_reason(documents))


def refused_collections(
    run: RunContext, store: Store, sizes: Mapping[str, CollectionSize]
) -> dict[str, NoctuleError]:
    """Return the errors of collections that hold too little or lost too much."""
    before, found = document_counts(store), dict[str, NoctuleError]()
    for name, size in sizes.items():
        try:
            require_size(run.settings, name, size, before[name], run.options)
        except (EmptyCollection, CollectionShrank) as error:
            found[name] = error
    return found


def _summed(parts: Sequence[CollectionSize]) -> CollectionSize:
    return CollectionSize(
        files=sum(each.files for each in parts),
        documents=sum(each.documents for each in parts),
        drafts=sum(each.drafts for each in parts),
        unpublished=sum(each.unpublished for each in parts),
        first_reason=min(filter(None, (each.first_reason for each in parts)), default=""),
    )
