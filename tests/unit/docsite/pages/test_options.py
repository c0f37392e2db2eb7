"""Front matter says which parts a page has, in the words of Docusaurus, VitePress, Starlight and Material."""

from __future__ import annotations

import pytest
from bs4 import BeautifulSoup

from noctule.docsite.outline.plan import plan_site
from noctule.docsite.pages.documents import render_page
from noctule.pipeline.settings.site import Site
from tests.site_builder import page_of, snapshot_of

TEXT = "\n## Two\n\nText.\n\n### Three\n\nText.\n\n#### Four\n\nText.\n\n##### Five\n\nText.\n"
SETTINGS = Site(edit_url="https://git.example.org/edit", history_url="https://git.example.org/log")


def page(front: str) -> BeautifulSoup:
    texts = {"a.md": "# A\n", "b.md": f"---\ntitle: B\n{front}\n---\n{TEXT}", "c.md": "# C\n"}
    return page_of(texts, "b.html", SETTINGS)


def contents(front: str) -> list[str]:
    return [link.get_text() for link in page(front).select("nav.toc li a")]


@pytest.mark.parametrize(
    ("front", "shown"),
    [
        ("sidebar_position: 1", ["Two", "Three"]),
        ("toc_max_heading_level: 4", ["Two", "Three", "Four"]),
        ("toc_min_heading_level: 3\ntoc_max_heading_level: 5", ["Three", "Four", "Five"]),
        ("toc_max_heading_level: deep", ["Two", "Three"]),
        ("tableOfContents: {minHeadingLevel: 2, maxHeadingLevel: 4}", ["Two", "Three", "Four"]),
        ("outline: deep", ["Two", "Three", "Four", "Five"]),
        ("outline: [3, 4]", ["Three", "Four"]),
        ("outline: true", ["Two", "Three"]),
        ("hide_table_of_contents: true", []),
        ("outline: false", []),
        ("tableOfContents: false", []),
        ("hide: [toc]", []),
        ("layout: home\nfeatures: []", []),
    ],
)
def test_contents_show_the_levels_that_a_page_asks_for(front: str, shown: list[str]) -> None:
    assert contents(front) == shown


@pytest.mark.parametrize(
    ("front", "sides"),
    [
        ("sidebar_position: 1", ["prev", "next"]),
        ("pagination_next: null", ["prev"]),
        ("pagination_prev: null", ["next"]),
        ("prev: false", ["next"]),
        ("next: {text: C, link: /c}", ["prev", "next"]),
        ("hide: [footer]", []),
        ("layout: home\nhero: {name: B}", []),
    ],
)
def test_a_page_may_lead_to_no_page_before_or_after_it(front: str, sides: list[str]) -> None:
    html = page_of(
        {"a.md": "---\norder: 0\n---\n# A\n", "b.md": f"---\norder: 1\n{front}\n---\n", "c.md": "# C\n"},
        "b.html",
    )
    assert [link["rel"][0] for link in html.select(".previous-next a")] == sides


@pytest.mark.parametrize(
    ("front", "addresses"),
    [
        ("x: 1", ["https://git.example.org/edit/b.md", "https://git.example.org/log/b.md"]),
        ("custom_edit_url: https://e.org/b", ["https://e.org/b", "https://git.example.org/log/b.md"]),
        (
            "custom_edit_url: 'javascript:x'",
            ["https://git.example.org/edit/b.md", "https://git.example.org/log/b.md"],
        ),
        ("custom_edit_url: null", []),
        ("editUrl: false", []),
        ("editLink: false", []),
    ],
)
def test_a_page_may_be_edited_elsewhere_or_nowhere(front: str, addresses: list[str]) -> None:
    links = [str(link["href"]) for link in page(front).select(".page-facts a")]
    assert [link for link in links if link.startswith(("https:", "javascript:"))] == addresses


def test_a_hidden_title_is_not_shown_and_names_the_page_elsewhere() -> None:
    hidden = page("hide_title: true")
    assert hidden.h1 is None and hidden.title is not None and hidden.title.text.startswith("B")
    assert page("hide_title: false").select_one("h1") is not None


def test_the_name_of_a_collection_leads_to_its_first_page() -> None:
    plan = plan_site(snapshot_of({"one": {"deep/a.md": "# A\n"}, "two": {"b.md": "# B\n"}}), Site())
    entry = plan.by_page["one/deep/a.html"]
    html = BeautifulSoup(render_page(plan, entry, plan.renderer.render(entry)).content, "html.parser")
    crumbs = [(item.get_text(), item.a and item.a["href"]) for item in html.select(".breadcrumbs li")]
    assert crumbs[1:] == [("one", "../index.html"), ("deep", None)]


@pytest.mark.parametrize(
    "others",
    [
        {
            "SUMMARY.md": "- [First](a.md)\n- [B](b.md)\n- [The *third*](c.md)\n",
            "a.md": "# A\n",
            "c.md": "# C\n",
        },
        {
            "a.md": "---\nsidebar_position: 1\nsidebar_label: First\n---\n# A\n",
            "c.md": "---\nsidebar_label: The third\n---\n# C\n",
        },
    ],
)
def test_the_pages_before_and_after_are_called_as_in_the_navigation(others: dict[str, str]) -> None:
    html = page_of({**others, "b.md": "---\nsidebar_position: 2\n---\n# B\n"}, "b.html")
    assert [link.get_text() for link in html.select(".previous-next a")] == [
        "Previous First",
        "Next The third",
    ]


def test_a_page_outside_the_navigation_is_called_by_its_title() -> None:
    plan = plan_site(
        snapshot_of({"d": {"SUMMARY.md": "- [First](a.md)\n", "a.md": "# A\n", "b.md": "# B\n"}}), Site()
    )
    assert (plan.label("a.html"), plan.label("b.html")) == ("First", "B")
