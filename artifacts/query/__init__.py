"""Hybrid search over one snapshot.

    with artifacts.query.open(Store(Path(".noctule"))) as searcher:
        for hit in searcher.search("how do I cancel a request").hits:
            print(hit.score, hit.breadcrumb, hit.url)

Retrievers give ranked lists (``retrieve``), fusion makes one list of candidates of them (``fuse``), stages
turn candidates into candidates (``limit``), and what is left becomes hits (``excerpt``).
"""

from __future__ import annotations

from artifacts.query.model import Answer, Candidate, Hit, Mode, Why
from artifacts.query.searcher import Searcher
from artifacts.store import Store
from pipeline.model import SnapshotId
from pipeline.settings import Settings

__all__ = ["Answer", "Candidate", "Hit", "Mode", "Searcher", "Why", "open"]


def open(store: Store, settings: Settings | None = None, snapshot_id: SnapshotId | None = None) -> Searcher:
    """A searcher over the store's current snapshot (or the one named), verified and pinned until closed."""
    return Searcher(store.open(snapshot_id), settings or Settings())
