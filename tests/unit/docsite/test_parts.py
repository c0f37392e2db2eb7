"""What stands beside the pages: feed, twins, llms.txt, previews, edit link, versions, and which of them a
site has.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

import pytest
from bs4 import BeautifulSoup

from noctule.docsite.build import build_site
from noctule.docsite.pages.previews import shard_count, shard_of
from noctule.docsite.urls import folded, twin_paths
from noctule.pipeline.errors import SettingsError
from noctule.pipeline.settings.reading import parse
from noctule.pipeline.settings.settings import Settings
from noctule.pipeline.settings.site import Site
from tests.site_builder import page_of, snapshot_of

NOTES = {
    "index.md": "# Home\n\nWelcome. [Owl](birds/owl.md)\n",
    "birds/owl.md": "---\ntitle: Owl & friends\nupdated: 2026-01-02\n---\n"
    "Owls *hoot*. [Home](../index.md)\n\n## Ears\n\nHidden.\n",
    "birds/bat <x>.md": "---\nupdated: 2026-03-01\n---\n# Bat \\<x>\n\nNo bird.\n",
    "table.html": "<html><title>Table</title><main><h1>Table</h1><p>One.</p><h2>Code</h2><pre><code "
    "class='language-sh'>ls -l</code></pre></main></html>",
    "plain.txt": "Only text.",
}
BASE = "https://example.org/docs"


def _built(tmp_path: Path, settings: Site, texts: Mapping[str, str] = NOTES) -> Path:
    build_site(snapshot_of({"notes": texts}), tmp_path / "site", settings)
    return tmp_path / "site"


def test_the_feed_has_the_latest_changes_first_with_absolute_addresses(tmp_path: Path) -> None:
    site = _built(tmp_path, Site(base_url=BASE + "/", title="Birds & bats", feed=1))
    channel = ElementTree.parse(site / "feed.xml").getroot()[0]
    assert channel.findtext("title") == "Birds & bats"
    (item,) = channel.findall("item")
    assert item.findtext("title") == "Bat <x>"
    assert item.findtext("link") == f"{BASE}/birds/bat%20%3Cx%3E.html"
    assert item.findtext("pubDate") == "Sun, 01 Mar 2026 00:00:00 +0000" == channel.findtext("lastBuildDate")
    assert 'type="application/rss+xml"' in (site / "index.html").read_text()


@pytest.mark.parametrize("settings", [Site(), Site(base_url=BASE, feed=0)])
def test_without_an_address_or_on_request_there_is_no_feed(tmp_path: Path, settings: Site) -> None:
    site = _built(tmp_path, settings)
    assert not (site / "feed.xml").exists() and "feed.xml" not in (site / "index.html").read_text()


def test_every_page_has_its_markdown_beside_it(tmp_path: Path) -> None:
    site = _built(tmp_path, Site())
    assert (site / "birds/owl.md").read_text() == (
        "# Owl & friends\n\nOwls *hoot*. [Home](../index.md)\n\n## Ears\n\nHidden.\n"
    )
    assert (site / "index.md").read_text().startswith("# Home\n\nWelcome.")
    assert (site / "plain.md").read_text() == "# plain\n\nOnly text.\n"
    table = (site / "table.md").read_text()
    assert table.startswith("# Table\n") and "## Code\n" in table and "```sh\nls -l\n```" in table
    owl = BeautifulSoup((site / "birds/owl.html").read_bytes(), "html.parser")
    assert [link["href"] for link in owl.select("[type='text/markdown']")] == ["owl.md", "owl.md"]


def test_a_twin_never_takes_the_place_of_a_folder() -> None:
    twins = twin_paths(["a.html", "a.md/b.html", "c.html"])
    assert twins["c.html"] == "c.md" and twins["a.html"] != "a.md"
    assert len({folded(twin) for twin in twins.values()}) == 3


def test_llms_txt_lists_the_pages_by_section(tmp_path: Path) -> None:
    site = _built(tmp_path, Site(base_url=BASE, title="Birds", description="All of\nthem."))
    text = (site / "llms.txt").read_text()
    assert text.startswith("# Birds\n\n> All of them.\n\n## ")
    assert f"- [Owl & friends]({BASE}/birds/owl.md): Owls hoot. Home" in text
    for path in re.findall(rf"\({BASE}/([^)]*)\)", text):
        assert (site / path.replace("%20", " ").replace("%3C", "<").replace("%3E", ">")).is_file()


def test_a_large_site_lists_its_most_linked_pages_only(tmp_path: Path) -> None:
    texts = {f"p{i:04}.md": f"# P{i}\n\n[x](p0007.md)\n" for i in range(1005)}
    text = (_built(tmp_path, Site(related=0), texts) / "llms.txt").read_text()
    assert text.count("\n- [P") == 1000 and "(p0007.md)" in text and "5 more pages" in text


def test_markdown_and_search_can_be_left_out(tmp_path: Path) -> None:
    site = _built(tmp_path, Site(markdown=False, search=False, graph=False))
    assert not (site / "llms.txt").exists() and not list(site.rglob("*.md"))
    assert not (site / "_search").exists() and not (site / "_assets/dialog.js").exists()
    page = (site / "index.html").read_text()
    assert "_search" not in page and "text/markdown" not in page


def test_previews_are_found_by_the_hash_of_the_address(tmp_path: Path) -> None:
    texts = {f"p{i}.md": f"# Page {i}\n\nText {i}.\n" for i in range(150)} | NOTES
    site = _built(tmp_path, Site(), texts)
    count = shard_count(len(texts))
    assert count == 4 and len(list((site / "_previews").iterdir())) == 4
    seen = 0
    for number in range(count):
        content = (site / f"_previews/{number}.js").read_text()
        table = json.loads(content.removeprefix("noctulePreviews(").removesuffix(");\n"))
        assert all(shard_of(address, count) == number for address in table)
        seen += len(table)
        if shard_of("birds/bat%20%3Cx%3E.html", count) == number:
            assert table["birds/bat%20%3Cx%3E.html"] == ["Bat <x>", "No bird."]
    assert seen == len(texts)


def test_few_more_pages_do_not_move_the_previews() -> None:
    assert [shard_count(n) for n in (0, 1, 64, 65, 128, 129, 14_592, 100_000)] == [
        1,
        1,
        1,
        2,
        2,
        4,
        256,
        2048,
    ]


def test_the_edit_link_leads_to_the_source() -> None:
    def link(pattern: str) -> str:
        page = page_of(NOTES, "birds/bat <x>.html", Site(edit_url=pattern))
        return str(page.select_one("a[rel~=edit]")["href"])

    at = "https://git.example/edit/main"
    assert link(f"{at}/docs/{{path}}?x") == f"{at}/docs/birds/bat%20%3Cx%3E.md?x"
    assert link(f"{at}/{{collection}}/") == f"{at}/notes/birds/bat%20%3Cx%3E.md"
    assert page_of(NOTES, "index.html").select_one("a[rel~=edit]") is None


def test_the_history_of_a_page_is_a_link_beside_the_edit_link() -> None:
    page = page_of(NOTES, "index.html", Site(history_url="https://git.example/commits/{path}"))
    assert [a["href"] for a in page.select(".page-facts a") if a.text == "History"] == [
        "https://git.example/commits/index.md"
    ]


def test_the_versions_menu_marks_this_one() -> None:
    versions = [
        {"label": "2.0", "url": "../2.0/", "current": True},
        {"label": "1.0", "url": "https://old.example/"},
    ]
    settings = parse({"site": {"versions": versions}}, "x").site
    menu = page_of(NOTES, "index.html", settings).select_one("details.versions")
    assert menu is not None and menu.summary.text == "Version: 2.0"
    assert [(a.text, a["href"], a.get("aria-current")) for a in menu.select("a")] == [
        ("2.0", "../2.0/", "true"), ("1.0", "https://old.example/", None),
    ]  # fmt: skip


def test_previews_of_links_elsewhere_have_what_they_need() -> None:
    settings = Site(base_url=BASE, image="https://example.org/card.png", title="Birds")
    page = page_of(NOTES, "birds/owl.html", settings)
    found = {meta["property"]: meta["content"] for meta in page.select("meta[property]")}
    assert found == {
        "og:title": "Owl & friends",
        "og:description": "Owls hoot. Home",
        "og:site_name": "Birds",
        "og:type": "article",
        "og:url": f"{BASE}/birds/owl.html",
        "og:image": "https://example.org/card.png",
        "article:modified_time": "2026-01-02",
    }


@pytest.mark.parametrize(
    ("site", "told"),
    [
        ({"edit_url": "javascript:alert(1)"}, "site.edit_url: javascript:"),
        ({"edit_url": "https://x/{branch}"}, "unknown {branch}"),
        ({"versions": [{"label": "1", "url": "data:text/html,x"}]}, "site.versions.0.url: data:"),
        ({"versions": [{"label": "1"}]}, "site.versions.0.url"),
        ({"feed": -1}, "site.feed"),
    ],
)
def test_settings_that_lead_nowhere_are_refused(site: dict[str, object], told: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse({"site": site}, "noctule.toml")
    assert told in caught.value.what


def test_files_of_the_site_are_named_from_the_folder_of_the_settings(tmp_path: Path) -> None:
    from noctule.pipeline.settings.reading import load

    (tmp_path / "noctule.toml").write_text('[site]\ntemplates = "theme"\nwords = "w.toml"\n')
    loaded: Settings = load(tmp_path / "noctule.toml")
    assert loaded.site.templates == str(tmp_path / "theme") and loaded.site.words == str(tmp_path / "w.toml")
    assert loaded.site.mermaid == ""


def test_a_page_in_a_language_from_right_to_left_says_so() -> None:
    texts = {
        "a.md": "---\nlang: ar\n---\n# \u0645\u0631\u062d\u0628\u0627\n\n\u0646\u0635\n",
        "b.md": "# B\n\nx\n",
    }
    page = page_of(texts, "a.html")
    assert page.html["dir"] == "rtl" and page.select_one(".site-header")["dir"] == "ltr"
    assert page_of(texts, "b.html").html.get("dir") is None
