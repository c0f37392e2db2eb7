"""A real Ray head on the loopback address, with a token of its own."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.command_line import MARK, REPOSITORY, marked, wait_until

# Else Ray's workers, nice by 15, may need minutes for seconds of work on a busy machine.
NOT_NICE = {"RAY_worker_niceness": "0"}


@dataclass
class RayHead:
    """The cluster: the address of its client server, and what a client's environment must hold."""

    address: str
    environment: Mapping[str, str]
    mark: str

    def family(self) -> dict[int, str]:
        """The cluster's living processes and their command lines."""
        return marked(self.mark)

    def busy_workers(self) -> list[int]:
        """Workers that are computing a job of ours now: Ray names them after it."""
        return [number for number, line in self.family().items() if line.startswith("ray::run")]

    def kill_a_busy_worker(self) -> int:
        """The number of a worker that was computing something when it was killed with SIGKILL."""
        wait_until(self.busy_workers, 60, "no worker was ever busy")
        victim = self.busy_workers()[0]
        os.kill(victim, signal.SIGKILL)
        return victim


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def ray_head(folder: Path, cores: int = 2) -> Iterator[RayHead]:
    """A head for the block's time; its processes are known by a mark, and only they are ended."""
    folder.mkdir(parents=True, exist_ok=True)
    mark, port = secrets.token_hex(8), _free_port()
    environment = {
        "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32), "RAY_USAGE_STATS_ENABLED": "0",
        # Else the fork that starts a client's server ends in a failed check of gRPC's.
        "GRPC_ENABLE_FORK_SUPPORT": "0",
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "PYTHONPATH": f"{REPOSITORY}:{REPOSITORY / 'site'}",
        "HOME": str(folder), **NOT_NICE,
    }  # fmt: skip
    head = RayHead(f"127.0.0.1:{port}", environment, mark)
    with (folder / "head.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block",
            "--node-ip-address=127.0.0.1",
             f"--port={_free_port()}", f"--num-cpus={cores}", "--include-dashboard=false",
             "--disable-usage-stats",
             f"--ray-client-server-port={port}", "--object-store-memory=100000000"],
            env={**os.environ, **environment, MARK: mark}, stdout=log, stderr=log,
        )  # fmt: skip
    try:
        wait_until(lambda: _answers(port) or process.poll() is not None, 90, "the Ray head does not answer")
        assert process.poll() is None, (folder / "head.log").read_text()
        yield head
    finally:
        for _ in range(2):  # a parent may have started another child in between
            for number in head.family():
                try:
                    os.kill(number, signal.SIGKILL)
                except ProcessLookupError:
                    continue
        process.wait(10)


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
