"""A set of shards that a Ray cluster builds is that of one machine, also if a worker is killed in mid-shard.

Each run is a process of its own: Ray reads its settings once, when it is imported.
"""

from __future__ import annotations

import json
import threading
from importlib.util import find_spec
from pathlib import Path

import pytest

from noctule.artifacts.store.check import check_deep
from noctule.artifacts.store.store import Store
from noctule.pipeline.model import SnapshotId
from tests.command_line import CommandLine, Outcome, wait_until
from tests.ray_cluster import RayHead, ray_head
from tests.unit.flows.shards.test_remarks import damage_parse_caches, shards_with_damage
from tests.unit.flows.shards.test_shards import write_library

pytestmark = pytest.mark.skipif(
    find_spec("ray") is None, reason='Ray is not installed; with it: pip install -e ".[ray]"'
)
SHARDS = 3


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ray")
    write_library(folder / "notes")
    path = folder / "noctule.toml"
    path.write_text(f'[collections.library]\nroot = "notes"\n\n[shards]\ncount = {SHARDS}\n', "utf-8")
    return path


@pytest.fixture(scope="module")
def expected(config: Path) -> SnapshotId:
    return index(config, config.parent / "whole", "inline")


def index(config: Path, store: Path, engine: str, head: RayHead | None = None) -> SnapshotId:
    """Build the set with an engine, and return its id."""
    return SnapshotId(indexed(config, store, engine, head).json["snapshot"])


def indexed(config: Path, store: Path, engine: str, head: RayHead | None = None, *more: str) -> Outcome:
    command = CommandLine(config.parent, store, head.environment if head else {})
    given = ("--config", str(config), "--engine", engine, "--no-prefect", "--json", *more)
    done = command.run("index", *given, timeout_s=280)
    assert done.code == 0, done.err
    return done


@pytest.mark.parametrize("workers", [1, 2])
def test_a_set_built_on_ray_is_that_of_one_machine(
    workers: int, config: Path, expected: SnapshotId, tmp_path: Path
) -> None:
    with ray_head(tmp_path / "ray", workers) as head:
        found = index(config, tmp_path / "store", f"ray://{head.address}", head)
        assert found == expected
        check_deep(Store(tmp_path / "store").path_of(found), found)
        damage_parse_caches(tmp_path / "store", "0001", "0000")
        again = indexed(config, tmp_path / "store", f"ray://{head.address}", head, "--from", "parse")
    assert again.json["snapshot"] == expected
    assert shards_with_damage(again.err.splitlines()) == ["shard 0000", "shard 0001"]


def test_a_worker_killed_in_mid_shard_does_not_change_the_set(
    config: Path, expected: SnapshotId, tmp_path: Path
) -> None:
    store, killed = tmp_path / "store", list[int]()

    def kill_in_mid_shard(head: RayHead) -> None:
        wait_until(lambda: _is_in_mid_shard(store), 200, "no shard was ever begun")
        killed.append(head.kill_a_busy_worker())

    with ray_head(tmp_path / "ray") as head:
        killer = threading.Thread(target=kill_in_mid_shard, args=(head,))
        killer.start()
        found = index(config, store, f"ray://{head.address}", head)
        killer.join(10)
    assert killed
    assert found == expected
    check_deep(Store(store).path_of(found), found)


def _is_in_mid_shard(store: Path) -> bool:
    """Return whether a process that is alive holds a shard's lock, as the note in it says."""
    for lock in store.glob("shards/*/lock"):
        try:
            holder = int(json.loads(lock.read_bytes())["pid"])
        except (OSError, ValueError):
            continue
        if Path(f"/proc/{holder}").exists():
            return True
    return False
