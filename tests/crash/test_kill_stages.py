"""The whole job is killed in every stage while readers read: each read is one whole snapshot, one
whole site.
"""

from __future__ import annotations

import os
import random
import re
import signal
import threading
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from noctule.artifacts.store.check import check_deep
from noctule.artifacts.store.store import Store
from noctule.flows.run.plain import PlainDriver
from noctule.pipeline.errors import NoctuleError
from tests.crash.builder import NAMES, build_edition, build_for_ever, write_edition
from tests.forked import context
from tests.repetitions import KILLS, LONG_S, Part, in_parts

STAGES = {"discover", "parse", "load model", "embed", "links", "lexical", "communities", "vocabulary",
"write", "publish", "site", "prune"}  # fmt: skip


def _edition(store: Store) -> int:
    """The edition of the current snapshot, all of whose texts and vectors must be of it."""
    with store.open() as snapshot:
        texts = snapshot.table("documents", ["text"])["text"].to_pylist()
        found = {int(edition) for text in texts for edition in re.findall(r"edition (\d+)", text)}
        assert len(texts) == len(NAMES) and len(found) == 1
        assert snapshot.index().ntotal == snapshot.table("vectors", ["content_hash"]).num_rows
        return found.pop()


def _site_edition(site: Path) -> int:
    """The edition of the site, all of whose pages must be of it; one look at one folder."""
    folder = os.open(site, os.O_RDONLY | os.O_DIRECTORY)
    try:
        pages = [_read(folder, name.replace(".md", ".html")) for name in NAMES]
    finally:
        os.close(folder)
    (edition,) = {re.search(r"edition (\d+)", page)[1] for page in pages}  # type: ignore[index]
    return int(edition)


def _read(folder: int, name: str) -> str:
    with os.fdopen(os.open(name, os.O_RDONLY, dir_fd=folder)) as file:
        return file.read()


class Readers(threading.Thread):
    """Reads snapshot and site as fast as it can; keeps the editions seen and whatever went wrong."""

    def __init__(self, root: Path) -> None:
        super().__init__()
        self.store, self.site = Store(root / "store"), root / "site"
        self.editions, self.sites, self.errors = [0], [0], list[BaseException]()
        self.done = threading.Event()

    def run(self) -> None:
        while not self.done.is_set():
            try:
                self.editions.append(_edition(self.store))
                self._look_at_the_site()
                time.sleep(0.002)
            except (NoctuleError, AssertionError, OSError, ValueError) as error:
                self.errors.append(error)

    def _look_at_the_site(self) -> None:
        try:
            self.sites.append(_site_edition(self.site))
        except FileNotFoundError:
            # The folder that was opened may have been the old one, which is removed once the new one stands
            # there.
            self.sites.append(_site_edition(self.site))


# On a busy machine the first export of the model takes minutes.
_STAGE_LIMIT_S = 600


class Child:
    """The job in a process of its own; ``usual`` is how long each stage took when nobody killed it."""

    def __init__(self, root: Path, first_edition: int) -> None:
        self.ready, theirs = context.Pipe()
        self.process = context.Process(target=build_for_ever, args=(root, first_edition, theirs), daemon=True)
        self.process.start()
        theirs.close()

    def learn(self) -> dict[str, float]:
        """The seconds from each stage's beginning to the next one's, in a whole run."""
        told = [self._next()]
        while told[-1][0] != "done":
            told.append(self._next())
        return {name: after - began for (name, began), (_, after) in pairwise(told)}

    def _next(self) -> tuple[str, float]:
        assert self.ready.poll(_STAGE_LIMIT_S), "the child does not go on"
        name, when = self.ready.recv()
        return name, when

    def kill_in(self, stage: str, after_s: float) -> None:
        while self._next()[0] != stage:
            pass
        time.sleep(max(0.0, after_s))
        self.kill()

    def kill(self) -> None:
        assert self.process.pid is not None
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.join()
        assert self.process.exitcode == -signal.SIGKILL
        self.process.close()
        self.ready.close()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_edition(tmp_path / "vaults" / "0", 0)
    return tmp_path


@in_parts
@pytest.mark.timeout(LONG_S)
def test_a_kill_in_any_stage_leaves_the_old_snapshot_or_the_new_one(root: Path, part: Part) -> None:
    chance, store, kills = random.Random(25 + part.index), Store(root / "store"), part.share(KILLS or 9)
    child = Child(root, 0)
    usual = child.learn()
    child.kill()
    assert set(usual) >= STAGES, usual
    stages = chance.sample(sorted(usual), len(usual))  # a few kills are spread over the whole job
    readers, killed = Readers(root), Counter[str]()
    readers.start()
    try:
        for kill in range(1, kills + 1):
            stage = stages[kill % len(stages)]
            Child(root, 1000 * kill).kill_in(stage, chance.uniform(0, 1.2 * usual[stage]))
            killed[stage] += 1
            # The next run is neither blocked nor led astray by what the dead one left.
            with store.lock("after the kill"):
                assert not list(store.root.rglob(".staging-*")) and not list(store.root.rglob(".CURRENT-*"))
            _edition(store)
    finally:
        readers.done.set()
        readers.join()
    assert not readers.errors, readers.errors[0]
    assert len(killed) == min(kills, len(usual)), killed
    for seen in (readers.editions, readers.sites):
        assert seen == sorted(seen), "a reader went back in time"
    print(f"{kills} kills in {len(killed)} stages, {len(readers.editions):,} reads of "
          f"{len(set(readers.editions))} snapshots, {len(readers.sites):,} of {len(set(readers.sites))} "
          f"sites")  # fmt: skip
    _a_run_after_all_is_that_of_a_fresh_store(root, store)


def _a_run_after_all_is_that_of_a_fresh_store(root: Path, store: Store) -> None:
    vault = write_edition(root / "vaults" / "last", 10**9)
    last = build_edition(store, vault, PlainDriver()).snapshot
    assert last == build_edition(Store(root / "fresh"), vault, PlainDriver()).snapshot
    for info in store.snapshots():
        check_deep(store.path_of(info.snapshot_id), info.snapshot_id)
