"""The files of other tools that order pages, with the parts that they name."""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from noctule.docsite.library import Library
from noctule.docsite.outline.contents import contents_of
from noctule.docsite.outline.declared import MAX_PARTS, declared_contents, navigation_files
from noctule.docsite.outline.hierarchy import build_tree
from noctule.docsite.outline.navigation import Node
from noctule.pipeline.errors import SettingsError
from noctule.pipeline.navigation.entry import NavEntry
from noctule.pipeline.settings.site import Site
from tests.site_builder import snapshot_of


def targets(entries: Sequence[NavEntry]) -> list[str]:
    return [name for each in entries for name in (each.target, *targets(each.children)) if name]


def declared(folder: Path, pages: object) -> list[str]:
    (folder / "docs.json").write_text(
        json.dumps({"navigation": {"groups": [{"group": "G", "pages": pages}]}})
    )
    found = declared_contents(Site(navigation={"c": (str(folder / "docs.json"),)}))
    return targets(found["c"].entries)


def test_parts_of_mintlifys_navigation_stand_where_they_are_named(tmp_path: Path) -> None:
    (tmp_path / "part.json").write_text('["b", {"group": "H", "pages": {"$ref": "more.json"}}]')
    (tmp_path / "more.json").write_text('["c"]')
    assert declared(tmp_path, ["a", {"group": "P", "pages": {"$ref": "./part.json"}}]) == ["a", "b", "c"]


@pytest.mark.parametrize("part", ["../secret.json", "gone.json", "broken.json", "/etc/passwd", "a\\0b"])
def test_a_part_that_is_not_there_or_lies_outside_changes_nothing_else(tmp_path: Path, part: str) -> None:
    (tmp_path / "secret.json").write_text('["secret"]')
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/broken.json").write_text("[")
    assert declared(tmp_path / "docs", ["a", {"group": "P", "pages": {"$ref": part}}, "b"]) == ["a", "b"]


def test_parts_that_name_themselves_end(tmp_path: Path) -> None:
    (tmp_path / "loop.json").write_text('["x"' + ', {"group": "L", "pages": {"$ref": "loop.json"}}' * 9 + "]")
    assert len(declared(tmp_path, {"$ref": "loop.json"})) <= MAX_PARTS


def test_scripts_that_settings_import_are_read_in_the_folder_of_the_documents(tmp_path: Path) -> None:
    config = tmp_path / "docs/.vitepress/config"
    config.mkdir(parents=True)
    config.joinpath("index.ts").write_text(
        "\ufeffimport { en } from './en'\nimport out from '../../../out'\nexport default { ...en, x: out }"
    )
    config.joinpath("en.ts").write_text(
        "import items from '../../items'\nexport const en = { themeConfig: { sidebar: items } }"
    )
    (tmp_path / "docs/items.ts").write_text("export default [{ text: 'A', link: '/a' }]")
    (tmp_path / "out.ts").write_text("export default 'SECRET'")
    settings = Site(navigation={"c": (str(config / "index.ts"),)})
    assert targets(declared_contents(settings)["c"].entries) == ["/a"]
    [file] = navigation_files(settings)
    assert b"SECRET" not in file.content and b"'A'" in file.content


def test_a_script_that_is_away_for_a_moment_is_no_empty_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".vitepress").mkdir()
    (config := tmp_path / ".vitepress/config.ts").write_text("import s from '../s'\nexport default s")

    def away(path: Path, most: int, within: Path | None = None) -> bytes:
        if path.name == "s":
            raise OSError(errno.ESTALE, "stale")
        return path.read_bytes()

    monkeypatch.setattr("noctule.pipeline.navigation.script_imports.read_regular", away)
    with pytest.raises(SettingsError, match="stale"):
        [*navigation_files(Site(navigation={"c": (str(config),)}))]


def test_a_folder_that_the_navigation_names_is_as_its_own_summary_says(tmp_path: Path) -> None:
    files = {
        "index.md": "# Home\n",
        "guide/a.md": "# A\n",
        "guide/b.md": "# B\n",
        "guide/deep/d.md": "# D\n",
        "guide/deep/e.md": "# E\n",
        "guide/SUMMARY.md": "* [First](b.md)\n* [Deep](deep/)\n* *.md\n",
        "guide/deep/SUMMARY.md": "- Part\n    - [Last](e.md)\n    - [D](d.md)\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "mkdocs.yml").write_text("nav: [{Guide: guide/}, index.md]")
    named = (str(tmp_path / "mkdocs.yml"), str(tmp_path))
    library = Library(snapshot_of({"c": files}))
    found = contents_of(library, declared_contents(Site(navigation={"c": named})))
    labels = [*shown(build_tree(library.entries, found).roots)]
    assert labels == ["Guide", " First", " Deep", "  Part", "   Last", "   D", " A", "Home"]
    (tmp_path / "SUMMARY.md").write_text("* [Start](index.md)\n* guide/\n")
    declared = declared_contents(Site(navigation={"c": named[1:]}))["c"]
    assert targets(declared.summaries[""]) == ["index.md"] and declared.entries == ()


def test_summaries_that_name_each_others_folders_stand_once(tmp_path: Path) -> None:
    folders = [f"f{at}" for at in range(12)]
    files = {f"{folder}/a.md": f"# {folder}\n" for folder in folders}
    for folder in folders:
        (tmp_path / folder).mkdir()
        others = "".join(f"* [{other}](../{other}/)\n" for other in folders if other != folder)
        (tmp_path / folder / "SUMMARY.md").write_text(f"* [A](a.md)\n{others}")
    (tmp_path / "SUMMARY.md").write_text("* [F](f0/)\n")
    library = Library(snapshot_of({"c": files}))
    found = contents_of(library, declared_contents(Site(navigation={"c": (str(tmp_path),)})))
    labels = [label.strip() for label in shown(build_tree(library.entries, found).roots)]
    assert labels.count("A") == len(folders)


def shown(nodes: Sequence[Node], depth: int = 0) -> Iterator[str]:
    for node in nodes:
        yield " " * depth + node.label
        yield from shown(node.children, depth + 1)
