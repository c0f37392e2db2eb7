"""Hybrid search over one snapshot.

    with noctule.artifacts.query.open(".noctule") as searcher:
        for hit in searcher.search("how do I cancel a request").hits:
            print(hit.score, hit.breadcrumb, hit.url)

A query is parsed and understood (``understanding``); retrievers make ranked lists of passages
(``retrieval``); fusion and the ranking stages of the settings make one list of candidates of them
(``ranking``); the best become hits (``hits``). What is read of the snapshot is in ``index``; ``pipeline`` has
the steps in their order.
"""

from __future__ import annotations

from pathlib import Path

from ...pipeline.model import SnapshotId
from ...pipeline.settings.settings import Settings
from ..store.store import Store
from .answer import Answer, Hit, Why
from .model import Candidate, Mode
from .retrieval.filters import Filter, parse_filter
from .searcher import Searcher

__all__ = ["Answer", "Candidate", "Filter", "Hit", "Mode", "Searcher", "Why", "open", "parse_filter"]


def open(
    store: Store | Path | str,
    settings: Settings | None = None,
    snapshot_id: SnapshotId | None = None,
    *,
    require_signed: Path | str | None = None,
    silent: bool = False,
) -> Searcher:
    """Return a searcher over the store's current snapshot (or the one named), pinned until it is closed.

    ``store`` may be its folder or its address; a ``silent`` searcher tells warnings in its answers only.
    Raise ``NoSnapshot`` where no store is, ``NotSigned`` unless one of the ``require_signed`` file's keys
    signed the snapshot, and as ``Store.open``.
    """
    opened = store if isinstance(store, Store) else Store(store)
    snapshot = opened.open(snapshot_id)
    try:
        if require_signed is not None:
            opened.require_signed(snapshot.id, Path(require_signed))
        return Searcher(snapshot, settings or Settings(), silent=silent)
    except BaseException:
        snapshot.close()
        raise
