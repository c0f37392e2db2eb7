"""Folders of other tools that mean harm."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest

from noctule.flows.importers.dependencies import snippet_folders
from noctule.flows.importers.imported_settings import settings_text
from noctule.flows.importers.tools import read_tool
from noctule.pipeline.errors import SourceError


def test_settings_nested_without_end_are_one_error(tmp_path: Path) -> None:
    (tmp_path / "conf.py").write_text("project = " + "-" * 100_000 + "1\n")
    with pytest.raises(SourceError, match=r"cannot be read: \w+"):
        read_tool(tmp_path / "conf.py")


@pytest.mark.timeout(20)
def test_a_pipe_among_the_documents_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "mkdocs.yml").write_text("site_name: Notes\n")
    (tmp_path / "docs").mkdir()
    os.mkfifo(tmp_path / "docs" / "pipe.md")
    assert snippet_folders(read_tool(tmp_path / "mkdocs.yml"), tmp_path) == []


@pytest.mark.parametrize("secret", [".git/config", ".private/s.md", ".env"])
def test_what_is_hidden_is_no_folder_of_snippets(secret: str, tmp_path: Path) -> None:
    (tmp_path / "mkdocs.yml").write_text("site_name: Notes\n")
    for path in (tmp_path / "docs/index.md", tmp_path / secret):
        path.parent.mkdir(exist_ok=True)
        path.write_text("{!../.git/config!}\n")
    (tmp_path / "docs/about.md").symlink_to(tmp_path / secret)
    assert snippet_folders(read_tool(tmp_path / "mkdocs.yml"), tmp_path) == []


def test_a_name_with_a_line_break_is_no_table_of_the_settings(tmp_path: Path) -> None:
    folder = tmp_path / "x\n[evil]\n#"
    (folder / "docs").mkdir(parents=True)
    (folder / "mkdocs.yml").write_text('site_name: "A\\n[bad]\\u202e"\n')
    found = read_tool(folder / "mkdocs.yml")
    assert set(tomllib.loads(settings_text(found, "notes", tmp_path, []))) == {"collections", "site"}


def _project(folder: Path, files: dict[str, str]) -> Path:
    """A repository of somebody else's, and beside it what it must not reach."""
    for name, text in files.items():
        (folder / "repo" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "repo" / name).write_text(text)
    for name in ("docs/a.md", "src/a.md", "content/a.md", "vault/a.md", ".git/HEAD"):
        (folder / "repo" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "repo" / name).write_text("# A\n")
    (folder / "secret").mkdir()
    (folder / "secret" / "s.yml").write_text("site_name: SECRET\na: {name: SECRET}\n")
    (folder / "repo" / "link").symlink_to(folder / "secret")
    return folder / "repo"


@pytest.mark.parametrize("place", ["../secret", "link", "{top}/secret", "docs/../../secret", "/"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("mkdocs.yml", 'docs_dir: "{}"'),
        ("book.toml", '[book]\nsrc = "{}"'),
        ("docusaurus.config.js", "module.exports = {{presets: [['x', {{docs: {{path: \"{}\"}}}}]]}}"),
        ("hugo.yaml", 'contentDir: "{}"'),
        ("dendron.yml", 'workspace: {{vaults: [{{fsPath: "{}"}}]}}'),
    ],
)
def test_documents_outside_the_project_are_not_imported(
    name: str, text: str, place: str, tmp_path: Path
) -> None:
    repo = _project(tmp_path, {name: text.format(place.format(top=tmp_path))})
    with pytest.raises(SourceError, match="outside the project"):
        read_tool(repo / name)


def test_what_else_lies_outside_the_project_is_left_and_said(tmp_path: Path) -> None:
    repo = _project(tmp_path, {"docusaurus.config.js": "module.exports = {staticDirectories: ['link']}"})
    for name in ("blog", "sidebars.js"):
        (repo / name).symlink_to(tmp_path / "secret" / ("" if name == "blog" else "s.yml"))
    found = read_tool(repo)
    assert not found.beside and not found.static
    assert {f"{name}: it lies outside of the project" for name in ("link", "blog", "sidebars.js")} <= {
        *found.left
    }
    assert "SECRET" not in settings_text(found, "x", repo, []) and "secret" not in str(found.tables)


