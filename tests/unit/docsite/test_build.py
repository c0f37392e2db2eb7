"""Building a whole site: the same bytes, at once or not at all, and nothing else replaced."""

from __future__ import annotations

import os
from collections.abc import Mapping
from html import unescape
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import pyarrow as pa
import pytest
from bs4 import BeautifulSoup

from noctule.docsite.build import MARKER, build_site
from noctule.docsite.incremental import staging
from noctule.pipeline.errors import SettingsError, SourceError, WriteFailed
from noctule.pipeline.settings.search import Search
from noctule.pipeline.settings.settings import Site
from tests.site_builder import TablesInMemory, snapshot_of

NOTES = {
    "index.md": "# Home\n\nSee [bats](bats/index.md), [[owl]] and [gone](gone.md).\n",
    "bats/index.md": "---\ntitle: Bats\ntags: [night, mammal]\nupdated: 2026-01-02\n---\n"
        "Bats. [Home](../index.md)\n\n## Wings\n\nTwo.\n\n## Ears\n\nTwo.\n",
    "bats/Fruit bat & friends #1?.md": "---\ntags: [night]\n---\n# Fruit bat\n\n"
        "[Ears](index.md#ears) ![[owl]]\n",
    "owl.md": "# Owl\n\nHoot.[^1] [[index]] #night\n\n```python\nimport owl\n```\n\n[^1]: At night.\n",
    "table.html": "<html><title>Table</title><main><h1 id='t'>Table</h1><a href='#t'>t</a> <a "
        "href='owl.md'>o</a></main></html>",
    "plain.txt": "Only text.",
    "names.md": "# Names\n\n## Content\n\na\n\n## Related pages\n\nb\n\n## Site nav\n\nc\n\n## SiteNav\n\n"
        "d\n\n## Linked from\n\n[x](owl.md)\n",
    "404.md": "# Four\n",
}  # fmt: skip


