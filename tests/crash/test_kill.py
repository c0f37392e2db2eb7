"""A publishing process is killed again and again while a reader reads: every read is one whole snapshot."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import threading
import time
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from noctule.artifacts.store.check import check_deep
from noctule.artifacts.store.store import Store
from noctule.pipeline.errors import NoctuleError, StoreBusy
from tests.crash.publisher import hold_the_lock, publish_for_ever
from tests.forked import context
from tests.repetitions import KILLS
from tests.snapshot_builder import publish_tiny_snapshot


def _edition(store: Store) -> int:
    """The edition that a reader sees, if all that it reads is of one edition."""
    with store.open() as snapshot:
        told = snapshot.manifest.settings["edition"]
        texts = snapshot.table("documents", ["text"])["text"].to_pylist()
        terms = snapshot.table("terms", ["term"])["term"].to_pylist()
        assert all(f"edition {told}." in text for text in texts)
        assert f"edition{told}" in terms
        assert snapshot.index().ntotal == snapshot.table("vectors").num_rows
        assert isinstance(told, int)
        return told


class Reader(threading.Thread):
    """Reads as fast as it can; keeps the editions seen and whatever went wrong."""

    def __init__(self, root: Path) -> None:
        super().__init__()
        self.store, self.editions, self.errors = Store(root), [0], list[BaseException]()
        self.done = threading.Event()

    def run(self) -> None:
        while not self.done.is_set():
            try:
                self.editions.append(_edition(self.store))
            except (NoctuleError, AssertionError, OSError) as error:
                self.errors.append(error)


def _start(root: Path, first_edition: int) -> tuple[multiprocessing.process.BaseProcess, Connection]:
    ready, theirs = context.Pipe()
    child = context.Process(target=publish_for_ever, args=(root, first_edition, theirs), daemon=True)
    child.start()
    theirs.close()
    ready.recv()
    return child, ready


def _kill(child: multiprocessing.process.BaseProcess, ready: Connection) -> None:
    assert child.pid is not None
    os.kill(child.pid, signal.SIGKILL)
    child.join()
    assert child.exitcode == -signal.SIGKILL
    child.close()
    ready.close()


def test_whatever_is_killed_every_read_is_one_whole_snapshot(tmp_path: Path) -> None:
    root, chance, kills = tmp_path / "store", random.Random(20), KILLS or 8
    store = Store(root)
    publish_tiny_snapshot(store, 0)
    child, ready = _start(root, 1)
    began = time.perf_counter()
    ready.recv()
    ready.recv()
    publish_s = (time.perf_counter() - began) / 2
    _kill(child, ready)
    reader, found = Reader(root), set[int]()
    reader.start()
    try:
        for kill in range(1, kills + 1):
            child, ready = _start(root, 1000 * kill)
            if kill % 2:
                ready.recv()  # however slow the machine is, every other run publishes before it dies
            time.sleep(chance.uniform(0, 2 * publish_s))
            _kill(child, ready)
            # A killed run must neither block nor break the next one.
            with store.lock("after the kill"):
                assert not list(root.rglob(".*"))
            found.add(_edition(store))
    finally:
        reader.done.set()
        reader.join()
    assert not reader.errors, reader.errors[0]
    assert reader.editions == sorted(reader.editions), "a reader went back in time"
    assert len(found) >= kills // 2, "the kills hit no publish"
    for info in store.snapshots():
        check_deep(store.path_of(info.snapshot_id), info.snapshot_id)


def test_a_second_run_ends_at_once_and_says_who_holds_the_lock(tmp_path: Path) -> None:
    ready, theirs = context.Pipe()
    child = context.Process(target=hold_the_lock, args=(tmp_path, theirs), daemon=True)
    child.start()
    theirs.close()
    ready.recv()
    began = time.perf_counter()
    with pytest.raises(StoreBusy) as caught, Store(tmp_path).lock("mine"):
        pass
    assert time.perf_counter() - began < 1
    assert f"process {child.pid}" in caught.value.what
    assert "since 20" in caught.value.what
    assert "a long build" in caught.value.what
    assert str(tmp_path) in caught.value.where
    _kill(child, ready)
    with Store(tmp_path).lock("mine"):
        pass
