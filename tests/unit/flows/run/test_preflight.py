"""What is plain to see before a run: by times alone, and with few imports."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from noctule.flows.run.preflight import newer_than

_BEFORE, _THEN, _AFTER = 1_000.0, 2_000.0, 3_000.0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in" / ".git").mkdir(parents=True)
    for name in ("one.md", "in/two.md", "in/.git/index"):
        (tmp_path / name).write_text("words")
    for path in sorted(tmp_path.rglob("*"), reverse=True):
        os.utime(path, (_BEFORE, _BEFORE))
    os.utime(tmp_path, (_BEFORE, _BEFORE))
    return tmp_path


def test_what_is_older_has_not_changed(folder: Path) -> None:
    assert not newer_than(_THEN, [folder, folder / "one.md"])


@pytest.mark.parametrize("name", ["one.md", "in/two.md", "in", "."])
def test_a_file_or_a_folder_that_is_newer_has(folder: Path, name: str) -> None:
    os.utime(folder / name, (_AFTER, _AFTER))
    assert newer_than(_THEN, [folder])


def test_hidden_names_do_not_count(folder: Path) -> None:
    os.utime(folder / "in" / ".git" / "index", (_AFTER, _AFTER))
    os.utime(folder / "in" / ".git", (_AFTER, _AFTER))
    assert not newer_than(_THEN, [folder])


def test_what_cannot_be_looked_at_tells_nothing(folder: Path) -> None:
    assert not newer_than(_THEN, [folder / "gone"])
    assert newer_than(_BEFORE - 1, [folder / "gone", folder])


def test_prefects_server_waits_for_few_imports() -> None:
    slow = {
        "prefect",
        "faiss",
        "duckdb",
        "torch",
        "noctule.artifacts.query",
        "noctule.pipeline.parse",
        "noctule.flows.run.build",
    }
    assert not _loaded(slow, by="noctule.flows.cli.runs, noctule.flows.cli.site, noctule.flows.run.preflight")


def test_a_look_that_finds_nothing_changed_needs_few_imports() -> None:
    slow = {
        "prefect",
        "faiss",
        "duckdb",
        "torch",
        "scipy",
        "bs4",
        "noctule.flows.quality.gate",
        "noctule.flows.run.build",
    }
    assert not _loaded(
        slow,
        by="noctule.flows.cli.runs, noctule.flows.cli.site, noctule.flows.run.preflight, noctule.flows.run.work, noctule.docsite.build",
    )


def _loaded(modules: set[str], by: str) -> set[str]:
    program = f"import sys, {by}; print(*sys.modules)"
    said = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    return modules & set(said.stdout.split())
