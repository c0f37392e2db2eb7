"""A server of a test on the loopback address, in a process of its own: started, waited for, and killed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from tests.command_line import wait_until


class LoopbackServer:
    """``python -m module PORT arguments…``; it answers at ``port`` once it is made."""

    def __init__(
        self, module: str, folder: Path, arguments: tuple[str, ...], environment: Mapping[str, str]
    ) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._log = folder / "server.log"
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", module, str(self.port), *arguments],
                stdout=log, stderr=log, env={**os.environ, **environment}, cwd=Path(__file__).parents[1],
            )  # fmt: skip
        wait_until(self._answers, 60, f"{module} does not answer")

    def _answers(self) -> bool:
        assert self.process.poll() is None, self._log.read_text()
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def stop(self) -> None:
        """The server is gone."""
        self.process.kill()
        self.process.wait(10)


Server = TypeVar("Server", bound=LoopbackServer)


@contextmanager
def running(server: Server) -> Iterator[Server]:
    """The server for the block's time."""
    try:
        yield server
    finally:
        server.stop()
