"""Former addresses lead to pages, from a server and from disk, and never take the place of a page."""

from __future__ import annotations

from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from noctule.docsite.build import build_site
from noctule.docsite.outline.plan import plan_site
from noctule.docsite.pages.redirects import redirects_of
from noctule.pipeline.links import redirects as former
from noctule.pipeline.settings.site import Site
from tests.site_builder import snapshot_of

TEXTS = {
    "guide/intro.md": "---\naliases: [/start/, other name, Obsidian/Alias]\n"
    "redirect_from: /old/intro.html\n---\n# I\n",
    "b.md": "# B\n",
    "gone.md": "---\nredirect_to: /guide/intro.html\n---\n# Gone\n",
    "use.md": "---\nredirect_to: use/\n---\n",
    "use/index.md": "# Use\n",
}


def found(**redirects: str) -> tuple[dict[str, str], list[str]]:
    plan = plan_site(snapshot_of({"docs": TEXTS}), Site(redirects=redirects, base_url="https://e.org/docs/"))
    listed, remarks = redirects_of(plan)
    return {each.source: each.target + each.fragment for each in listed}, remarks


OWN = {
    "gone.html": "guide/intro.html",
    "old/intro.html": "guide/intro.html",
    "start/index.html": "guide/intro.html",
    "use.html": "use/index.html",
}


def test_front_matter_and_settings_name_former_addresses() -> None:
    given = {"x.md": "b.md", "y": "https://example.org/", "z.html": "/x.html", "w/": "b.html#part"}
    assert found(**given) == (
        OWN | {"x.html": "b.html", "y/index.html": "https://example.org/", "z.html": "b.html",
               "w/index.html": "b.htmlpart"},
        [],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("b.html", "guide/intro.md", "is the address of a page"),
        ("../x.html", "b.md", "cannot be an address"),
        ("_assets/x.html", "b.md", "cannot be an address"),
        ("x.html#part", "b.md", "cannot be an address"),
        ("guide", "b.md", ""),
        ("x.html", "nowhere.md", "which is no page"),
        ("x.html", "javascript:alert(1)", "which is no page"),
        ("x.html", "x.html", "leads in a circle"),
    ],
)
def test_what_clashes_strays_or_leads_nowhere_is_a_remark(old: str, new: str, reason: str) -> None:
    listed, remarks = found(**{old: new})
    assert (listed == OWN) is bool(reason)
    assert [reason in remark for remark in remarks] == [True] * bool(reason)


def test_circles_of_several_are_remarks() -> None:
    listed, remarks = found(**{"x.html": "y.html", "y.html": "x.html"})
    assert listed == OWN and len(remarks) == 2


def test_the_pages_are_not_in_sitemap_or_tree_and_work_from_disk(tmp_path: Path) -> None:
    site = Site(redirects={"a/b/": "b.md"}, base_url="https://e.org/docs/")
    build_site(snapshot_of({"docs": TEXTS}), tmp_path / "site", site)
    soup = BeautifulSoup((tmp_path / "site/a/b/index.html").read_bytes(), "html.parser")
    refresh, canonical = soup.find("meta", {"http-equiv": "refresh"}), soup.find("link", rel="canonical")
    assert refresh is not None and refresh["content"] == "0; url=../../b.html"
    assert canonical is not None and canonical["href"] == "https://e.org/docs/b.html"
    assert (tmp_path / "site/_redirects").read_text() == (
        "/docs/a/b /docs/b.html 301\n/docs/gone.html /docs/guide/intro.html 301\n"
        "/docs/old/intro.html /docs/guide/intro.html 301\n/docs/start /docs/guide/intro.html 301\n"
        "/docs/use.html /docs/use/index.html 301\n"
    )
    assert "/a/b" not in (tmp_path / "site/sitemap.xml").read_text()
    assert "gone" not in (tmp_path / "site/sitemap.xml").read_text()


def test_a_404_document_is_the_text_of_the_404_page_and_no_page_of_the_tree(tmp_path: Path) -> None:
    texts = {
        "index.md": "# Home\n",
        "404.md": "# Lost\n\nSee [b](b.md) or [out](https://e.org/).\n",
        "b.md": "# B\n",
    }
    build_site(snapshot_of({"docs": texts}), tmp_path / "site", Site(base_url="https://e.org/docs/"))
    soup = BeautifulSoup((tmp_path / "site/404.html").read_bytes(), "html.parser")
    assert soup.h1 is not None and soup.h1["id"] == "lost"
    assert [a["href"] for a in soup.select(".prose p a")] == ["/docs/b.html", "https://e.org/"]
    assert "404" not in (tmp_path / "site/_pages/index.html").read_text()
    assert "404" not in (tmp_path / "site/sitemap.xml").read_text()


@pytest.mark.parametrize("clean", [False, True])
def test_links_to_former_addresses_lead_on(tmp_path: Path, clean: bool) -> None:
    text = "# P\n\n[one](../x.html#part), [two](/far/), [three](/start/), [four](/none)\n"
    texts = TEXTS | {"b.md": "# B\n\n## Part\n\nOwls.\n", "deep/page.md": text}
    site = Site(redirects={"x.md": "b.md", "/far": "https://example.org/"}, clean_urls=clean)
    build_site(snapshot_of({"docs": texts}, redirects=former.redirects_of(site)), tmp_path / "site", site)
    page = tmp_path / "site" / ("deep/page/index.html" if clean else "deep/page.html")
    soup = BeautifulSoup(page.read_text(), "html.parser")
    links = {link.text: str(link["href"]) for link in soup.select("article p a")}
    up = "../../" if clean else "../"
    assert links == {
        "one": f"{up}b/#part" if clean else f"{up}b.html#part",
        "two": f"{up}far/" if clean else f"{up}far/index.html",
        "three": f"{up}guide/intro/" if clean else f"{up}guide/intro.html",
    }
    leads_on = (page.parent / links["two"] / ("index.html" if clean else "")).resolve()
    assert "https://example.org/" in leads_on.read_text()
