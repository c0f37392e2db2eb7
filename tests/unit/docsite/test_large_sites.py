"""What grows with the number of pages is divided: the list of all pages, the sitemap, the navigation."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from bs4 import BeautifulSoup

from noctule.docsite.build import build_site
from noctule.docsite.library import Library
from noctule.docsite.outline import all_pages as dividing
from noctule.docsite.outline.all_pages import all_pages
from noctule.docsite.outline.hierarchy import build_tree
from noctule.docsite.pages import sitemap
from noctule.pipeline.settings.site import Site
from tests.site_builder import snapshot_of

TEXTS = {f"big/p{i:03}.md": f"# P{i}\n\n[x](p000.md)\n" for i in range(70)}
TEXTS |= {f"big/deep/d{i}.md": f"# D{i}\n" for i in range(12)}
TEXTS |= {f"small{i}/a.md": f"# S{i}\n" for i in range(5)} | {
    "index.md": "# Home\n",
    "big/index.md": "# Big\n",
}


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dividing, "NODES_PER_PAGE", 20)
    monkeypatch.setattr(sitemap, "ADDRESSES_PER_FILE", 30)


@pytest.mark.usefixtures("small_pages")
def test_every_node_of_a_large_tree_is_on_one_page_of_bounded_length() -> None:
    tree = build_tree(Library(snapshot_of({"notes": TEXTS})).entries)
    listing = all_pages(tree)
    assert all(0 < part.size <= 20 for part in listing.parts)
    shown = [node.page for part in listing.parts for root in part.nodes for node in _all(root) if node.page]
    assert sorted([*shown, "big/index.html"]) == sorted(tree.order)
    assert listing.page_of["big"] == "_pages/index.html"


def _all(node):  # type: ignore[no-untyped-def]
    yield node
    for child in node.children:
        yield from _all(child)


@pytest.mark.usefixtures("small_pages")
def test_on_a_large_site_every_address_still_leads_to_a_file_and_an_anchor(tmp_path: Path) -> None:
    build_site(snapshot_of({"notes": TEXTS}), tmp_path / "site", Site(related=1))
    pages = {p: BeautifulSoup(p.read_bytes(), "html.parser") for p in (tmp_path / "site").rglob("*.html")}
    assert len([page for page in pages if page.name.startswith("part-")]) > 4
    for page, soup in pages.items():
        for element in soup.select("[href]"):
            path, _, fragment = str(element["href"]).partition("#")
            if path.startswith("data:"):
                continue
            target = Path(os.path.normpath(page.parent / unquote(path))) if path else page
            assert target.is_file(), (page, element)
            assert not fragment or pages[target].find(id=unquote(fragment)), (page, element)


@pytest.mark.usefixtures("small_pages")
def test_a_sitemap_too_long_for_one_file_has_an_index(tmp_path: Path) -> None:
    build_site(snapshot_of({"notes": TEXTS}), tmp_path / "site", Site(base_url="https://example.org"))
    name = "{http://www.sitemaps.org/schemas/sitemap/0.9}loc"
    files = [e.text or "" for e in ElementTree.parse(tmp_path / "site/sitemap.xml").iter(name)]
    assert files == [f"https://example.org/sitemap-{n}.xml" for n in (1, 2, 3)]
    found = [
        e.text for n in (1, 2, 3) for e in ElementTree.parse(tmp_path / f"site/sitemap-{n}.xml").iter(name)
    ]
    assert len(found) == len(set(found)) == len(TEXTS)


def test_a_small_tree_is_one_page() -> None:
    listing = all_pages(build_tree(Library(snapshot_of({"notes": TEXTS})).entries))
    assert not listing.parts and set(listing.page_of.values()) == {"_pages/index.html"}
