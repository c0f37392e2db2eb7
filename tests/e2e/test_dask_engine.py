"""A Dask cluster computes the snapshot that one machine computes, whichever of its workers is lost on the
way.
"""

from __future__ import annotations

import multiprocessing
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from noctule.artifacts.store.check import check_deep
from noctule.artifacts.store.store import Store
from noctule.flows.api import build_snapshot
from noctule.flows.engines import dask
from noctule.flows.engines.environment import driver_environment, versions
from noctule.flows.report.result import BuildResult
from noctule.flows.run.plain import PlainDriver
from noctule.flows.run.stage import Silent
from noctule.pipeline.errors import EngineUnavailable
from noctule.pipeline.settings.reading import parse
from noctule.pipeline.settings.settings import Settings
from tests.dask_cluster import DaskProcesses, dask_cluster
from tests.repetitions import torture_only
from tests.sentence_model_builder import small_model

pytest.importorskip("distributed")
FILES = 110


def write_library(root: Path) -> Path:
    """More files than fit one batch, all different, some that cannot be parsed."""
    for number in range(FILES):
        path = root / f"shelf-{number % 7}" / f"book-{number:03}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        words = " ".join(f"word{(number * step) % 97}" for step in range(1, 16))
        path.write_text(
            f"# Book {number}\n\nSee [[book-{(number + 1) % FILES:03}]]. {words}.\n\n## Part\n\n"
            f"{words[::-1]}\n"
        )
    (root / "broken.md").write_bytes(b"\x00\xff\xfe")
    return root


def settings_for(root: Path, engine: str) -> Settings:
    given = {
        "collections": {"library": {"root": str(root)}},
        "engine": {"name": engine},
        "embed": {"model": small_model()},
    }
    return parse(given, where="test")


def build(root: Path, store: Path, engine: str, progress: Silent | None = None) -> BuildResult:
    return build_snapshot(settings_for(root, engine), Store(store), PlainDriver(), progress or Silent())


class Kills(Silent):
    """Kills a busy worker as soon as there is one in the stages that it names."""

    def __init__(self, cluster: DaskProcesses, *stages: str) -> None:
        self.cluster, self.stages, self.killed = cluster, stages, list[str]()
        self.threads: list[threading.Thread] = []

    def begin(self, stage: str, total: int, unit: str) -> None:
        if stage in self.stages:
            self.threads.append(threading.Thread(target=self._kill))
            self.threads[-1].start()

    def _kill(self) -> None:
        self.killed.append(self.cluster.kill_a_busy_worker())


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_library(tmp_path_factory.mktemp("library"))


@pytest.fixture(scope="module")
def expected(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BuildResult]:
    yield build(library, tmp_path_factory.mktemp("inline") / "store", "inline")


def test_workers_killed_in_mid_run_do_not_change_the_snapshot(
    library: Path, expected: BuildResult, tmp_path: Path
) -> None:
    """One of three is killed while it parses and another while it encodes: the last does their work."""
    with dask_cluster(tmp_path / "dask", workers=3) as cluster:
        killer = Kills(cluster, "parse", "embed")
        result = build(library, tmp_path / "store", f"dask://{cluster.address}", killer)
        for thread in killer.threads:
            thread.join(60)
        assert len(set(killer.killed)) == 2
        alive = [name for name, worker in cluster.workers.items() if worker.poll() is None]
        assert len(alive) == 1
    assert result.snapshot == expected.snapshot
    assert (result.documents, result.quarantined) == (FILES, 1)
    store = Store(tmp_path / "store")
    check_deep(store.path_of(result.snapshot), result.snapshot)
    assert not [path for path in (tmp_path / "store" / "snapshots").iterdir() if path.name.startswith(".")]


def test_without_any_worker_left_the_build_ends_and_says_so(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask, "_NO_WORKER_S", 1.0)
    monkeypatch.setattr(dask, "_LOOK_S", 0.5)
    with dask_cluster(tmp_path / "dask", workers=1) as cluster:
        killer = Kills(cluster, "parse")
        with pytest.raises(EngineUnavailable, match="no worker has been left") as caught:
            build(library, tmp_path / "store", f"dask://{cluster.address}", killer)
    assert cluster.address in caught.value.where
    assert Store(tmp_path / "store").current() is None


def test_a_scheduler_that_does_not_answer_is_named(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask, "_CONNECT_S", 2)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: nobody else gets the port
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(EngineUnavailable, match="no Dask scheduler answers") as caught:
            build(library, tmp_path / "store", f"dask://{address}")
    assert caught.value.exit_code == 2


@torture_only
def test_a_cluster_of_the_runs_own_gives_the_same_snapshot_and_leaves_no_process(
    library: Path, expected: BuildResult, tmp_path: Path
) -> None:
    with socket.socket() as another:
        with suppress(OSError):  # taken by a scheduler that is none of ours
            another.bind(("127.0.0.1", 8787))
            another.listen()
        result = build(library, tmp_path / "store", "dask")
    assert result.snapshot == expected.snapshot
    assert not multiprocessing.active_children()


def test_a_worker_of_another_version_or_another_disk_is_refused(tmp_path: Path) -> None:
    given = driver_environment(tmp_path, "this run's sign")
    given.require_same()
    with pytest.raises(EngineUnavailable, match=r"torch .* instead of 1.0"):
        replace(given, versions=versions() | {"torch": "1.0"}).require_same()
    (tmp_path / "elsewhere").mkdir()
    with pytest.raises(EngineUnavailable, match="cannot access the folder"):
        replace(given, folder=tmp_path / "elsewhere").require_same()
