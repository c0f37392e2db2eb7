"""A night's site: what did not change is the file that was there, and what cannot be trusted is made anew."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from noctule.docsite.build import SiteResult, build_site
from noctule.docsite.content.render import Content, Renderer
from noctule.docsite.incremental.previous import PreviousSite, previous_site
from noctule.docsite.incremental.staging import StagingFolder
from noctule.docsite.library import Entry
from noctule.docsite.outline.plan import SitePage
from noctule.docsite.urls import MARKER, RECORD
from noctule.pipeline.settings.site import Site
from tests.site_builder import TablesInMemory, snapshot_of

NOTES = {
    "index.md": "# Home\n\nSee [bats](bats/index.md) and [[owl]].\n",
    "bats/index.md": "# Bats\n\n## Wings\n\nTwo.\n",
    "owl.md": "# Owl\n\nHoot. #night\n",
    "moth.md": "# Moth\n\nAlone.\n",
    "reader.md": "# Reader\n\n[Wings](bats/index.md#wings)\n\n![[owl]]\n",
}


def _snapshot(**changed: str) -> TablesInMemory:
    return snapshot_of({"notes": NOTES | {f"{name}.md": text for name, text in changed.items()}})


def _files(folder: Path) -> Mapping[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def _names(folder: Path) -> Mapping[str, int]:
    return {str(p.relative_to(folder)): p.stat().st_ino for p in folder.rglob("*") if p.is_file()}


class Nights:
    """A site of ``NOTES``, and builds upon it, each checked against one from nothing."""

    def __init__(self, folder: Path, aside: Path | None) -> None:
        self.site, self.aside, self._fresh = folder / "site", aside, folder / "fresh"
        if aside is not None:
            build_site(_snapshot(owl="# Owl\n\nAsleep.\n", gone="# Gone\n"), self.site, Site())
        build_site(_snapshot(), self.site, Site(), aside=aside)

    def __call__(self, snapshot: TablesInMemory, settings: Site | None = None) -> tuple[set[str], SiteResult]:
        """Which files are new, and the result."""
        before = _names(self.site)
        result = build_site(snapshot, self.site, settings or Site(), aside=self.aside)
        build_site(snapshot, self._fresh, settings or Site(), full=True)
        files = _files(self.site)
        assert files == _files(self._fresh)
        assert (result.files, result.bytes) == (len(files), sum(map(len, files.values())))
        return {name for name, inode in _names(self.site).items() if before.get(name) != inode}, result


@pytest.fixture(params=["", "store/aside"], ids=["alone", "aside"])
def night(tmp_path: Path, request: pytest.FixtureRequest) -> Nights:
    return Nights(tmp_path, tmp_path / request.param if request.param else None)


def _pages(names: set[str]) -> set[str]:
    return {name for name in names if name.endswith((".html", ".md")) and not name.startswith("_")}


def test_a_changed_text_makes_its_page_anew_and_no_other(
    night: Nights,
) -> None:
    new, result = night(_snapshot(moth="# Moth\n\nNot alone.\n"))
    assert _pages(new) == {"moth.html", "moth.md"}
    assert result.written == len(new)


def test_pages_that_show_a_transcluded_text_change_with_it(
    night: Nights,
) -> None:
    new, _ = night(_snapshot(owl="# Owl\n\nHoot, hoot. #night\n"))
    assert _pages(new) == {"owl.html", "owl.md", "reader.html"}


def test_a_heading_that_goes_changes_the_pages_that_link_to_it(
    night: Nights,
) -> None:
    new, _ = night(snapshot_of({"notes": NOTES | {"bats/index.md": "# Bats\n\n## Tails\n\nTwo.\n"}}))
    assert {"bats/index.html", "reader.html"} <= new and "moth.html" not in new


def test_nothing_is_done_where_nothing_changed(night: Nights) -> None:
    site = night.site
    folder = site.stat().st_ino
    new, result = night(_snapshot())
    assert not new and result.written == 0 and site.stat().st_ino == folder
    assert result.pages == 5 and result.index == site / "index.html"


def test_other_settings_make_every_page_anew(night: Nights) -> None:
    new, _ = night(_snapshot(), Site(title="Night"))
    assert {"index.html", "bats/index.html", "owl.html", "moth.html", "reader.html"} <= new


def test_a_file_that_somebody_changed_or_removed_or_added_is_put_right(
    night: Nights,
) -> None:
    site = night.site
    content = (site / "owl.html").read_bytes()
    (site / "owl.html").write_bytes(content.replace(b"Hoot", b"Boot"))
    (site / "moth.html").unlink()
    (site / "moth.html").symlink_to("owl.html")
    (site / "bats/index.md").unlink()
    (site / "notes.txt").write_text("mine")
    os.utime(site / RECORD, ns=(0, (site / RECORD).stat().st_mtime_ns))
    new, _ = night(_snapshot())
    assert _pages(new) == {"owl.html", "moth.html", "bats/index.md"}


@pytest.mark.parametrize("name", [RECORD, ".noctule-site"])
@pytest.mark.parametrize("damage", [b"", b"{}", b"[1]", b"\0" * 100])
def test_a_damaged_record_is_not_trusted(night: Nights, name: str, damage: bytes) -> None:
    site = night.site
    (site / name).write_bytes(damage)
    new, _ = night(_snapshot())
    assert len(new) == len(_names(site))


def _obstacles(aside: Path) -> None:
    """Folders where files are to be, files where folders are, and what nobody wants."""
    (aside / "owl.html").unlink()
    (aside / "owl.html/deep").mkdir(parents=True)
    (aside / "owl.html/deep/x").write_text("x")
    shutil.rmtree(aside / "bats")
    (aside / "bats").write_text("no folder")
    (aside / "moth.html").write_text("another moth")
    (aside / "more/of/it").mkdir(parents=True)
    (aside / "more/stray.txt").write_text("stray")


def _links_out(aside: Path) -> None:
    """A folder that is a link to one of somebody else."""
    shutil.rmtree(aside / "bats")
    mine = aside.parent / "mine"
    mine.mkdir()
    (aside / "bats").symlink_to(mine)


@pytest.mark.parametrize("spoil", [_obstacles, _links_out, shutil.rmtree, lambda aside: None])
def test_whatever_was_set_aside_the_site_is_the_same(tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    aside = tmp_path / "store/aside"
    night = Nights(tmp_path, aside)
    night(_snapshot(moth="# Moth\n\nNot alone.\n"))
    spoil(aside)
    new, _ = night(_snapshot(owl="# Owl\n\nAwake.\n"))
    assert {"owl.html", "moth.html"} <= new and "bats/index.md" not in new
    assert not list(tmp_path.glob("store/mine/*"))
    assert {path.name for path in tmp_path.iterdir()} == {"site", "fresh", "store"}


def test_a_link_that_an_owner_puts_into_the_site_costs_no_page(tmp_path: Path) -> None:
    night, mine = Nights(tmp_path, tmp_path / "store/aside"), tmp_path / "images"
    mine.mkdir()
    (mine / "owl.png").write_bytes(b"png")
    for text in ("One", "Two", "Three"):
        (night.site / "images").symlink_to(mine)
        new, _ = night(_snapshot(moth=f"# Moth\n\n{text}.\n"))
        assert _pages(new) == {"moth.html", "moth.md"}
    assert (mine / "owl.png").is_file()


def test_a_site_that_somebody_still_reads_is_not_made_into_another(tmp_path: Path) -> None:
    night = Nights(tmp_path, tmp_path / "store/aside")
    before = (night.site / "owl.html").read_bytes()
    with previous_site(night.site) as read:
        night(_snapshot(moth="# Moth\n\nNot alone.\n"))
        night(_snapshot(owl="# Owl\n\nAwake.\n"), Site(title="Another"))
        assert read.holds("owl.html", before)
    night(_snapshot())
    assert (night.site / "owl.html").read_bytes() == before


def test_where_case_makes_no_name_the_site_before_last_is_not_begun_with(tmp_path: Path) -> None:
    aside = tmp_path / "store/aside"
    night = Nights(tmp_path, aside)
    shutil.rmtree(aside)
    (night.site / MARKER.upper()).write_text("as such a file system would find it")
    night(_snapshot(moth="# Moth\n\nNot alone.\n"))
    assert not aside.exists()


def test_two_processes_may_fill_a_folder_that_was_a_file(tmp_path: Path) -> None:
    aside, staged, site = tmp_path / "aside", tmp_path / "staged", tmp_path / "site"
    for folder in (aside, staged):
        folder.mkdir()
    (aside / "x.html").write_text("a page once")
    build_site(_snapshot(), site, Site())
    with previous_site(site) as previous:
        here = StagingFolder(staged, previous, aside)
        here.look()
        there = StagingFolder(staged, PreviousSite(), replacing=True)
        there.add(SitePage("x.html/b.html", b"b"))
        here.take(there.filled())
        here.add(SitePage("x.html/a.html", b"a"))
        here.sweep()
        here.close()
    assert _files(staged) == {"x.html/a.html": b"a", "x.html/b.html": b"b"}


def test_what_was_set_aside_is_gone_through_and_not_made_anew(tmp_path: Path) -> None:
    aside = tmp_path / "store/aside"
    night = Nights(tmp_path, aside)
    folders = {path: path.stat().st_ino for path in aside.rglob("*") if path.is_dir()}
    night(_snapshot(owl="# Owl\n\nAwake.\n"))
    kept = {path: (night.site / path.relative_to(aside)).stat().st_ino for path in folders if path != aside}
    assert kept == folders and (aside / "owl.html").is_file()


def test_a_file_system_without_links_gets_copies(night: Nights, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    _, result = night(_snapshot(moth="# Moth\n\nNot alone.\n"))
    assert 0 < result.written < result.files / 2
    assert night.aside is None or not (night.aside / "moth.html").exists(), "copies help nobody later"
    _, again = night(_snapshot(moth="# Moth\n\nNot alone.\n"))
    assert again.written == 0


def test_a_site_that_is_replaced_meanwhile_is_not_taken_over(
    night: Nights, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object, **__: object) -> None:
        raise FileNotFoundError(errno.ENOENT, "No such file or directory")

    monkeypatch.setattr(os, "link", gone)
    _, result = night(_snapshot(moth="# Moth\n\nNot alone.\n"))
    assert result.written == result.files


def test_a_page_among_many_changes_only_what_is_shown_near_it(tmp_path: Path) -> None:
    many = {f"many/page-{number:03}.md": f"# Page {number}\n\nText.\n" for number in range(200)}
    build_site(snapshot_of({"notes": many}), tmp_path / "site", Site())
    before = _names(tmp_path / "site")
    more = many | {"many/page-100a.md": "# Page between\n\nText.\n"}
    build_site(snapshot_of({"notes": more}), tmp_path / "site", Site())
    after = _names(tmp_path / "site")
    new = {
        name for name, inode in after.items() if name.startswith("many/page") and before.get(name) != inode
    }
    assert len([name for name in new if name.endswith(".html")]) < 40
    build_site(snapshot_of({"notes": more}), tmp_path / "fresh", Site())
    assert _files(tmp_path / "site") == _files(tmp_path / "fresh")


@pytest.mark.parametrize(
    "template",
    [
        "{% block footer %}{{ frame.snapshot_id }}{% endblock %}",
        "{% block footer %}{{ frame.nav|length }} {% for item in frame.nav %}{{ item.node.size }}{% endfor "
        "%}{% endblock %}",
        "{% block footer %}{% for item in frame.nav %}{{ item.node.label }}{{ item.after }}{% endfor %}{% "
        "endblock %}",
    ],
)
def test_a_template_of_an_owner_may_show_anything(tmp_path: Path, template: str) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/base.html").write_text('{% extends "theme/base.html" %}' + template)
    settings = Site(templates=str(tmp_path / "mine"))
    build_site(_snapshot(), tmp_path / "site", settings)
    changed = _snapshot(moth="# Moth\n\nNot alone.\n", new="# New\n")
    build_site(changed, tmp_path / "site", settings)
    build_site(changed, tmp_path / "fresh", settings)
    assert _files(tmp_path / "site") == _files(tmp_path / "fresh")


def test_a_new_link_shows_on_the_page_that_it_leads_to(tmp_path: Path) -> None:
    settings = Site(graph=False, related=0)
    build_site(_snapshot(), tmp_path / "site", settings)
    build_site(_snapshot(reader="# Reader\n\n[[moth]]\n"), tmp_path / "site", settings)
    assert "Reader</a>" in (tmp_path / "site/moth.html").read_text().partition("LinkedFrom")[2]


_PAGES = ("index.html", "bats/index.html", "owl.html", "moth.html", "reader.html")


@pytest.fixture
def rendered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The pages whose content is rendered from now on."""
    pages: list[str] = []
    render = Renderer.render

    def seen(self: Renderer, entry: Entry) -> Content:
        pages.append(entry.page)
        return render(self, entry)

    monkeypatch.setattr(Renderer, "render", seen)
    return pages


