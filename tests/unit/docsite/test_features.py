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
from noctule.docsite.pages import llms
from noctule.docsite.pages.llms import MAX_LISTED
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
    assert (site / "birds/owl.md").read_text().startswith("---\ntitle: Owl & friends\nurl: birds/owl.html\n")
    assert _twin(site / "birds/owl.md") == (
        "# Owl & friends\n\nOwls *hoot*. [Home](../index.md)\n\n## Ears\n\nHidden.\n"
    )
    assert _twin(site / "index.md").startswith("# Home\n\nWelcome.")
    assert _twin(site / "plain.md") == "# plain\n\nOnly text.\n"
    table = _twin(site / "table.md")
    assert table.startswith("# Table\n") and "## Code\n" in table and "```sh\nls -l\n```" in table
    owl = BeautifulSoup((site / "birds/owl.html").read_bytes(), "html.parser")
    assert [link["href"] for link in owl.select("[type='text/markdown']")] == ["owl.md", "owl.md"]


def _twin(path: Path) -> str:
    """A twin without its front matter and its pointer to the list of all pages."""
    front, pointer, text = path.read_text("utf-8").split("\n\n", 2)
    assert front.startswith("---\ntitle: ") and front.endswith("\n---")
    assert re.fullmatch(r"> All pages: \[llms.txt\]\((\.\./)*llms.txt\)", pointer)
    return text


def test_a_twin_never_takes_the_place_of_a_folder() -> None:
    twins = twin_paths(["a.html", "a.md/b.html", "c.html"])
    assert twins["c.html"] == "c.md" and twins["a.html"] != "a.md"
    assert len({folded(twin) for twin in twins.values()}) == 3


def test_llms_txt_lists_the_pages_by_section(tmp_path: Path) -> None:
    site = _built(tmp_path, Site(base_url=BASE, title="Birds", description="All of\nthem."))
    text = (site / "llms.txt").read_text()
    assert text.startswith("# Birds\n\n> All of them.\n\nSnapshot ")
    assert f"- [Owl & friends]({BASE}/birds/owl.md): Owls hoot. Home" in text
    for path in re.findall(rf"\({BASE}/([^)]*)\)", text):
        assert (site / path.replace("%20", " ").replace("%3C", "<").replace("%3E", ">")).is_file()


def test_every_page_of_a_large_site_is_reached_from_llms_txt(tmp_path: Path) -> None:
    texts = {f"{name}/p{i:03}.md": f"# P{i}\n" for name in ("a", "b/c", "b/d") for i in range(110)}
    site = _built(tmp_path, Site(related=0, search=False, base_url=BASE), texts | {"top.md": "# Top\n"})
    assert f"- [a]({BASE}/a/llms.txt): 110 pages\n" in (site / "llms.txt").read_text()
    found, waiting = set[str](), ["llms.txt"]
    while waiting:
        path = waiting.pop()
        listed = re.findall(rf"\({BASE}/([^)]*)\)", (site / path).read_text())
        assert len(listed) <= MAX_LISTED + 10
        waiting += [each for each in listed if each.endswith("/llms.txt")]
        found |= {each for each in listed if each.endswith(".md")}
        assert all((site / each).is_file() for each in listed)
    assert found == set(texts) | {"top.md"}


def test_a_section_is_one_text_up_to_its_cap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llms, "MAX_FULL_TOKENS", 500)
    texts = {
        "a/one.md": "# One\n\nowl\n",
        "a/long.md": "# Long\n" + "x " * 1500,
        "a/two.md": "# Two\n\nelk\n",
    }
    site = _built(tmp_path, Site(base_url=BASE), texts | {"top.md": "# Top\n"})
    full = (site / "llms-full/a.txt").read_text()
    assert f"<{BASE}/a/one.html>\n\n# One\n\nowl\n" in full and "elk" in full and "# Long" not in full
    assert re.search(
        r"- \[a\]\(\S+/llms-full/a.txt\): 2 of 3 pages, about \d+ tokens\n", (site / "llms.txt").read_text()
    )


def test_what_front_matter_keeps_from_readers_is_in_no_list_for_programs(tmp_path: Path) -> None:
    kept = {"u": "unlisted: true", "s": "search: {exclude: true}", "r": "robots: noindex", "d": "draft: true"}
    texts = {f"a/{name}.md": f"---\n{line}\n---\n# Secret {name}\n" for name, line in kept.items()}
    site = _built(tmp_path, Site(), texts | {"a/open.md": "# Open\n", "top.md": "# Top\n"})
    lists = [*site.rglob("llms.txt"), *(site / "llms-full").iterdir()]
    assert all("Secret" not in each.read_text() for each in lists)
    assert any("Open" in each.read_text() for each in lists)


def test_another_snapshot_changes_no_twin(tmp_path: Path) -> None:
    before = _built(tmp_path / "one", Site(), NOTES)
    after = _built(tmp_path / "two", Site(), {**NOTES, "zebra.md": "# Zebra\n"})
    for path in before.rglob("*.md"):
        assert (after / path.relative_to(before)).read_bytes() == path.read_bytes()


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
        *(
            ({name: "JavaScript:alert(1)"}, f"site.{name}: JavaScript: leads to no page")
            for name in ("base_url", "edit_url", "history_url", "image")
        ),
        ({"base_url": "java\nscript:alert(1)"}, "site.base_url: an address has no"),
        ({"base_url": "docs.example.org"}, "site.base_url: give the whole address"),
        ({"base_url": "/docs/"}, "site.base_url: give the whole address"),
        ({"base_url": "https:///docs/"}, "site.base_url: give the whole address"),
        ({"image": "card.png"}, "site.image: give the whole address"),
        ({"also": [{"label": "1", "url": "javascript:x"}]}, "site.also.0.url: 'javascript:x' is not"),
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
