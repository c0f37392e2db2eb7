"""The service as it is run: the real command answers, follows the store, and ends by SIGTERM."""

from __future__ import annotations

import json
import signal
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import CommandLine, Started, wait_until, write_vault


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
def line(tmp_path: Path) -> Iterator[CommandLine]:
    line = CommandLine(tmp_path, tmp_path / "store")
    assert line.run("index", str(write_vault(tmp_path / "vault")), "--collection", "vault").code == 0
    yield line


@pytest.mark.parametrize("workers", ["1", "2"])
def test_it_answers_follows_the_store_and_drains(line: CommandLine, workers: str) -> None:
    port = _free_port()
    started: Started = line.start("serve", "--port", str(port), "--workers", workers)
    try:
        wait_until(lambda: "snapshot" in _get(port, "/readyz"), 60, "not ready")
        first = _get(port, "/v1/search?q=owl+at+dusk")
        assert first["hits"][0]["doc_id"] == "vault:guide/owls.md"
        (line.folder / "vault/new.md").write_text("# Zygodactyl\n\nA foot of four toes.\n")
        assert line.run("index", str(line.folder / "vault"), "--collection", "vault").code == 0
        for _ in range(2 * int(workers)):
            wait_until(
                lambda: (
                    _get(port, "/v1/search?q=zygodactyl").get("snapshot") not in (None, first["snapshot"])
                ),
                30,
                "the new snapshot is not served",
            )
        assert line.run("rollback").code == 0
        wait_until(lambda: _get(port, "/readyz").get("snapshot") == first["snapshot"], 30, "no rollback")
        started.process.send_signal(signal.SIGTERM)
        assert started.process.wait(10) == 0
        wait_until(lambda: not started.family(), 5, "something is left")
        assert 'GET "/v1/search" 200' in started.said()
        assert "zygodactyl" not in started.said()
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