def test_content_is_taken_from_the_page_before_where_only_what_is_around_it_changed(
    tmp_path: Path, rendered: list[str]
) -> None:
    texts = NOTES | {"untitled.md": "Words without a heading.\n", "plain.txt": "<b>As it is</b>\n"}
    build_site(snapshot_of({"notes": texts}), tmp_path / "site", Site())
    rendered.clear()
    more = texts | {"new.md": "# New\n\nTo [[owl]], [[untitled]] and [[plain]].\n"}
    result = build_site(snapshot_of({"notes": more}), tmp_path / "site", Site())
    assert rendered == ["new.html"] and result.written > 5
    assert "New</a>" in (tmp_path / "site/untitled.html").read_text().partition("LinkedFrom")[2]
    build_site(snapshot_of({"notes": more}), tmp_path / "fresh", Site())
    assert _files(tmp_path / "site") == _files(tmp_path / "fresh")


def test_content_of_a_page_that_somebody_changed_is_rendered_anew(
    tmp_path: Path, rendered: list[str]
) -> None:
    build_site(_snapshot(), tmp_path / "site", Site())
    owl = tmp_path / "site/owl.html"
    owl.write_bytes(owl.read_bytes().replace(b"Hoot", b"Boot"))
    later = (tmp_path / "site" / RECORD).stat().st_mtime_ns + 1_000_000
    os.utime(owl, ns=(later, later))
    rendered.clear()
    build_site(_snapshot(new="# New\n\n[[owl]] [[moth]]\n"), tmp_path / "site", Site())
    assert sorted(rendered) == ["new.html", "owl.html"] and "Hoot" in owl.read_text()


