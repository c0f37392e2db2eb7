"""A real object server on the loopback address, in a process of its own."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.loopback_server import LoopbackServer

CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
    # A file of the user's own could name another server.
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
}


class ObjectServer(LoopbackServer):
    """The server; ``environment`` is what a client needs to reach it."""

    def __init__(self, folder: Path) -> None:
        self._limit = folder / "limit"
        super().__init__("tests.object_server", folder, (str(self._limit),), CREDENTIALS)
        self.environment = CREDENTIALS | {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}"}

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

    @contextmanager
    def accepting(self, count: int) -> Iterator[None]:
        """So many files may be put meanwhile; who puts another one waits, and is refused when the
        block ends.
        """
        self._limit.write_text(str(count))
        try:
            yield
        finally:
            self._limit.unlink()


class _Limited:
    """The server's application behind a limit of puts, which a file names; where there is none, nothing is
    limited.
    """

    def __init__(self, application: Callable[..., Iterable[bytes]], limit: Path) -> None:
        self._application, self._limit = application, limit
        self._counting = threading.Lock()
        self._accepted = 0

    def __call__(self, request: dict[str, Any], answer: Callable[..., Any]) -> Iterable[bytes]:
        if request["REQUEST_METHOD"] == "PUT" and self._is_one_too_many():
            while self._limit.exists():
                time.sleep(0.01)
            answer("503 Slow Down", [])
            return []
        return self._application(request, answer)

    def _is_one_too_many(self) -> bool:
        with self._counting:
            if not self._limit.exists():
                self._accepted = 0
                return False
            self._accepted += 1
            return self._accepted > int(self._limit.read_text())


def _serve(port: int, limit: Path) -> None:
    from moto.server import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import run_simple

    run_simple(
        "127.0.0.1", port, _Limited(DomainDispatcherApplication(create_backend_app), limit), threaded=True
    )


if __name__ == "__main__":
    _serve(int(sys.argv[1]), Path(sys.argv[2]))
