"""The wheel: one top-level name, everything that a user needs, and nothing of the repository's links."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a wheel built from what git tracks, as a clean clone would give it."""
    source, folder = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    tracked = subprocess.run(
        ["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, check=True
    ).stdout
    listed = subprocess.run(
        ["tar", "cf", "-", "--null", "-T", "-"],
        cwd=REPOSITORY,
        input=tracked,
        capture_output=True,
        check=True,
    )
    subprocess.run(["tar", "xf", "-"], cwd=source, input=listed.stdout, check=True)
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(folder),
        "."],
        cwd=source, check=True, capture_output=True, timeout=250,
    )  # fmt: skip
    [built] = folder.glob("*.whl")
    return built


def test_there_is_one_top_level_name(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    installed = [name for name in names if ".dist-info/" not in name and ".data/" not in name]
    assert {name.split("/")[0] for name in installed} == {"noctule"}
    assert [name.partition(".data/")[2] for name in names if ".data/" in name] == [
        "data/share/man/man1/noctule.1"
    ]


def test_the_package_runs_as_the_command_line() -> None:
    command = [sys.executable, "-m", "noctule", "--version"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("noctule ")


def test_it_holds_what_it_needs_and_no_link(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    names = set(archive.namelist())
    for needed in (
        "noctule/py.typed",
        "noctule/__main__.py",
        *(f"noctule/presets/{path.name}" for path in (REPOSITORY / "configs").glob("*.toml")),
        "noctule/artifacts/sql/search.sql",
        "noctule/docsite/theme/page.html",
        "noctule/flows/graph.py",
        "noctule/pipeline/parse/rst/parser.py",
    ):
        assert needed in names, needed
    assert any(name.startswith("noctule/docsite/client/bundles/") for name in names)
    assert not [info.filename for info in archive.infolist() if (info.external_attr >> 28) == 0xA], "links"


def test_it_works_where_other_packages_have_the_names_of_its_folders(wheel: Path, tmp_path: Path) -> None:
    for name in ("artifacts", "pipeline", "flows", "server"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise ImportError('not this one')")
    zipfile.ZipFile(wheel).extractall(tmp_path / "installed")
    program = (
        "import noctule; print(noctule.__file__); noctule.open, noctule.index, noctule.Store\n"
        "from noctule.flows.cli.init import presets; print(*presets())"
    )
    said = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path,
        env={"PYTHONPATH": f"{tmp_path / 'installed'}:{tmp_path}"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert str(tmp_path / "installed") in said.stdout
    assert {"docs", "notes"} <= set(said.stdout.split())
