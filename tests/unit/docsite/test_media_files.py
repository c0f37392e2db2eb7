"""Files that documents name: once each, named after their content, and kept while it stays the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from noctule.artifacts.tables.schemas import ASSETS
from noctule.docsite.build import build_site
from noctule.docsite.urls import file_path
from noctule.docsite.verify import check_site
from noctule.pipeline.errors import DamagedSnapshot
from noctule.pipeline.identity import sha256_hex
from noctule.pipeline.settings.settings import Site
from tests.pictures import png, svg
from tests.site_builder import TablesInMemory, snapshot_of

TEXTS = {
    "a.md": "# A\n\n![owl](owl.png) [[b]]\n",
    "b.md": "# B\n\n![bat](bat.png)\n",
    "c.md": "# C\n\n![owl](Owl.png)\n",
}


def _snapshot(**contents: bytes) -> TablesInMemory:
    files = {"owl.png": png(4, 3), "Owl.png": png(4, 3, 5), "bat.png": png(2, 2), "unused.png": png(1, 1)}
    return snapshot_of({"notes": TEXTS}, {**files, **{f"{k}.png": v for k, v in contents.items()}})


def _names(site: Path) -> set[str]:
    return {path.name for path in (site / "_files").iterdir()}


def test_each_named_file_is_there_and_no_other(tmp_path: Path) -> None:
    build_site(_snapshot(), tmp_path / "site", Site())
    hashes = {name: sha256_hex(content)[:12] for name, content in (
        ("owl", png(4, 3)), ("Owl", png(4, 3, 5)), ("bat", png(2, 2)))}  # fmt: skip
    assert _names(tmp_path / "site") == {f"{name.lower()}.{found}.png" for name, found in hashes.items()}
    assert (tmp_path / "site" / "_files" / f"bat.{hashes['bat']}.png").read_bytes() == png(2, 2)
    assert not check_site(tmp_path / "site").faults


def test_a_replaced_image_has_a_new_name_and_changes_only_its_page(tmp_path: Path) -> None:
    site = tmp_path / "site"
    build_site(_snapshot(), site, Site(search=False))
    before = {path: path.stat().st_ino for path in site.glob("*.html")}
    old = _names(site)
    result = build_site(_snapshot(bat=png(8, 8)), site, Site(search=False))
    assert len(_names(site) - old) == 1 and len(old - _names(site)) == 1
    changed = {path.name for path in before if path.stat().st_ino != before[path]}
    assert changed == {"b.html"}
    assert 'width="8"' in (site / "b.html").read_text()
    assert result.written < 10


def test_an_image_that_goes_or_comes_changes_its_page(tmp_path: Path) -> None:
    site, snapshot = tmp_path / "site", _snapshot()
    gone = snapshot_of({"notes": TEXTS}, {"owl.png": png(4, 3), "Owl.png": png(4, 3, 5)})
    build_site(snapshot, site, Site())
    build_site(gone, site, Site())
    assert "image-note" in (site / "b.html").read_text() and len(_names(site)) == 2
    build_site(snapshot, site, Site())
    assert "image-note" not in (site / "b.html").read_text() and len(_names(site)) == 3


def test_unchanged_files_are_kept_and_not_read(tmp_path: Path) -> None:
    site, snapshot = tmp_path / "site", _snapshot()
    build_site(snapshot, site, Site())

    class _Unread(TablesInMemory):
        def open_tables(self, name: str) -> object:  # type: ignore[override]
            raise AssertionError(f"{name} was read")

    texts = {**TEXTS, "d.md": "# D\n"}
    more = snapshot_of(
        {"notes": texts}, {"owl.png": png(4, 3), "Owl.png": png(4, 3, 5), "bat.png": png(2, 2)}
    )
    inodes = {path: path.stat().st_ino for path in (site / "_files").iterdir()}
    build_site(_Unread(more.id, more.tables), site, Site())
    assert {path: path.stat().st_ino for path in (site / "_files").iterdir()} == inodes


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("content", svg(1, 1, "<script>alert(1)</script>")),
        ("content", b"<html><script>alert(1)</script>"),
        ("content", png(9, 9)),
        ("media_type", "image/svg+xml"),
        ("media_type", "application/pdf"),
    ],
)
def test_a_forged_file_reaches_no_site(tmp_path: Path, column: str, value: object) -> None:
    snapshot = _snapshot()
    table = snapshot.tables["assets"]
    at = ASSETS.get_field_index(column)
    values = [value, *table[column].to_pylist()[1:]]
    forged = table.set_column(at, ASSETS.field(column), pa.array(values, ASSETS.field(column).type))
    with pytest.raises(DamagedSnapshot):
        build_site(replace(snapshot, tables={**snapshot.tables, "assets": forged}), tmp_path / "site", Site())
    assert not (tmp_path / "site").exists()


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("img/Owl & bat 100%.PNG", "_files/owl-bat-100.0123456789ab.png"),
        ("größe.png", "_files/grösse.0123456789ab.png"),
        ("../..", "_files/file.0123456789ab.png"),
        (".png", "_files/png.0123456789ab.png"),
        ("x" * 300 + ".png", "_files/" + "x" * 80 + ".0123456789ab.png"),
    ],
)
def test_a_file_s_name_is_plain(path: str, name: str) -> None:
    assert file_path(path, "0123456789abcdef", "png") == name
