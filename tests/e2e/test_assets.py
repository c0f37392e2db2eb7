"""A folder with images becomes a site that shows them, and nothing else of the disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from noctule.artifacts.store.check import check_deep
from noctule.artifacts.store.store import Store
from noctule.docsite.build import SiteResult, build_site
from noctule.docsite.verify import check_site
from noctule.flows.api import build_snapshot
from noctule.flows.incremental.unchanged import find_unchanged
from noctule.flows.report.result import BuildResult
from noctule.flows.run.context import BuildOptions, RunContext
from noctule.pipeline.identity import sha256_hex
from noctule.pipeline.settings import reading
from noctule.pipeline.settings.settings import Settings, Site
from tests.browser_driver import chromium, needs_browser
from tests.pictures import png, svg

PAGE = """# Page

![owl](img/owl.png) ![Owl](img/Owl.png) ![odd](<img/größe 100%.png>) ![plan](img/plan.svg)
[paper](paper.pdf) ![[deep.png|8]]

![gone](img/gone.png) ![big](img/big.png) ![linked](img/linked.png) ![outside](../secret.png)
![script](img/script.svg) ![html](img/html.png)
"""
SHOWN = {
    "img/owl.png": png(4, 3),
    "img/Owl.png": png(5, 3),
    "img/größe 100%.png": png(6, 3),
    "img/plan.svg": svg(7, 3, "<rect width='7' height='3'/>"),
    "paper.pdf": b"%PDF-1.7 owls",
    "a/b/deep.png": png(16, 8),
}
REFUSED = {
    "img/big.png": png(9, 9) + bytes(5_000),
    "img/script.svg": svg(1, 1, "<script>alert(1)</script>"),
    "img/html.png": b"<html><script>alert(1)</script>",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    for name, content in {**SHOWN, **REFUSED, "img/unused.png": png(1, 1)}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    (tmp_path / "secret.png").write_bytes(png(2, 2))
    (folder / "img" / "linked.png").symlink_to(tmp_path / "secret.png")
    (folder / "page.md").write_text(PAGE, "utf-8")
    (folder / "other.md").write_text("# Other\n\nNo image. [page](page.md)\n", "utf-8")
    return folder


def _settings(folder: Path) -> Settings:
    collection = {"root": str(folder), "max_asset_bytes": 4_000}
    small = {"static_encoder": {"phrases": 20, "spans": 20, "passages": 50}, "engine": {"name": "inline"}}
    return reading.parse({"collections": {"notes": collection}, **small}, where="a test")


def _night(folder: Path, options: BuildOptions | None = None) -> tuple[BuildResult, SiteResult]:
    store = Store(folder.parent / "store")
    built = build_snapshot(_settings(folder), store, options=options)
    with store.open() as snapshot:
        check_deep(snapshot.path, snapshot.id)
        return built, build_site(snapshot, folder.parent / "site", Site(search=False))


def _files(folder: Path) -> set[str]:
    return {path.name for path in (folder.parent / "site" / "_files").iterdir()}


def _digests(folder: Path) -> set[str]:
    return {name.split(".")[-2] for name in _files(folder)}


def _expected(contents: dict[str, bytes]) -> set[str]:
    return {sha256_hex(content)[:12] for content in contents.values()}


def test_what_a_folder_names_reaches_the_site_and_nothing_else(folder: Path) -> None:
    built, _ = _night(folder)
    assert _digests(folder) == _expected(SHOWN)
    assert not check_site(folder.parent / "site").faults
    quarantined = {each.path: each.reason for each in built.rejections if each.kind == "quarantined"}
    assert quarantined.keys() == REFUSED.keys()
    page = BeautifulSoup((folder.parent / "site" / "page.html").read_bytes(), "html.parser")
    notes = [note.text for note in page.select(".image-note")]
    assert notes == ["gone", "big", "linked", "outside", "script", "html"]
    with Store(folder.parent / "store").open() as snapshot:
        statuses = snapshot.table("links", ["status"])["status"].to_pylist()
    assert statuses.count("missing-asset") == 6 and statuses.count("asset") == 6


def test_images_are_followed_from_night_to_night(folder: Path) -> None:
    _night(folder)
    run, store = RunContext(_settings(folder), folder.parent / "store"), Store(folder.parent / "store")
    assert find_unchanged(run, store)[1] is not None
    other = (folder.parent / "site" / "other.html").stat().st_ino
    owl = next(name for name in _files(folder) if sha256_hex(SHOWN["img/owl.png"])[:12] in name)
    for changed in (png(4, 4), None):
        before = store.current()
        if changed is None:
            (folder / "img" / "owl.png").unlink()
        else:
            (folder / "img" / "owl.png").write_bytes(changed)
        assert find_unchanged(run, store)[1] is None
        _night(folder)
        assert store.current() != before and owl not in _files(folder)
        expected = SHOWN | {"img/owl.png": changed} if changed else {**SHOWN, "img/owl.png": b""}
        assert _digests(folder) == _expected({n: c for n, c in expected.items() if c})
    assert (folder.parent / "site" / "other.html").stat().st_ino == other


def test_a_run_that_begins_later_has_the_same_images(folder: Path) -> None:
    first, _ = _night(folder)
    again, _ = _night(folder, BuildOptions(start="links"))
    assert again.snapshot == first.snapshot and again.rejections == first.rejections


@needs_browser
def test_a_browser_shows_the_images_from_the_disk(folder: Path, tmp_path: Path) -> None:
    _night(folder)
    with chromium(tmp_path / "profile") as browser:
        browser.get((folder.parent / "site" / "page.html").as_uri())
        shown = browser.execute_async_script(
            "const done = arguments[0], images = [...document.querySelectorAll('article img')];"
            "for (const image of images) image.loading = 'eager';"
            "Promise.all(images.map((image) => image.decode())).then(() =>"
            " done(images.map((image) => [image.naturalWidth, image.width])))"
        )
        assert shown == [[4, 4], [5, 5], [6, 6], [7, 7], [16, 8]]
        assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
