"""An install without the extra ``build`` searches, builds sites and says what an index would need."""

from __future__ import annotations

import re
import shutil
import tomllib
from importlib.metadata import packages_distributions

import pytest

from noctule.artifacts.store.store import Store
from tests.command_line import REPOSITORY, CommandLine

# Finds all modules but those of the extra and what only they need.
_HIDES = """
import sys

class Hiding:
    def __init__(self, finder):
        self.finder = finder

    def __getattr__(self, name):
        return getattr(self.finder, name)

    def find_spec(self, name, path=None, target=None):
        return None if name.partition(".")[0] in {hidden!r} else self.finder.find_spec(name, path, target)

sys.meta_path[:] = [Hiding(each) for each in sys.meta_path]
"""


def _modules_of_the_extra() -> set[str]:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    named = {re.split(r"[<>=]", each)[0] for each in project["optional-dependencies"]["build"]}
    return {module for module, owners in packages_distributions().items() if named & set(owners)}


@pytest.fixture(scope="module")
def reader(library: Store, tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """A copy of the library's store, for a Python that lacks the extra."""
    folder = tmp_path_factory.mktemp("reader")
    shutil.copytree(library.root, folder / "store")
    hidden = _modules_of_the_extra()
    assert {"prefect", "torch", "networkx", "scipy", "bs4"} <= hidden
    (folder / "path").mkdir()
    (folder / "path" / "sitecustomize.py").write_text(_HIDES.format(hidden=hidden))
    return CommandLine(folder, folder / "store", {"PYTHONPATH": str(folder / "path")})


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", "what floats on water"),
        ("search", "what floats on water", "--encoder", "full"),
        ("similar", "notes:boats.md"),
        ("sql", "select count(*) from passages"),
        ("check",),
        ("site", "--out", "public"),
        ("report",),
    ],
    ids=" ".join,
)
def test_what_reads_a_snapshot_works_without_the_extra(
    reader: CommandLine, arguments: tuple[str, ...]
) -> None:
    done = reader.run(*arguments)
    assert done.code == 0, done.err
    assert done.out


@pytest.mark.parametrize("arguments", [("index", "notes"), ("graph", "--links")], ids=" ".join)
def test_what_needs_the_extra_says_so(reader: CommandLine, arguments: tuple[str, ...]) -> None:
    (reader.folder / "notes").mkdir(exist_ok=True)
    (reader.folder / "notes" / "note.md").write_text("# Note\n")
    done = reader.run(*arguments)
    assert done.code == 2, done.err
    assert "not installed" in done.err and "pip install" in done.err


def test_a_base_install_is_small() -> None:
    """No package of the base needs one of the extra, so that a plain install brings none."""
    from tests.conventions.licences import needed

    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    base = (re.split(r"[<>=]", each)[0] for each in project["dependencies"])
    brought = {re.sub(r"[-_.]+", "-", each.metadata["Name"]).lower() for each in needed(base)}
    assert not brought & {"torch", "prefect", "sentence-transformers", "scipy", "networkx", "transformers"}
    assert len(brought) <= 60, sorted(brought)
