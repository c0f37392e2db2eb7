"""A Ray cluster computes the snapshot that one machine computes, also when a worker is killed on the way.

Each run is a process of its own: Ray reads its settings once, when it is imported.
"""

from __future__ import annotations

import subprocess
import threading
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.command_line import CommandLine, wait_until
from tests.ray_cluster import NOT_NICE, ray_head

pytestmark = pytest.mark.skipif(
    find_spec("ray") is None, reason='Ray is not installed; with it: pip install -e ".[ray]"'
)

# 127.0.0.1, as itself and as an address of IPv6, in the kernel's order of bytes.
LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F"}


def write_library(root: Path, files: int = 100) -> Path:
    """More files than fit one batch, all different."""
    root.mkdir()
    for number in range(files):
        words = " ".join(f"word{(number * step) % 97}" for step in range(1, 50))
        (root / f"book-{number:03}.md").write_text(
            f"# Book {number}\n\n{words}.\n\n## Part\n\n{words[::-1]}\n"
        )
    return root


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_library(tmp_path_factory.mktemp("ray") / "library")


@pytest.fixture(scope="module")
def expected(library: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("inline")
    done = CommandLine(folder, folder / "store").run(
        "index", str(library), "--engine", "inline", "--no-prefect", "--json"
    )
    assert done.code == 0, done.err
    return str(done.json["snapshot"])


def test_a_worker_killed_in_mid_run_does_not_change_the_snapshot(
    library: Path, expected: str, tmp_path: Path
) -> None:
    with ray_head(tmp_path / "ray") as head:
        killed: list[int] = []
        command = CommandLine(tmp_path, tmp_path / "store", head.environment)
        killer = threading.Thread(target=lambda: killed.append(head.kill_a_busy_worker()))
        killer.start()
        done = command.run(
            "index",
            str(library),
            "--engine",
            f"ray://{head.address}",
            "--no-prefect",
            "--json",
            timeout_s=240,
        )
        killer.join(60)
    assert done.code == 0, done.err
    assert killed
    assert done.json["snapshot"] == expected


def test_a_cluster_of_the_runs_own_listens_on_this_machine_only_and_is_gone_afterwards(
    library: Path, expected: str, tmp_path: Path
) -> None:
    command = CommandLine(tmp_path, tmp_path / "store", NOT_NICE)
    started = command.start("index", str(library), "--engine", "ray", "--no-prefect", "--json")
    heard: set[str] = set()
    while started.process.poll() is None:
        heard |= listening(set(started.family()))
        try:
            started.process.wait(0.5)
        except subprocess.TimeoutExpired:
            continue
    assert started.process.returncode == 0, started.said()
    assert heard and heard <= LOOPBACK, "addresses that something listened on, in hexadecimal"
    wait_until(lambda: not started.family(), 15, "something of the cluster is left")
    done = command.run("check", "--json")
    assert done.json["snapshot"] == expected


def listening(processes: set[int]) -> set[str]:
    """The addresses that these processes listen on, as the kernel writes them."""
    inodes = set()
    for number in processes:
        try:
            for entry in (Path("/proc") / str(number) / "fd").iterdir():
                inodes.add(str(entry.readlink()).removeprefix("socket:[").removesuffix("]"))
        except OSError:
            continue
    rows = [
        line.split()
        for name in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]
    ]
    return {row[1].partition(":")[0] for row in rows if row[3] == "0A" and row[9] in inodes}
