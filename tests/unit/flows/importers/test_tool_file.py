"""The project that a folder's settings may lead into."""

from __future__ import annotations

from pathlib import Path

import pytest

from noctule.flows.importers.tool_file import project_of


@pytest.fixture
def docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    (tmp_path / "lib/doc/en").mkdir(parents=True)
    return tmp_path / "lib/doc/en"


def test_it_is_the_nearest_folder_with_the_file_of_a_project(docs: Path) -> None:
    assert project_of(docs) == docs
    (docs.parents[1] / "pyproject.toml").write_text("")
    assert project_of(docs) == docs.parents[1]
    (docs / "package.json").write_text("{}")
    assert project_of(docs) == docs


def test_a_folder_of_documents_that_is_a_package_belongs_to_the_project_above_it(docs: Path) -> None:
    (docs.parent / "package.json").write_text("{}")
    assert project_of(docs) == docs.parent
    (docs.parents[1] / "pyproject.toml").write_text("")
    assert project_of(docs) == docs.parents[1]
    (docs.parents[2] / "pyproject.toml").write_text("")
    assert project_of(docs) == docs.parents[1]


def test_neither_the_root_nor_a_home_folder_by_another_name_is_above_documents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home" / "docs").mkdir(parents=True)
    for folder in ("home", "home/docs"):
        (tmp_path / folder / "package.json").write_text("{}")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert project_of(tmp_path / "home" / "docs") == tmp_path / "home"
    (tmp_path / "link").symlink_to(tmp_path / "home")
    monkeypatch.setenv("HOME", str(tmp_path / "link"))
    assert project_of(tmp_path / "home" / "docs") == tmp_path / "home" / "docs"
    monkeypatch.setattr("noctule.flows.importers.tool_file._is_project", lambda _: True)
    assert project_of(Path("/docs/mkdocs.yml")) == Path("/docs")


def test_a_home_folder_is_none(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (docs.parents[1] / "setup.py").write_text("")
    monkeypatch.setenv("HOME", str(docs.parents[1]))
    assert project_of(docs) == docs


def test_the_repository_around_it_comes_first_then_the_working_directory(
    docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (docs / "pyproject.toml").write_text("")
    monkeypatch.chdir(docs.parents[2])
    assert project_of(docs) == docs.parents[2]
    (docs.parents[1] / ".git").mkdir()
    assert project_of(docs) == docs.parents[1]
