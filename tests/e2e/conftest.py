"""One snapshot, built once by the command line, that the end-to-end tests look at or copy."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import CommandLine, write_vault


@dataclass(frozen=True)
class Built:
    """A vault and the store that holds its snapshot; ``printed`` is what ``index --json`` said."""

    vault: Path
    store: Path
    printed: dict[str, Any]

    def copied_to(self, folder: Path) -> CommandLine:
        """A command line with a copy of the store, to damage or to change."""
        shutil.copytree(self.store, folder / "store")
        return CommandLine(folder, folder / "store")


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("built")
    vault = write_vault(folder / "vault")
    command = CommandLine(folder, folder / "store")
    done = command.run("index", str(vault), "--no-prefect", "--json")
    assert done.code == 0, done.err
    return Built(vault, command.store, done.json)
