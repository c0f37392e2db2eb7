"""The service as it is run: the real command answers while snapshots change and when it is told to end."""

from __future__ import annotations

import http.client
import itertools
import json
import shutil
import signal
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from noctule.artifacts.store.store import Store
from tests.command_line import CommandLine, Started, wait_until
from tests.guide_snapshot import Guide, guide  # noqa: F401  # a fixture

SETTINGS = "[serve]\nrequests_per_second = 0\npoll_s = 0.1\ndeadline_s = 30\n"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _get(port: int, path: str) -> Any:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as answer:
            return json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return json.loads(error.read())
    except OSError:
        return {}


@pytest.fixture
def line(tmp_path: Path, guide: Guide) -> CommandLine:  # noqa: F811
    shutil.copytree(guide.store.root, tmp_path / "store")
    (tmp_path / "noctule.toml").write_text(SETTINGS)
    return CommandLine(tmp_path, tmp_path / "store")


class _Clients:
    """Four that ask one question after the other until there is nobody to ask, no question twice."""

    def __init__(self, port: int) -> None:
        self._port, self._questions, self._lock = port, itertools.count(), threading.Lock()
        self.answers: set[tuple[int, str]] = set()
        self.snapshots: list[str] = []
        self.is_over, self.broken = threading.Event(), 0

    @contextmanager
    def asking(self) -> Iterator[None]:
        with ThreadPoolExecutor(4) as pool:
            ends = [pool.submit(self._ask) for _ in range(4)]
            try:
                yield
            finally:
                self.is_over.set()
                for end in ends:
                    end.result(30)

    def last(self, count: int) -> set[str]:
        """The snapshots that the last answers name, nothing before there are so many."""
        return set(self.snapshots[-count:]) if len(self.snapshots) >= count else set()

    def _ask(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)
        while True:
            try:
                connection.request("GET", f"/v1/search?q=whispered+owl+{next(self._questions)}")
                answer = connection.getresponse()
                content = json.loads(answer.read())
            except (OSError, http.client.HTTPException):
                with self._lock:
                    self.broken += not self.is_over.is_set()
                return
            with self._lock:
                self.answers.add((answer.status, content.get("code", "")))
                self.snapshots.append(content.get("snapshot", ""))


def _begin_to_ask(port: int) -> tuple[socket.socket, bytes]:
    """A connection on which half a question is sent, and the other half."""
    body = b'{"q": "owls at dusk"}'
    half = socket.create_connection(("127.0.0.1", port), timeout=30)
    head = f"Host: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    half.sendall(f"POST /v1/search HTTP/1.1\r\n{head}".encode() + body[:9])
    return half, body[9:]


def test_it_answers_while_snapshots_change_and_drains(line: CommandLine) -> None:
    port, store = _free_port(), Store(line.store)
    started: Started = line.start("serve", "--port", str(port), "--workers", "2")
    clients = _Clients(port)
    try:
        wait_until(lambda: "snapshot" in _get(port, "/readyz"), 60, "not ready")
        with clients.asking():
            wait_until(lambda: len(clients.snapshots) > 20, 60, "no answer")
            for _ in range(2):
                became = store.rollback()
                wait_until(lambda now=became: clients.last(30) == {now}, 60, "not the one that is current")
            half, rest = _begin_to_ask(port)
            clients.is_over.set()
            started.process.send_signal(signal.SIGTERM)
            with half:
                assert started.process.poll() is None
                half.sendall(rest)
                assert half.makefile("rb").readline() == b"HTTP/1.1 200 OK\r\n"
            assert started.process.wait(10) == 0
        wait_until(lambda: not started.family(), 5, "something is left")
    finally:
        started.end()
    assert (clients.answers, clients.broken) == ({(200, "")}, 0)
    assert set(clients.snapshots) == {info.snapshot_id for info in store.snapshots()}
    assert 'GET "/v1/search" 200' in started.said() and "whispered" not in started.said()


def test_it_refuses_what_would_open_it_or_makes_no_sense(line: CommandLine) -> None:
    for arguments, kind in (
        (("--host", "0.0.0.0"), "SettingsError"),
        (("--tokens", "none.txt"), "SettingsError"),
        (("--watch", "--workers", "2"), "SourceError"),
        (("--site", "none"), "SourceError"),
        (("--store", "empty"), "NoSnapshot"),
    ):
        assert line.run("serve", *arguments, "--json").error["kind"] == kind
