"""Dates, authors and ignored files from a real git repository, of which nothing is run."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from noctule.flows.stages.sources import list_sources
from noctule.pipeline.errors import SourceError
from noctule.pipeline.includes.source import read_source
from noctule.pipeline.parse import parse
from noctule.pipeline.settings import reading

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not on this machine")


def _git(folder: Path, *arguments: str, day: str = "2026-01-01", author: str = "Ada") -> None:
    date = f"{day}T23:30:00+0000"
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": author, "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_AUTHOR_DATE": date,
        "GIT_COMMITTER_NAME": "C", "GIT_COMMITTER_EMAIL": "c@example.org", "GIT_COMMITTER_DATE": date,
    }  # fmt: skip
    subprocess.run(["git", *arguments], cwd=folder, env=environment, check=True, capture_output=True)


def _commit(folder: Path, files: dict[str, str], day: str, author: str) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    _git(folder, "add", "-A")
    _git(folder, "commit", "-m", "a change", day=day, author=author)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    _git(folder, "init", "-q", "-b", "main")
    _commit(folder, {"docs/a.md": "# A\n", "docs/b ü.md": "# B\n", "readme.md": "# R\n"}, "2026-01-05", "Ada")
    _commit(folder, {"docs/a.md": "# A two\n"}, "2026-02-06", "Bert Önner")
    _commit(folder, {"readme.md": "# R two\n"}, "2026-03-07", "Cy")
    return folder


def _found(root: Path, **rules: Any) -> dict[str, tuple[str | None, str]]:
    """Date and author of each file, as the listing has them."""
    given = {"collections": {"docs": {"root": str(root)} | rules}}
    listing = list_sources(reading.parse(given, where="here"), rules=())
    return {file.path: (file.modified, file.author) for file in listing.files}


_GIT = {"modified_from": "git", "author_from": "git"}


def test_the_last_commit_that_changed_a_file_gives_day_and_author(repository: Path) -> None:
    assert _found(repository, **_GIT) == {
        "docs/a.md": ("2026-02-06", "Bert Önner"),
        "docs/b ü.md": ("2026-01-05", "Ada"),
        "readme.md": ("2026-03-07", "Cy"),
    }


def test_a_folder_of_the_repository_may_be_the_root_also_through_a_link(
    repository: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(repository / "docs")
    for root in (repository / "docs", tmp_path / "link"):
        assert _found(root, **_GIT)["a.md"] == ("2026-02-06", "Bert Önner")


def test_each_is_asked_for_alone(repository: Path) -> None:
    assert _found(repository, modified_from="git")["docs/a.md"] == ("2026-02-06", "")
    assert _found(repository, author_from="git")["docs/a.md"] == (None, "Bert Önner")
    assert _found(repository)["docs/a.md"] == (None, "")


def test_a_merge_is_no_change_and_an_uncommitted_file_has_no_date(repository: Path) -> None:
    _git(repository, "checkout", "-q", "-b", "side", "HEAD~1")
    _commit(repository, {"docs/b ü.md": "# B two\n"}, "2026-02-20", "Dee")
    _git(repository, "checkout", "-q", "main")
    _git(repository, "merge", "--no-ff", "side", day="2026-04-01", author="Merger")
    (repository / "new.md").write_text("# New\n")
    found = _found(repository, **_GIT)
    assert found["docs/b ü.md"] == ("2026-02-20", "Dee")
    assert found["new.md"] == (None, "")


def test_ignored_files_are_left_out_if_asked_and_tracked_ones_are_not(repository: Path) -> None:
    _commit(repository, {".gitignore": "build/\ndocs/a.md\n"}, "2026-03-08", "Cy")
    (repository / "build").mkdir()
    (repository / "build" / "out.md").write_text("# Out\n")
    assert "build/out.md" in _found(repository)
    assert sorted(_found(repository, git_ignored="left-out")) == ["docs/a.md", "docs/b ü.md", "readme.md"]


def test_a_repository_within_the_repository_keeps_its_files(repository: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    _git(other, "init", "-q", "-b", "main")
    _commit(other, {"guide.md": "# Guide\n"}, "2026-03-08", "Dee")
    _git(repository, "-c", "protocol.file.allow=always", "submodule", "add", str(other), "docs/sub")
    _commit(repository, {".gitignore": "build/\n", "build/out.md": "# Out\n"}, "2026-03-09", "Cy")
    found = _found(repository, git_ignored="left-out")
    assert sorted(found) == ["docs/a.md", "docs/b ü.md", "docs/sub/guide.md", "readme.md"]
    assert list(_found(repository / "docs" / "sub", git_ignored="left-out")) == ["guide.md"]


def test_the_edge_of_a_shallow_clone_says_nothing(repository: Path, tmp_path: Path) -> None:
    _git(tmp_path, "clone", "-q", "--depth", "2", f"file://{repository}", "clone")
    found = _found(tmp_path / "clone", **_GIT)
    assert found["readme.md"] == ("2026-03-07", "Cy")
    assert found["docs/b ü.md"] == (None, "")


def test_a_document_takes_them_unless_it_names_its_author(repository: Path) -> None:
    text = "---\nauthor: Own\ndate: 1999-01-01\n---\n# O\n"
    _commit(repository, {"own.md": text, "plain.txt": "Words.\n"}, "2026-05-01", "Eve")
    given = {"collections": {"docs": {"root": str(repository)} | _GIT}}
    settings = reading.parse(given, where="here")
    collection = settings.collections["docs"]
    documents = {
        f.path: parse(read_source(f, collection), collection) for f in list_sources(settings, rules=()).files
    }
    assert (documents["own.md"].author, documents["own.md"].modified) == ("Own", "2026-05-01")
    assert (documents["plain.txt"].author, documents["plain.txt"].modified) == ("Eve", "2026-05-01")


def test_nothing_that_the_repository_configures_is_run(repository: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    for name in (
        "core.fsmonitor", "core.pager", "core.sshCommand", "diff.external", "diff.x.textconv", "gpg.program",
        "filter.x.clean", "filter.x.smudge", "alias.log", "pager.log", "credential.helper",
    ):  # fmt: skip
        _git(repository, "config", name, f"!{trap}" if name == "alias.log" else str(trap))
    _git(repository, "config", "log.showSignature", "true")
    (repository / ".gitattributes").write_text("*.md diff=x filter=x\n")
    for hook in ("post-checkout", "post-index-change", "reference-transaction"):
        shutil.copy(trap, repository / ".git" / "hooks" / hook)
    assert _found(repository, git_ignored="left-out", **_GIT)["docs/a.md"] == ("2026-02-06", "Bert Önner")
    assert not (tmp_path / "sprung").exists()


def test_what_is_no_repository_or_has_no_commit_is_said(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "a.md").write_text("# A\n")
    with pytest.raises(SourceError, match="not a git repository") as caught:
        _found(tmp_path / "plain", **_GIT)
    assert caught.value.exit_code == 2 and "modified_from" in caught.value.hint
    _git(tmp_path / "plain", "init", "-q")
    with pytest.raises(SourceError, match="cannot read the history"):
        _found(tmp_path / "plain", **_GIT)


def test_a_machine_without_git_is_told_so(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(repository))
    with pytest.raises(SourceError, match="git is not on this machine"):
        _found(repository, **_GIT)
