"""Pages as folders: addresses without the names of files, on every page and in every list."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
from bs4 import BeautifulSoup

from noctule.docsite.build import build_site
from noctule.pipeline.settings.site import Site
from tests.site_builder import snapshot_of

TEXTS = {
    "index.md": "# Home\n\n[A](guide/a.md) and [b](b.md#part)\n",
    "guide/a.md": "---\ntags: [owl]\nmodified: 2024-01-02\n---\n# A\n\n[Home](../index.md)\n",
    "b.md": "# B\n\n## Part\n\n[A](guide/a.md) #owl\n",
    "b/index.md": "# Other b\n\nx\n",
    "vault/root.md": "# Root\n",
    "vault/one.md": "# One\n",
    "vault/one.two.md": "# Two\n",
}
BASE = "https://owl.example.org/docs"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("clean") / "site"
    build_site(snapshot_of({"docs": TEXTS}), out, Site(clean_urls=True, base_url=BASE))
    return out


def test_pages_are_folders_and_their_files_lead_there(site: Path) -> None:
    assert (site / "guide/a/index.html").is_file() and (site / "guide/a/index.md").is_file()
    assert 'content="0; url=a/index.html"' in (site / "guide/a.html").read_text()
    assert "/docs/guide/a.html /docs/guide/a/ 301" in (site / "_redirects").read_text()
    assert "<h1" in (site / "b.html").read_text()  # the folder is another page's


def test_every_link_leads_to_a_file_when_a_server_completes_it(site: Path) -> None:
    checked = 0
    for path in set(site.rglob("*.html")) - {site / "404.html"}:
        here = f"http://x/{path.relative_to(site).as_posix()}"
        for link in BeautifulSoup(path.read_text(), "html.parser").select("a[href], link[href]"):
            target = urlsplit(urljoin(here, str(link["href"])))
            if target.netloc == "x":
                file = site / target.path.lstrip("/")
                assert (file / "index.html" if target.path.endswith("/") else file).is_file(), (here, link)
                checked += 1
    assert checked > 100


def test_no_address_names_the_file_of_a_page(site: Path) -> None:
    named = re.compile(r"(?<![\w/])(?:\.\./)*(?:guide|vault)/[\w./]*index\.html")
    for name in ("index.html", "guide/a/index.html", "sitemap.xml", "feed.xml", "_tags/owl.html"):
        assert not named.search((site / name).read_text()), name
    page = BeautifulSoup((site / "guide/a/index.html").read_text(), "html.parser")
    (canonical,) = page.select("link[rel=canonical]")
    assert canonical["href"] == f"{BASE}/guide/a/" and page.html is not None
    assert "data-folders" in page.html.attrs
    assert f"<loc>{BASE}/guide/a/</loc>" in (site / "sitemap.xml").read_text()


def test_the_tree_is_that_of_the_files(site: Path) -> None:
    tree = BeautifulSoup((site / "_pages/index.html").read_text(), "html.parser")
    two = next(link for link in tree.select(".tree a") if link.text == "Two")
    assert [a.text for li in two.find_parents("li") for a in li.find_all("a", limit=1)] == [
        "Two",
        "One",
        "Root",
    ]