@pytest.mark.parametrize(
    ("main", "anew"),
    [
        ("{{ super() }}", {"moth.html", "new.html"}),
        ("{{ view.content }}{{ view.head }}", {*_PAGES, "new.html"}),
        ("{{ view.content|upper }}", {*_PAGES, "new.html"}),
    ],
)
def test_content_that_an_owners_template_shows_otherwise_is_rendered_anew(
    tmp_path: Path, rendered: list[str], main: str, anew: set[str]
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/page.html").write_text(
        f'{{% extends "theme/page.html" %}}{{% block main %}}{main}{{% endblock %}}'
    )
    settings = Site(templates=str(tmp_path / "mine"))
    build_site(_snapshot(), tmp_path / "site", settings)
    rendered.clear()
    changed = _snapshot(moth="# Moth\n\nNot alone.\n", new="# New\n")
    build_site(changed, tmp_path / "site", settings)
    assert set(rendered) == anew
    build_site(changed, tmp_path / "fresh", settings)
    assert _files(tmp_path / "site") == _files(tmp_path / "fresh")


def test_a_topic_of_another_name_shows_on_its_pages(tmp_path: Path) -> None:
    snapshot = _snapshot()
    build_site(snapshot, tmp_path / "site", Site())
    communities = snapshot.tables["communities"]
    place = communities.schema.get_field_index("label")
    named = communities.set_column(place, "label", [["creatures"] * len(communities)])
    renamed = TablesInMemory("another", {**snapshot.tables, "communities": named})
    build_site(renamed, tmp_path / "site", Site())
    assert "creatures" in (tmp_path / "site/owl.html").read_text()
