"""A real object server on the loopback address, in a process of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.command_line import wait_until

CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
    # A file of the user's own could name another server.
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
}


class ObjectServer:
    """The server; ``environment`` is what a client needs to reach it."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._log = folder / "server.log"
        self.environment = CREDENTIALS | {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}"}
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)],
                stdout=log, stderr=log, env={**os.environ, **CREDENTIALS},
            )  # fmt: skip
        wait_until(self._answers, 60, "the object server does not answer")

    def _answers(self) -> bool:
        assert self.process.poll() is None, self._log.read_text()
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def bucket(self, name: str) -> str:
        """The address of a new bucket."""
        self.files().mkdir(name)
        return f"s3://{name}"

    def files(self) -> Any:
        """A client of its own, without a cache."""
        import s3fs

        return s3fs.S3FileSystem(
            key="test", secret="test", endpoint_url=self.environment["AWS_ENDPOINT_URL"],
            skip_instance_cache=True, use_listings_cache=False,
        )  # fmt: skip

    def stop(self) -> None:
        """The server is gone."""
        self.process.kill()
        self.process.wait(10)


@contextmanager
def object_server(folder: Path) -> Iterator[ObjectServer]:
    """A server for the block's time."""
    server = ObjectServer(folder)
    try:
        yield server
    finally:
        server.stop()
