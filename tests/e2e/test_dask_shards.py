"""Workers of a Dask cluster are killed while they build shards: the set is the one that was built without."""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import signal
import socket
import threading
import time
from pathlib import Path

import pytest

from noctule.artifacts.store.check import check_deep
from noctule.artifacts.store.store import Store
from noctule.flows.api import build_snapshot
from noctule.flows.run.context import BuildOptions
from noctule.pipeline import __version__
from noctule.pipeline.errors import EngineUnavailable
from noctule.pipeline.settings.reading import parse
from noctule.pipeline.settings.settings import Settings
from tests.command_line import REPOSITORY
from tests.dask_cluster import DaskProcesses, dask_cluster
from tests.repetitions import torture_only
from tests.sentence_model_builder import small_model
from tests.unit.flows.shards.test_remarks import damage_parse_caches, shards_with_damage
from tests.unit.flows.shards.test_shards import write_library

pytest.importorskip("distributed")
SHARDS = 3


def settings_for(root: Path, engine: str, shards: int = SHARDS) -> Settings:
    given = {"collections": {"library": {"root": str(root)}}, "shards": {"count": shards}}
    more = {"engine": {"name": engine}, "embed": {"model": small_model()}}
    return parse({**given, **more}, where="test")


class Killer(threading.Thread):
    """Kills the worker that holds a shard, as the note in the shard's lock says, once it has begun."""

    def __init__(self, cluster: DaskProcesses, store: Path, after: str) -> None:
        super().__init__()
        self.cluster, self.store, self.after, self.killed = cluster, store, after, ""

    def run(self) -> None:
        deadline = time.monotonic() + 300
        while not self.killed and time.monotonic() < deadline:
            time.sleep(0.01)
            if list(self.store.glob(self.after)):
                self._kill_a_holder()

    def _kill_a_holder(self) -> None:
        for lock in sorted(self.store.glob("shards/*/lock")):
            try:
                holder = int(json.loads(lock.read_bytes())["pid"])
            except (OSError, ValueError):
                continue
            mine = {holder, _parent(holder)}
            for name, worker in self.cluster.workers.items():
                if worker.pid in mine and not self.killed:
                    os.kill(worker.pid, signal.SIGKILL)
                    self.killed = f"{name} in {lock.parent.name}"


def _parent(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


@torture_only
@pytest.mark.parametrize("after", ["shards/*/lock", "shards/*/passes/counts.json"])
def test_half_of_the_workers_lost_in_mid_shard_does_not_change_the_set(after: str, tmp_path: Path) -> None:
    """One of two is killed in the first pass, or in a later one; each has a shard."""
    notes = tmp_path / "notes"
    write_library(notes)
    expected = build_snapshot(settings_for(notes, "inline", 2), Store(tmp_path / "whole")).snapshot
    store = Store(tmp_path / "store")
    with dask_cluster(tmp_path / "dask", workers=2) as cluster:
        killer = Killer(cluster, store.root, after)
        killer.start()
        result = build_snapshot(settings_for(notes, f"dask://{cluster.address}", 2), store)
        killer.join(10)
        assert killer.killed
        assert sum(worker.poll() is None for worker in cluster.workers.values()) == 1
    assert result.snapshot == expected
    check_deep(store.path_of(expected), expected)


@torture_only
def test_what_workers_log_is_in_the_log_of_the_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write_library(tmp_path / "notes")
    store = Store(tmp_path / "store")
    before = build_snapshot(settings_for(tmp_path / "notes", "inline"), store).snapshot
    damage_parse_caches(store.root, "0001", "0000")
    with (
        dask_cluster(tmp_path / "dask", workers=1) as cluster,
        caplog.at_level(logging.WARNING, "noctule"),
    ):
        settings, options = (
            settings_for(tmp_path / "notes", f"dask://{cluster.address}"),
            BuildOptions(start="parse"),
        )
        again = build_snapshot(settings, store, options=options)
    assert (again.snapshot, again.parsed) == (before, 39)
    assert shards_with_damage(each.getMessage() for each in caplog.records) == ["shard 0000", "shard 0001"]


def test_a_worker_of_another_version_is_refused_by_name(tmp_path: Path) -> None:
    """The set stays as it was, and so do its shards: such a worker begins with none."""
    other = tmp_path / "other"
    for name in ("noctule", "artifacts", "flows", "pipeline", "site/docsite", "server", "configs"):
        shutil.copytree(REPOSITORY / name, other / name, symlinks=True)
    init = other / "pipeline" / "__init__.py"
    init.write_text(re.sub(r'__version__ = ".*"', '__version__ = "0.0.9"', init.read_text()))
    write_library(tmp_path / "notes")
    store = Store(tmp_path / "store")
    with (
        dask_cluster(tmp_path / "dask", workers=1, code=other) as cluster,
        pytest.raises(EngineUnavailable) as caught,
    ):
        build_snapshot(settings_for(tmp_path / "notes", f"dask://{cluster.address}"), store)
    error = caught.value
    assert re.search(rf"noctule 0\.0\.9 \(\w+\) instead of {re.escape(__version__)} \(", error.what), error
    assert error.where == socket.gethostname() and "Install the same versions there" in error.hint
    assert error.exit_code == 2 and store.current() is None
    assert not list(store.root.glob("shards/0*"))
