"""Documents that give themselves no title have the one that the navigation gives them."""

from __future__ import annotations

from pathlib import Path

import pytest

from noctule.flows.sources.page_titles import title_in_collection
from noctule.flows.stages.sources import list_sources
from noctule.pipeline.includes.source import read_source
from noctule.pipeline.model import Source
from noctule.pipeline.parse import parse
from noctule.pipeline.settings.collection import Collection
from noctule.pipeline.settings.reading import parse as read_settings
from noctule.pipeline.settings.settings import Settings

MKDOCS = """
nav:
  - Home: index.md
  - Guide:
      - All of it: guide/index.md
      - Signing in: guide/auth.md
      - Again: guide/auth.md
      - Elsewhere: https://example.org/own.md
      - Own: own.md
  - Releases: log.md
"""


def folder(tmp_path: Path, named: str = "mkdocs.yml") -> Settings:
    (tmp_path / "docs" / "guide").mkdir(parents=True)
    (tmp_path / "mkdocs.yml").write_text(MKDOCS)
    for path in ("index.md", "guide/index.md", "guide/auth.md", "other.md"):
        (tmp_path / "docs" / path).write_text("Text without a heading.\n\n## Part\n")
    (tmp_path / "docs" / "log.md").write_text("## 1.1\n\n## 1.0\n")
    (tmp_path / "docs" / "own.md").write_text("# Its own title\n")
    given = {
        "collections": {"c": {"root": str(tmp_path / "docs")}},
        "site": {"navigation": {"c": [str(tmp_path / named)]}},
    }
    return read_settings(given, where="test")


def test_a_document_without_a_title_has_that_of_the_navigation(tmp_path: Path) -> None:
    settings = folder(tmp_path)
    collection = settings.collections["c"]
    files = list_sources(settings, rules=()).files
    titles = {file.path: parse(read_source(file, collection), collection).title for file in files}
    assert titles == {
        "index.md": "Home",
        "guide/index.md": "All of it",
        "guide/auth.md": "Signing in",
        "other.md": "other",
        "log.md": "Releases",
        "own.md": "Its own title",
    }


def test_front_matter_comes_first(tmp_path: Path) -> None:
    settings = folder(tmp_path)
    (tmp_path / "docs" / "guide" / "auth.md").write_text("---\ntitle: Own\n---\nText\n")
    collection = settings.collections["c"]
    file = next(each for each in list_sources(settings, rules=()).files if each.path == "guide/auth.md")
    assert file.title == "Signing in"
    assert parse(read_source(file, collection), collection).title == "Own"


def test_folders_that_order_their_pages_name_them_too(tmp_path: Path) -> None:
    settings = folder(tmp_path, "docs")
    (tmp_path / "docs" / "guide" / ".pages").write_text("nav:\n  - Entering: auth.md\n")
    assert title_in_collection("c", "guide/auth.md", settings) == "Entering"


def test_targets_without_an_ending_name_their_pages(tmp_path: Path) -> None:
    settings = folder(tmp_path, "docs/.vitepress/config.js")
    (tmp_path / "docs" / ".vitepress").mkdir()
    links = "{text: 'Start', link: '/'}, {text: 'The next', link: '/log/v1.2'}"
    config = f"export default {{themeConfig: {{sidebar: [{links}]}}}}"
    (tmp_path / "docs" / ".vitepress" / "config.js").write_text(config)
    paths = ("index.md", "log/v1.2.md", "log/v1.md")
    assert [title_in_collection("c", path, settings) for path in paths] == ["Start", "The next", ""]


@pytest.mark.parametrize("collection", ["c", "other"])
def test_navigation_that_cannot_be_read_gives_no_titles(
    tmp_path: Path, collection: str, caplog: pytest.LogCaptureFixture
) -> None:
    settings = folder(tmp_path)
    (tmp_path / "mkdocs.yml").unlink()
    assert title_in_collection(collection, "index.md", settings) == ""
    assert ("titles from the navigation are left out" in caplog.text) is (collection == "c")


@pytest.mark.parametrize(
    ("name", "text", "title"),
    [
        ("a.html", "<title>Own</title><h2>Own</h2><p>Text</p>", "Own"),
        ("a.html", "<p>Text</p>", "The get method"),
        ("a.md", "## Part\n", "The get method"),
    ],
)
def test_a_title_of_html_stays_and_one_of_the_navigation_is_plain(name: str, text: str, title: str) -> None:
    source = Source("c", name, text.encode(), "0" * 64, title="The `get` method")
    assert parse(source, Collection(root="docs")).title == title


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Tasks\n\nOne.\n\n# Log\n\nTwo.\n", "2024-05-01"),
        ("## Morning\n\nOne.\n\n# Log\n\nTwo.\n", "2024-05-01"),
        ("## Morning\n\nOne.\n", "2024-05-01"),
        ("# A day in May\n\n## Morning\n\nOne.\n", "A day in May"),
        ("---\ntitle: Own\n---\n# Tasks\n\n# Log\n", "Own"),
    ],
)
@pytest.mark.parametrize("is_vault", [True, False])
def test_a_note_of_a_vault_has_its_files_name_where_headings_are_parts(
    tmp_path: Path, text: str, title: str, is_vault: bool
) -> None:
    (tmp_path / "vault" / "daily").mkdir(parents=True)
    (tmp_path / "vault" / "daily" / "2024-05-01.md").write_text(text)
    if is_vault:
        (tmp_path / "vault" / ".obsidian").mkdir()
    settings = read_settings({"collections": {"c": {"root": str(tmp_path / "vault")}}}, where="test")
    (file,) = list_sources(settings, rules=()).files
    found = parse(read_source(file, settings.collections["c"]), settings.collections["c"]).title
    assert (found == title) is (is_vault or title != "2024-05-01")
    assert title_in_collection("c", file.path, settings) == ("2024-05-01" if is_vault else "")


def test_the_index_of_a_vaults_folder_is_called_like_the_folder(tmp_path: Path) -> None:
    (tmp_path / ".obsidian").mkdir()
    settings = read_settings({"collections": {"c": {"root": str(tmp_path)}}}, where="test")
    assert title_in_collection("c", "recipes/Index.md", settings) == ""