@pytest.mark.parametrize("name", ["../secret/s.yml", "s.yml", "{top}/secret/s.yml", "/dev/zero"])
def test_settings_are_inherited_from_no_file_elsewhere(name: str, tmp_path: Path) -> None:
    repo = _project(tmp_path, {"mkdocs.yml": f"INHERIT: {name.format(top=tmp_path)}\n"})
    (repo / "s.yml").symlink_to(tmp_path / "secret" / "s.yml")
    with pytest.raises(SourceError, match="lies outside of"):
        read_tool(repo)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", ["mkdocs.yml", "docs/blog/.authors.yml", "base.yml", "book.toml"])
def test_a_pipe_in_place_of_a_settings_file_is_not_waited_for(name: str, tmp_path: Path) -> None:
    settings = (
        {} if name in ("mkdocs.yml", "book.toml") else {"mkdocs.yml": "plugins: [blog]\nINHERIT: base.yml\n"}
    )
    repo = _project(tmp_path, settings | ({"base.yml": ""} if ".authors" in name else {}))
    (repo / name).parent.mkdir(exist_ok=True)
    os.mkfifo(repo / name)
    if ".authors" in name:  # what is no file is not there
        assert "authors" not in read_tool(repo).tables.get("site", {})
        return
    with pytest.raises(SourceError, match="a pipe or a device"):
        read_tool(repo)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "docusaurus.config.js",
            "module.exports = {title: 'T', presets: f(), plugins: 5, staticDirectories: f()}",
        ),
        (
            "docusaurus.config.js",
            "module.exports = {title: 'T', plugins: [['client-redirects', {redirects: 5}]]}",
        ),
        (".vitepress/config.js", "export default {title: 'T', srcExclude: f()}"),
        ("hugo.yaml", "title: T\n1: 2\nstaticDir: [1, {a: b}]\n"),
        (
            "mkdocs.yml",
            "site_name: T\nplugins: [{1: 2}, {null: c}, x, {2001-01-01: d}]\ntheme: 5\n",
        ),
        ("_config.yml", "title: T\nexclude: [5, '[', [a]]\nbaseurl: [x]\nurl: https://e.org\n"),
    ],
)
def test_values_of_other_kinds_than_expected_are_passed_over(name: str, text: str, tmp_path: Path) -> None:
    repo = _project(tmp_path, {name: text})
    found = read_tool(repo / name)
    assert found.tables["site"]["title"][0] == "T"
    tomllib.loads(settings_text(found, "x", repo, []))


def test_half_a_character_and_long_titles_make_no_settings_that_cannot_be_written(tmp_path: Path) -> None:
    repo = _project(tmp_path, {"conf.py": f"project = '\\ud800'\nhtml_title = {'x' * 5_000!r}\n"})
    found = read_tool(repo)
    assert tomllib.loads(settings_text(found, "x", repo, []).encode().decode())["site"] == {"title": "?"}
    assert "html_title: it is longer than 2,000 characters" in found.left


def test_a_language_is_a_tag_or_left(tmp_path: Path) -> None:
    repo = _project(tmp_path, {"mkdocs.yml": "site_name: T\ntheme: {language: pt_BR}\n"})
    assert read_tool(repo).tables["site"]["language"][0] == "pt-BR"
    (repo / "mkdocs.yml").write_text(f"site_name: T\ntheme: {{language: {'x' * 300}}}\n")
    found = read_tool(repo)
    assert "language" not in found.tables["site"] and "is not a language" in "; ".join(found.left)


@pytest.mark.timeout(20)
def test_constants_that_double_each_other_cost_nothing(tmp_path: Path) -> None:
    chain = "".join(f"const a{at} = [a{at + 1}, a{at + 1}];" for at in range(50))
    text = f"{chain}const a50 = 'x'; module.exports = {{title: a0, plugins: a0, staticDirectories: a0}}"
    assert read_tool(_project(tmp_path, {"docusaurus.config.js": text})).tool == "Docusaurus"