def _files(folder: Path) -> Mapping[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_the_same_snapshot_gives_the_same_bytes_in_whatever_order_its_rows_are(tmp_path: Path) -> None:
    snapshot = snapshot_of({"notes": NOTES})
    shuffled = {
        name: table.take(pa.array(reversed(range(len(table))), pa.int64()))
        for name, table in snapshot.tables.items()
    }
    first = build_site(snapshot, tmp_path / "a", Site())
    second = build_site(TablesInMemory(snapshot.id, shuffled), tmp_path / "deep" / "b", Site())
    assert _files(tmp_path / "a") == _files(tmp_path / "deep" / "b")
    files = _files(tmp_path / "a")
    assert (first.pages, first.files, first.bytes) == (7, len(files), sum(map(len, files.values())))
    assert first.index == tmp_path / "a" / "index.html"
    assert (second.pages, second.bytes) == (first.pages, first.bytes)


@pytest.mark.parametrize("collections", [{"notes": NOTES}, {"notes": NOTES, "more": {"a.md": "# A\n"}}])
def test_every_address_on_every_page_leads_to_a_file_and_an_anchor(
    tmp_path: Path, collections: Mapping[str, Mapping[str, str]]
) -> None:
    build_site(snapshot_of(collections), tmp_path / "site", Site())
    pages = {p: BeautifulSoup(p.read_bytes(), "html.parser") for p in (tmp_path / "site").rglob("*.html")}
    checked = 0
    for page, soup in pages.items():
        names = [e["id"] for e in soup.find_all(id=True)]
        assert len(names) == len(set(names)), page
        for address in [e.get("href") or e.get("src") for e in soup.select("[href], [src]")]:
            path, _, fragment = address.partition("#")
            if ":" in path:
                assert path == "data:,"
                continue
            target = Path(os.path.normpath(page.parent / unquote(path))) if path else page
            assert target.is_file(), (page, address)
            assert not fragment or pages[target].find(id=unquote(fragment)), (page, address)
            checked += 1
    assert checked > 200


def test_a_page_shows_where_it_is_and_what_is_around_it(tmp_path: Path) -> None:
    build_site(snapshot_of({"notes": NOTES}), tmp_path / "site", Site(title="Night", related=2))
    soup = BeautifulSoup((tmp_path / "site/bats/index.html").read_bytes(), "html.parser")
    assert soup.title is not None and soup.title.text == "Bats · Night"
    assert [a.text for a in soup.select(".breadcrumbs a")] == ["Night"]
    assert [a.text for a in soup.select(".toc a")] == ["Wings", "Ears"]
    assert [a.text.strip() for a in soup.select(".page-footer .tag")] == ["night", "mammal"]
    assert [t["datetime"] for t in soup.find_all("time")] == ["2026-01-02"]
    assert [a.text for a in soup.select("[aria-labelledby=LinkedFrom] a")] == ["Fruit bat", "Home"]
    assert len(soup.select("[aria-labelledby=RelatedPages] a")) == 2
    assert [a["rel"] for a in soup.select(".previous-next a")] == [["prev"], ["next"]]
    assert [a["href"] for a in soup.select("[aria-current=page]")] == ["index.html"]


def test_several_collections_lie_below_their_names_with_an_overview_above(tmp_path: Path) -> None:
    build_site(snapshot_of({"notes": NOTES, "books": {"b/c.md": "# C\n"}}), tmp_path / "site", Site())
    home = BeautifulSoup((tmp_path / "site/index.html").read_bytes(), "html.parser")
    cards = [a["href"] for a in home.select(".overview-section h2 a")]
    assert cards == ["books/index.html", "notes/index.html"]
    assert (tmp_path / "site/books/index.html").is_file()
    assert "Home" in (tmp_path / "site/notes/index.html").read_text()


def test_the_sitemap_is_absolute_where_the_base_is_known(tmp_path: Path) -> None:
    def locations(settings: Site) -> list[str]:
        build_site(snapshot_of({"notes": NOTES}), tmp_path / "site", settings)
        tree = ElementTree.parse(tmp_path / "site/sitemap.xml")
        return [e.text or "" for e in tree.iter("{http://www.sitemaps.org/schemas/sitemap/0.9}loc")]

    assert "bats/Fruit%20bat%20%26%20friends%20%231%3F.html" in locations(Site())
    absolute = locations(Site(base_url="https://example.org/docs/"))
    assert len(absolute) == 7 and all(u.startswith("https://example.org/docs/") for u in absolute)
    missing = (tmp_path / "site/404.html").read_text()
    assert 'href="/docs/_assets/style.css"' in missing and 'href="/docs/index.html"' in missing


def test_the_404_page_without_a_base_needs_no_other_file(tmp_path: Path) -> None:
    build_site(snapshot_of({"notes": NOTES}), tmp_path / "site", Site())
    soup = BeautifulSoup((tmp_path / "site/404.html").read_bytes(), "html.parser")
    assert [e["href"] for e in soup.select("[href]")] == ["data:,", "#four"] and not soup.select("[src]")


def test_a_rebuilt_site_replaces_the_old_one_whole(tmp_path: Path) -> None:
    build_site(snapshot_of({"notes": NOTES}), tmp_path / "site", Site())
    build_site(snapshot_of({"notes": {"new.md": "# New\n"}}), tmp_path / "site", Site())
    assert (tmp_path / "site/new.html").is_file() and not (tmp_path / "site/owl.html").exists()
    assert [p.name for p in tmp_path.iterdir()] == ["site"]


def test_a_folder_that_is_no_site_is_refused_and_left_alone(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    with pytest.raises(SourceError) as caught:
        build_site(snapshot_of({"notes": NOTES}), mine, Site())
    assert caught.value.where == str(mine) and MARKER in caught.value.hint
    assert _files(tmp_path) == {"mine/thesis.txt": b"years of work"}
    with pytest.raises(SourceError):
        build_site(snapshot_of({"notes": NOTES}), mine / "thesis.txt", Site())


def test_a_site_keeps_below_the_files_that_its_host_takes_or_says_why_not(tmp_path: Path) -> None:
    notes = {f"n{at}.md": f"# Note {at}\n\nA note on the number {at}.\n" for at in range(12)}
    snapshot, out = snapshot_of({"notes": notes}), tmp_path / "site"
    usual = build_site(snapshot, out, Site(), Search()).files
    assert build_site(snapshot, out, Site(max_files=usual), Search()).files == usual
    fewer = build_site(snapshot, out, Site(max_files=usual - 5), Search()).files
    assert fewer <= usual - 5 and fewer == sum(path.is_file() for path in out.rglob("*"))
    with pytest.raises(SettingsError, match="files more than max_files = 20 allows") as refused:
        build_site(snapshot, out, Site(max_files=20), Search())
    assert "markdown = false leaves out" in refused.value.hint
    with pytest.raises(SettingsError, match="max_files = 20"):
        build_site(snapshot, out, Site(max_files=20), None)
    assert fewer == sum(path.is_file() for path in out.rglob("*"))


def test_an_empty_folder_becomes_a_site(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    assert build_site(snapshot_of({"notes": NOTES}), tmp_path / "site", Site()).index.is_file()


def test_a_build_that_fails_leaves_the_old_site_and_no_litter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_site(snapshot_of({"notes": NOTES}), tmp_path / "site", Site())
    before = _files(tmp_path)

    def with_obstacle(target: Path, served: Path | None = None) -> Path:
        staged = original(target, served)
        (staged / "owl.html").mkdir()
        return staged

    original = staging.new_stage
    monkeypatch.setattr(staging, "new_stage", with_obstacle)
    with pytest.raises(WriteFailed) as caught:
        build_site(snapshot_of({"notes": NOTES | {"new.md": "# New\n"}}), tmp_path / "site", Site())
    assert Path(caught.value.where).name == "owl.html"
    assert Path(caught.value.where).parent.name.startswith(f".site-staging-{os.getpid()}-")
    assert _files(tmp_path) == before


def test_staging_of_a_build_that_died_is_swept(tmp_path: Path) -> None:
    dead = tmp_path / ".site-staging-999999999-1"
    dead.mkdir()
    (dead / "index.html").write_text("half")
    alive = tmp_path / f".site-staging-{os.getppid()}-7"
    alive.mkdir()
    build_site(snapshot_of({"notes": NOTES}), tmp_path / "site", Site())
    assert not dead.exists() and alive.exists()


def test_a_snapshot_without_documents_is_a_site_with_an_overview(tmp_path: Path) -> None:
    result = build_site(snapshot_of({"notes": {}}), tmp_path / "site", Site(title="Nothing yet"))
    assert result.pages == 0 and "Nothing yet" in result.index.read_text()


def test_text_in_other_scripts_is_kept(tmp_path: Path) -> None:
    texts = {
        "日本語/ノート.md": "# ノート\n\n## 見出し\n\n[ここ](#見出し) #タグ\n",
        "ab\u05d0.md": "# \u05d0\n",
    }
    build_site(snapshot_of({"notes": texts}), tmp_path / "site", Site())
    soup = BeautifulSoup((tmp_path / "site/日本語/ノート.html").read_bytes(), "html.parser")
    link = soup.select_one("article p a")
    assert link is not None and unquote(unescape(link["href"])) == "#見出し" and soup.find(id="見出し")
    assert (tmp_path / "site/_tags/タグ.html").is_file()


def test_null_columns_are_no_obstacle(tmp_path: Path) -> None:
    snapshot = snapshot_of({"notes": NOTES})
    documents = snapshot.tables["documents"]
    for name in (
        "description",
        "tags",
        "language",
        "modified",
        "community",
        "links_in",
        "front_matter",
        "html",
    ):
        place = documents.schema.get_field_index(name)
        field = documents.schema.field(name)
        documents = documents.set_column(place, field, pa.nulls(len(documents), field.type))
    tables = {**snapshot.tables, "documents": documents}
    assert build_site(TablesInMemory("x", tables), tmp_path / "site", Site()).pages == 7
