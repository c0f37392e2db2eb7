"""Pruning of a store: old snapshots, replaced sites, and vectors of texts that no kept snapshot holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ...artifacts.cache.embeddings import folder_name
from ...artifacts.cache.prune import Freed, prune_embeddings
from ...artifacts.store.replaced_sites import drop_replaced_sites
from ...artifacts.store.run_records import read_runs
from ...artifacts.store.snapshot import Snapshot
from ...artifacts.store.store import Store
from ...pipeline.embedding.model_files import find
from ...pipeline.errors import ModelUnavailable
from ...pipeline.identity import text_hash
from ...pipeline.model import ResolvedLink, SnapshotId
from ...pipeline.settings.reading import with_new_names
from ...pipeline.settings.settings import Settings, StaticEncoderSettings
from ..stages.embedding.encode import key_of, query_hash
from ..stages.embedding.training_texts import phrases, spans

_DEVICES = ("cpu", "cuda", "mps")
_LINK_COLUMNS = ("source_id", "target_id", "fragment", "kind", "target", "text", "ordinal", "status")


@dataclass(frozen=True, slots=True)
class PrunedStore:
    """The snapshots that were removed, and what was dropped from the embedding store, if anything."""

    removed: tuple[SnapshotId, ...]
    embeddings: Freed | None


def prune_store(store: Store, keep: int, settings: Settings, spare_runs: int | None) -> PrunedStore:
    """Remove old snapshots, sites that were set aside, and vectors that no remaining snapshot uses.

    Vectors written since the start of the ``spare_runs``-th last run on record stay; with ``None`` the
    embedding store is left alone. Raise as ``Store.prune`` does.
    """
    with store.lock("prune"):
        removed = store.prune(keep)
        drop_replaced_sites(store.root)
        if spare_runs is None:
            return PrunedStore(removed, None)
        used = _used(store, settings)
        return PrunedStore(removed, prune_embeddings(store.root, used, _begin_of(store, spare_runs)))


def _used(store: Store, settings: Settings) -> dict[str, set[str]]:
    """Return content hashes of every text of every snapshot, by the folder of the model that made it.

    A snapshot that cannot be read would make its texts look unused, so it is an error here.
    """
    found: dict[str, set[str]] = {}
    for info in store.snapshots():
        snapshot = store.read_unverified(info.snapshot_id)
        hashes = set(_hashes(snapshot, settings))
        for device in dict.fromkeys([*_DEVICES, settings.embed.device]):
            model = snapshot.manifest.model
            found.setdefault(folder_name(key_of(model.sha256, model.precision, device)), set()).update(hashes)
    return found


def _hashes(snapshot: Snapshot, settings: Settings) -> Iterator[str]:
    """Yield the hashes of passages, words and the static encoder's texts, chosen again from the tables."""
    yield from snapshot.table("vectors", ["content_hash"]).column("content_hash").to_pylist()
    yield from map(text_hash, snapshot.table("vocabulary", ["term"]).column("term").to_pylist())
    given: Any = with_new_names(snapshot.manifest.settings).get("static_encoder", {})
    encoder = StaticEncoderSettings.model_validate(given)
    documents = snapshot.table("documents", ["doc_id", "title", "language"])
    taught = [
        phrases(documents, snapshot.table("sections", ["doc_id", "title"]), _links(snapshot), encoder),
        spans(documents, snapshot.table("passages", ["doc_id", "text", "content_hash"]), encoder),
    ]
    texts = [text for each in taught for text in each.texts]
    yield from map(text_hash, texts)
    try:
        prompt = find(settings.embed).query_prompt
    except ModelUnavailable:
        return
    yield from (query_hash(prompt, text) for text in texts)


def _links(snapshot: Snapshot) -> list[ResolvedLink]:
    return [ResolvedLink(**row) for row in snapshot.table("links", _LINK_COLUMNS).to_pylist()]


def _begin_of(store: Store, runs: int) -> float:
    """Return the start of the so-many-th last run in seconds of the epoch; infinity where ``runs`` is 0."""
    if runs == 0:
        return float("inf")
    return min(map(_begin, read_runs(store.root)[:runs]), default=0.0)


def _begin(record: dict[str, Any]) -> float:
    """Return a record's start, or 0, which spares everything, if its name is not a time."""
    try:
        finished = datetime.strptime(str(record["finished"]), "%Y%m%dT%H%M%S%fZ").replace(tzinfo=UTC)
    except ValueError:
        return 0.0
    return finished.timestamp() - float(record.get("seconds", 0.0))
