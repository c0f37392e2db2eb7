"""What end-to-end tests share: a snapshot, built once by the command line, and an object server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from noctule.pipeline.filesystems import object_files
from tests.command_line import CommandLine, write_vault
from tests.loopback_server import running
from tests.object_server import ObjectServer
from tests.shared_folder import copied_store, shared_folder


@dataclass(frozen=True)
class Built:
    """A vault and the store that holds its snapshot; ``printed`` is what ``index --json`` said."""

    vault: Path
    store: Path
    printed: dict[str, Any]

    def copied_to(self, folder: Path) -> CommandLine:
        """A command line with a copy of the store, to damage or to change."""
        copied_store(self.store, folder / "store")
        return CommandLine(folder, folder / "store")


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Built once, whichever module of whichever process asks first; each process has a copy."""
    made = shared_folder(tmp_path_factory, "built", _build)
    folder = copied_store(made, tmp_path_factory.mktemp("built") / "copy")
    return Built(made / "vault", folder / "store", json.loads((made / "printed.json").read_text()))


def _build(folder: Path) -> None:
    vault = write_vault(folder / "vault")
    done = CommandLine(folder, folder / "store").run("index", str(vault), "--no-prefect", "--json")
    assert done.code == 0, done.err
    (folder / "printed.json").write_text(done.out)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectServer]:
    """An object server; tests that need another kind have a fixture of this name."""
    pytest.importorskip("s3fs")
    pytest.importorskip("moto")
    with running(ObjectServer(tmp_path_factory.mktemp("server"))) as started:
        yield started


@pytest.fixture
def bucket(server: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of a bucket of the test's own, in an environment in which the product finds the server."""
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("NOCTULE_CACHE", str(tmp_path / "cache"))
    object_files._kept.cache_clear()  # a client keeps the environment that it was made in
    return server.bucket(f"b{abs(hash(tmp_path))}")
