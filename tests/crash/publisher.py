"""What the killed child runs: publishes snapshot after snapshot, and prunes, until it dies."""

from __future__ import annotations

import itertools
from multiprocessing.connection import Connection
from pathlib import Path

from noctule.artifacts.disk import durable
from noctule.artifacts.store.store import Store
from tests.snapshot_builder import QuickDisk, publish_tiny_snapshot


def publish_for_ever(root: Path, first_edition: int, ready: Connection) -> None:
    """Editions from the first on; says so each time one is published."""
    durable.disk = QuickDisk()
    store = Store(root)
    ready.send(0)
    for edition in itertools.count(first_edition):
        publish_tiny_snapshot(store, edition)
        store.prune(1)
        ready.send(edition)


def hold_the_lock(root: Path, ready: Connection) -> None:
    """Takes the lock, says so, and waits to be killed."""
    with Store(root).lock("a long build"):
        ready.send(0)
        ready.poll(None)
