"""Versions side by side: each a sound site of its own, listed for menus, with copies under other names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from noctule.docsite.build import build_site
from noctule.docsite.editions.versions import (
    ListedVersion,
    add_version,
    read_versions,
    require_room_for_versions,
    site_of_version,
)
from noctule.docsite.verify import check_site
from noctule.pipeline.errors import SourceError
from noctule.pipeline.settings.site import Site
from tests.site_builder import snapshot_of

BASE = "https://docs.example.org"
NOTES = {"index.md": "# Home\n\nWelcome.\n", "a/b.md": "# B\n\nText.\n"}


def _build(folder: Path, version: str, *aliases: str, notes: dict[str, str] | None = None) -> int:
    settings = site_of_version(Site(version=version, aliases=aliases, base_url=BASE))
    made = build_site(snapshot_of({"notes": notes or NOTES}), folder / version, settings)
    add_version(folder, settings)
    return made.written


def test_versions_are_listed_newest_first_and_lie_side_by_side(tmp_path: Path) -> None:
    for version in ("1.9", "main", "1.10", "1.10rc1"):
        _build(tmp_path, version)
    assert [each.version for each in read_versions(tmp_path)] == ["main", "1.10", "1.10rc1", "1.9"]
    rows = json.loads((tmp_path / "versions.json").read_text())
    assert rows[1] == {"version": "1.10", "title": "1.10", "aliases": []}
    script = (tmp_path / "versions.js").read_text()
    assert json.loads(script.removeprefix("window.noctuleVersions = ").removesuffix(";\n")) == rows
    assert '"1.10": ["404.html", ' in (tmp_path / "pages-1.10.js").read_text()
    assert '"a/b.html"' in (tmp_path / "pages-1.10.js").read_text()
    assert 'url=1.10/index.html"' in (tmp_path / "index.html").read_text()


def test_an_alias_is_a_sound_copy_and_leaves_the_version_that_had_it(tmp_path: Path) -> None:
    _build(tmp_path, "1.0", "latest")
    _build(tmp_path, "1.1", "latest", "stable", notes=NOTES | {"new.md": "# New\n"})
    assert read_versions(tmp_path) == (ListedVersion("1.1", ("latest", "stable")), ListedVersion("1.0"))
    assert (tmp_path / "latest" / "new.html").read_bytes() == (tmp_path / "1.1" / "new.html").read_bytes()
    assert not (tmp_path / "1.0" / "new.html").exists()
    for name in ("1.0", "1.1", "latest", "stable"):
        assert check_site(tmp_path / name).faults == 0
    assert 'url=latest/index.html"' in (tmp_path / "index.html").read_text()


def test_pages_name_the_address_of_the_alias_as_canonical(tmp_path: Path) -> None:
    _build(tmp_path, "1.0", "latest")
    _build(tmp_path, "0.9")
    page = (tmp_path / "1.0" / "a" / "b.html").read_text()
    assert f'<link rel="canonical" href="{BASE}/latest/a/b.html">' in page and 'data-version="1.0"' in page
    assert f"<loc>{BASE}/latest/a/b.html</loc>" in (tmp_path / "1.0" / "sitemap.xml").read_text()
    assert f'href="{BASE}/0.9/a/b.html">' in (tmp_path / "0.9" / "a" / "b.html").read_text()


def test_a_version_is_built_incrementally_and_not_touched_by_another(tmp_path: Path) -> None:
    _build(tmp_path, "1.0", "latest")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "1.0").rglob("*.html")}
    assert _build(tmp_path, "1.1", "latest") > 0
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert _build(tmp_path, "1.0") <= _build(tmp_path, "1.2")
    assert _build(tmp_path, "1.2") == 0


def test_a_removed_version_leaves_the_list(tmp_path: Path) -> None:
    _build(tmp_path, "1.0")
    (tmp_path / "1.0").rename(tmp_path.parent / "gone")
    _build(tmp_path, "1.1")
    assert read_versions(tmp_path) == (ListedVersion("1.1"),)


def test_other_content_is_not_overwritten(tmp_path: Path) -> None:
    build_site(snapshot_of({"notes": NOTES}), tmp_path / "site", Site())
    with pytest.raises(SourceError, match="a site without versions"):
        require_room_for_versions(tmp_path / "site")
    (tmp_path / "all" / "latest").mkdir(parents=True)
    (tmp_path / "all" / "latest" / "mine.txt").write_text("x")
    with pytest.raises(SourceError, match="something other than a site"):
        _build(tmp_path / "all", "1.0", "latest")
    assert (tmp_path / "all" / "latest" / "mine.txt").read_text() == "x"


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".hidden", "versions.json", "index.html", "a b"])
def test_names_that_are_no_folder_of_an_address_are_refused(name: str) -> None:
    with pytest.raises(ValidationError):
        Site(version=name or "-")
    with pytest.raises(ValidationError):
        Site(version="1.0", aliases=(name,))


@pytest.mark.parametrize("content", ["", "{}", "[1]", '[{"version": "../x", "aliases": []}]', "[" * 9000])
def test_a_damaged_list_is_begun_anew(content: str, tmp_path: Path) -> None:
    (tmp_path / "versions.json").write_text(content)
    assert read_versions(tmp_path) == ()
