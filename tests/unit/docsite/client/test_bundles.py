"""The client's scripts: modules in layers, checked types, and bundles that are what the modules give."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from functools import cache
from graphlib import TopologicalSorter
from hashlib import sha256
from pathlib import Path

import pytest

from noctule.docsite.theme_folder import CLIENT, SCRIPTS
from tests.command_line import REPOSITORY

SITE = REPOSITORY / "site"
ENTRIES = dict(
    re.findall(r'^  "(\w+\.js)": "([\w/]+\.js)",$', (SITE / "bundle.mjs").read_text("utf-8"), re.M)
)
MODULES = sorted(path for path in CLIENT.rglob("*.js") if SCRIPTS not in path.parents)
_IMPORTS = re.compile(r'^(?:import|export) [^";]*"(\.[^"]+)";$', re.MULTILINE)
_MINUTE_S = 60
_LONGEST_LINE = 110


@cache
def imported(module: Path) -> frozenset[Path]:
    """Return the modules that a module imports."""
    return frozenset((module.parent / name).resolve() for name in _IMPORTS.findall(module.read_text("utf-8")))


def sources(entry: Path) -> list[str]:
    """Return the names of all modules that a bundle is made of."""
    found, left = set[Path](), [entry.resolve()]
    while left:
        module = left.pop()
        if module not in found:
            found.add(module)
            left += imported(module)
    return sorted(path.relative_to(CLIENT).as_posix() for path in found)


def tool(name: str) -> str:
    """Return the command of a tool that npm installs; skips where there is none, unless it is required."""
    installed = SITE / "node_modules" / ".bin" / name
    found = str(installed) if installed.exists() else os.environ.get("NOCTULE_TSC") if name == "tsc" else None
    if not found and os.environ.get("NOCTULE_REQUIRE_NPM"):
        pytest.fail(f"{name} is required: run make npm")
    if not found:
        pytest.skip(f"needs {name}: run make npm")
    return found


def test_there_is_a_bundle_for_every_entry_and_no_other() -> None:
    assert ENTRIES
    assert {path.name for path in SCRIPTS.iterdir()} == {*ENTRIES}
    used = {name for entry in ENTRIES.values() for name in sources(CLIENT / entry)}
    assert {path.relative_to(CLIENT).as_posix() for path in MODULES} == used


@pytest.mark.parametrize("name", ENTRIES)
def test_a_bundle_names_the_sources_that_it_was_made_of(name: str) -> None:
    made = sha256()
    for source in sources(CLIENT / ENTRIES[name]):
        made.update(b"%s\0%s\0" % (source.encode(), (CLIENT / source).read_bytes()))
    head = f"/* sources {made.hexdigest()[:16]} */\n"
    assert (SCRIPTS / name).read_text("utf-8").startswith(head), "the modules have changed: run make bundle"


def test_the_committed_bundles_are_what_the_modules_give(tmp_path: Path) -> None:
    tool("esbuild")
    node = shutil.which("node") or pytest.skip("needs node")
    command = [node, str(SITE / "bundle.mjs"), str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True, timeout=_MINUTE_S)
    for path in SCRIPTS.iterdir():
        assert path.read_bytes() == (tmp_path / path.name).read_bytes(), f"{path.name}: run make bundle"


def test_the_types_of_the_client_hold() -> None:
    tsc = tool("tsc")
    command = [tsc, "-p", str(SITE / "tsconfig.json")]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=2 * _MINUTE_S)
    assert run.returncode == 0, run.stdout


def test_the_scripts_are_formatted() -> None:
    command = [tool("prettier"), "--check", "**/*.js", "*.mjs", "../tests/client/*.js"]
    run = subprocess.run(
        command, cwd=SITE, capture_output=True, text=True, check=False, timeout=2 * _MINUTE_S
    )
    assert run.returncode == 0, f"{run.stderr}: npm run --prefix site format"


def test_no_line_is_longer_than_the_editor_shows() -> None:
    long = [
        f"{path.name}:{number}"
        for path in (*CLIENT.rglob("*.js"), SITE / "bundle.mjs")
        if path.parent.name != "bundles"
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if len(line) > _LONGEST_LINE
    ]
    assert not long


def test_modules_import_without_circles() -> None:
    for module in MODULES:
        assert all(path.is_file() for path in imported(module)), module.name
    list(TopologicalSorter({module.resolve(): imported(module) for module in MODULES}).static_order())


def test_tools_are_pinned_and_no_registry_is_named() -> None:
    stated = json.loads((SITE / "package.json").read_text("utf-8"))
    versions = stated["devDependencies"].values()
    assert "dependencies" not in stated and all(re.fullmatch(r"\d+\.\d+\.\d+", each) for each in versions)
    assert not (SITE / "package-lock.json").exists()


@pytest.mark.parametrize("name", ENTRIES)
def test_a_bundle_is_a_classic_script_that_a_strict_policy_allows(name: str) -> None:
    code = (SCRIPTS / name).read_text("utf-8")
    assert not re.search(r"^(?:import|export)\b", code, re.MULTILINE) and "import(" not in code
    forbidden = ["eval(", "new Function", "innerHTML", "XMLHttpRequest", "http://", "https://"]
    forbidden += [] if name == "worker.js" else ["fetch("]
    assert [each for each in forbidden if each in code] == []


def test_the_engine_stays_small() -> None:
    assert (SCRIPTS / "engine.js").stat().st_size < 46_000


def test_no_module_of_the_client_is_long() -> None:
    for path in MODULES:
        assert len(path.read_text("utf-8").splitlines()) <= 300, path.name
