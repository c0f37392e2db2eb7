"""A real Dask scheduler and real workers, each a process of its own, on the loopback address."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.command_line import REPOSITORY, wait_until


@dataclass
class DaskProcesses:
    """The cluster: its address, and its workers by name."""

    address: str
    workers: dict[str, subprocess.Popen[bytes]]

    def kill_a_busy_worker(self, limit_s: float = 60) -> str:
        """The name of a worker that was computing something when it was killed with SIGKILL."""
        from distributed import Client

        with Client(f"tcp://{self.address}", set_as_default=False) as client:
            deadline = time.monotonic() + limit_s
            while time.monotonic() < deadline:
                calls = client.call_stack() or {}
                info = client.scheduler_info(n_workers=-1)["workers"]
                busy = sorted(
                    info[address]["name"] for address, stack in calls.items() if stack and address in info
                )
                if busy:
                    self.workers[busy[0]].send_signal(signal.SIGKILL)
                    self.workers[busy[0]].wait(10)
                    return busy[0]
        raise AssertionError("no worker was ever busy")


def _start(folder: Path, name: str, *arguments: str, code: Path = REPOSITORY) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": f"{code}:{code / 'site'}", "OMP_NUM_THREADS": "1"}
    with (folder / f"{name}.log").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *arguments], cwd=folder, env=environment, stdout=log, stderr=log
        )


@contextmanager
def dask_cluster(folder: Path, workers: int = 2, code: Path = REPOSITORY) -> Iterator[DaskProcesses]:
    """A scheduler and so many workers without a nanny: one that is killed stays away.

    ``code`` is the checkout that the workers run.
    """
    folder.mkdir(parents=True, exist_ok=True)
    scheduler = _start(folder, "scheduler", "scheduler", "--host", "127.0.0.1", "--port", "0",
    "--no-dashboard",
                       "--scheduler-file", str(folder / "scheduler.json"))  # fmt: skip
    started = {"scheduler": scheduler}
    try:
        written = partial(_address_in, folder / "scheduler.json")
        wait_until(lambda: bool(written()), 60, (folder / "scheduler.log").read_text())
        for number in range(workers):
            started[f"w{number}"] = _start(
                folder, f"w{number}", "worker", "--scheduler-file", str(folder / "scheduler.json"), "--host",
                "127.0.0.1",
                "--nthreads", "1", "--no-nanny", "--no-dashboard", "--name", f"w{number}", "--memory-limit",
                "0",
                "--local-directory", str(folder), code=code,
            )  # fmt: skip
        yield DaskProcesses(written(), {name: each for name, each in started.items() if name != "scheduler"})
    finally:
        for each in started.values():
            each.kill()
            each.wait(10)


def _address_in(scheduler_file: Path) -> str:
    """The address of the scheduler, empty until its file is written to the end."""
    try:
        address: str = json.loads(scheduler_file.read_text())["address"]
    except (FileNotFoundError, json.JSONDecodeError):
        return ""
    return address.removeprefix("tcp://")
