"""The files of other tools that order pages, with the parts that they name."""

from __future__ import annotations

import errno
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from noctule.docsite.outline.declared import MAX_PARTS, declared_contents, navigation_files
from noctule.pipeline.errors import SettingsError
from noctule.pipeline.navigation.entry import NavEntry
from noctule.pipeline.settings.site import Site


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
