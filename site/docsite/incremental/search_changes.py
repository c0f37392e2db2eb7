"""What has changed for search between two snapshots, so that an index can keep the shards of the first.

The first is the *base* of the index: its postings stay where they are, those of documents that are gone or
have changed count no more, and new ones lie in shards of their own (segments, as Lucene calls them). What no
document says any more is taken out of the base's shards: they are public.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ...artifacts.store.snapshot import Snapshot
from ...artifacts.store.store import Store
from ...pipeline.errors import NoctuleError
from ...pipeline.model import SnapshotId
from ..library import SnapshotTables
from .columns import digest_of_texts
from .previous import PreviousSite

# Beyond this share of documents an index begins anew: what they add to each query would outweigh what stays.
MOST_CHANGED = 0.1

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Changes:
    """Rows of documents: ``stale`` ones of the base are gone or have changed, ``recent`` ones are new.

    ``now`` has the present row of each stale one, -1 for those that are gone.
    """

    stale: Rows
    recent: Rows
    now: Rows


@dataclass(frozen=True, slots=True)
class Base:
    """The snapshot that an index has kept its shards of, and what has changed since."""

    snapshot: SnapshotTables
    changes: Changes


@contextmanager
def kept_base(store: Path | None, previous: PreviousSite, snapshot: SnapshotTables) -> Iterator[Base | None]:
    """Yield the base of the previous site's index if the index of ``snapshot`` can keep it.

    It cannot if the store no longer has it, if other settings or another model made it, or if too much has
    changed. The base is not pruned meanwhile.
    """
    named = previous.record.base
    if store is None or not named or named == snapshot.id or not isinstance(snapshot, Snapshot):
        yield None
        return
    try:
        opened = Store(store).open(SnapshotId(named))
    except NoctuleError:  # pruned, or of another version
        yield None
        return
    with opened:
        made_alike = _made_by(opened) == _made_by(snapshot)
        changes = changes_between(opened, snapshot) if made_alike else None
        yield Base(opened.outside_memory(store), changes) if changes is not None else None


def _made_by(snapshot: Snapshot) -> tuple[object, ...]:
    manifest = snapshot.manifest
    return manifest.settings_sha256, manifest.model, manifest.analyzer, manifest.tools


def changes_between(base: SnapshotTables, snapshot: SnapshotTables) -> Changes | None:
    """Return what has changed, or nothing if it is too much, or documents have another order."""
    before, now = _states(base), _states(snapshot)
    stale = {name: row for row, (name, state) in enumerate(before.items()) if now.get(name) != state}
    recent = {name: row for row, (name, state) in enumerate(now.items()) if before.get(name) != state}
    kept = [name for name, state in before.items() if now.get(name) == state]
    is_in_order = kept == [name for name, state in now.items() if before.get(name) == state]
    if not is_in_order or max(len(stale), len(recent)) > MOST_CHANGED * len(now):
        return None
    rows = stale.values(), recent.values(), (recent.get(name, -1) for name in stale)
    return Changes(*(np.fromiter(each, np.int64) for each in rows))


def _states(snapshot: SnapshotTables) -> Mapping[str, bytes]:
    """Return a digest of what each document can be found by: its passages, and the texts of links to it."""
    passages, anchors = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    table = snapshot.table("passages", ["doc_id", "content_hash"])
    for name, text in zip(table["doc_id"].to_pylist(), table["content_hash"].to_pylist(), strict=True):
        passages[name].append(text)
    links = snapshot.table("links", ["target_id", "text"])
    for name, text in zip(links["target_id"].to_pylist(), links["text"].to_pylist(), strict=True):
        if name is not None:
            anchors[name].append(text)
    names = snapshot.table("documents", ["doc_id"])["doc_id"].to_pylist()
    return {name: digest_of_texts(*passages[name], "", *sorted(anchors[name])) for name in names}
