"""The service as it is run: the real command answers, says nothing of what was asked, and ends by SIGTERM."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from noctule.artifacts.store.store import Store
from tests.command_line import CommandLine, Started, wait_until


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def get(port: int, path: str) -> Any:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as answer:
            return json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return json.loads(error.read())
    except OSError:
        return {}


@pytest.fixture
def line(tmp_path: Path, library: Store) -> CommandLine:
    shutil.copytree(library.root, tmp_path / "store")
    return CommandLine(tmp_path, tmp_path / "store")


def test_it_answers_and_drains(line: CommandLine) -> None:
    port = free_port()
    started: Started = line.start("serve", "--port", str(port), "--workers", "2")
    try:
        wait_until(lambda: "snapshot" in get(port, "/readyz"), 60, "not ready")
        wait_until(lambda: "hits" in get(port, "/v1/search?q=whispered"), 60, "no answer")
        started.process.send_signal(signal.SIGTERM)
        assert started.process.wait(10) == 0
        wait_until(lambda: not started.family(), 5, "something is left")
        assert 'GET "/v1/search" 200' in started.said()
        assert "whispered" not in started.said()
    finally:
        started.end()


def test_it_refuses_what_would_open_it_or_makes_no_sense(line: CommandLine) -> None:
    for arguments, kind in (
        (("--host", "0.0.0.0"), "SettingsError"),
        (("--tokens", "none.txt"), "SettingsError"),
        (("--watch", "--workers", "2"), "SourceError"),
        (("--site", "none"), "SourceError"),
        (("--store", "empty"), "NoSnapshot"),
    ):
        assert line.run("serve", *arguments, "--json").error["kind"] == kind
