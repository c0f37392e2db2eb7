"""Which folders of a Docusaurus site become collections: the published version, further documents, a blog."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from noctule.flows.cli.init import import_settings

_PRESET = "module.exports = {title: 'T', presets: [['classic', {docs: %s, blog: {}}]], plugins: [%s]};\n"
_PLUGIN = (
    "['@docusaurus/plugin-content-docs', {id: 'sdk', path: 'kit', routeBasePath: 'sdk',"
    " sidebarPath: require.resolve('./kitbars.js'), exclude: ['drafts/**']}]"
)
_VERSIONS = {
    "versions.json": '["v3.x", "v2.x"]',
    "versioned_docs/version-v3.x/a.md": "# Three\n",
    "versioned_docs/version-v2.x/a.md": "# Two\n",
    "versioned_sidebars/version-v3.x-sidebars.json": '{"s": ["a"]}',
}
_SDK = {"kit/b.md": "# B\n", "kitbars.js": "module.exports = {s: ['b']};\n"}
_DOCS = {"docs/a.md": "# A\n"}


def _imported(folder: Path, config: str, files: dict[str, str]) -> tuple[dict[str, Any], list[str]]:
    for name, text in {"docusaurus.config.js": config, **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    written, found = import_settings(folder, Path())
    return tomllib.loads(written.path.read_text()), found.left


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the settings begin at the folder."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("options", "left_out"),
    [
        ("{path: '../docs'}", ["_*.md", "_*.mdx", "_*/"]),
        ("{path: '../docs', exclude: ['own/**']}", ["own/**"]),
    ],
)
def test_parts_of_pages_are_none_where_the_settings_lie_beside_the_documents(
    tmp_path: Path, options: str, left_out: list[str]
) -> None:
    for name, text in {"website/docusaurus.config.js": _PRESET % (options, ""), "docs/a.md": "# A\n"}.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    written, _ = import_settings(tmp_path, Path("website"))
    (collection,) = tomllib.loads(written.path.read_text())["collections"].values()
    assert (collection["root"], collection["exclude"]) == ("docs", left_out)


@pytest.mark.parametrize(
    ("options", "files", "root"),
    [
        ("{}", _VERSIONS, "versioned_docs/version-v3.x"),
        ("{includeCurrentVersion: false}", _VERSIONS | _DOCS, "versioned_docs/version-v3.x"),
        ("{lastVersion: 'v2.x'}", _VERSIONS, "versioned_docs/version-v2.x"),
        ("{lastVersion: '../../..'}", _VERSIONS, "versioned_docs/version-v3.x"),
        ("{}", _VERSIONS | _DOCS, "docs"),
        ("{}", _DOCS | {"versions.json": "["}, "docs"),
    ],
)
def test_documents_are_of_the_version_that_readers_see(
    tmp_path: Path, options: str, files: dict[str, str], root: str
) -> None:
    """Where the current version is not published, or not there, that is the newest one."""
    given, _ = _imported(tmp_path, _PRESET % (options, ""), files)
    (collection,) = given["collections"].values()
    assert collection["root"] == root
    (order,) = given["site"]["navigation"].values()
    sidebars = "versioned_sidebars/version-v3.x-sidebars.json"
    assert order == ([sidebars, root] if root.endswith("v3.x") else [root])


def test_further_folders_of_documents_are_collections(tmp_path: Path) -> None:
    """Each lies at its own address, in the order of its own sidebars, and sees the site's static files."""
    files = {**_DOCS, **_SDK, "blog/2026-01-02-x.md": "X\n", "static/i.png": "x"}
    given, left = _imported(tmp_path, _PRESET % ("{}", _PLUGIN), files)
    collections = given["collections"]
    assert {name: each["root"] for name, each in collections.items()} == {
        "docs": "docs",
        "blog": "blog",
        "sdk": "kit",
    }
    assert collections["sdk"]["exclude"] == ["drafts/**"]
    assert {each["static_folders"][0] for each in collections.values()} == {"static"}
    assert given["site"]["navigation"] == {"docs": ["docs"], "sdk": ["kitbars.js", "kit"]}
    assert not any("plugin" in each for each in left)


def test_a_site_without_a_folder_docs_begins_with_what_it_has(tmp_path: Path) -> None:
    """A folder that is not there would make every run fail."""
    given, _ = _imported(tmp_path, _PRESET % ("false", _PLUGIN), _SDK)
    assert {name: each["root"] for name, each in given["collections"].items()} == {"sdk": "kit"}
    assert given["site"]["navigation"] == {"sdk": ["kitbars.js", "kit"]}
