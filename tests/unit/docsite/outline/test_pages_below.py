"""Pages of sections that say little show what is below them, as in Docusaurus and Hugo."""

from __future__ import annotations

import pytest
from bs4 import BeautifulSoup

from noctule.docsite.outline.plan import plan_site
from noctule.docsite.pages.documents import render_page
from noctule.pipeline.settings.site import Site
from tests.site_builder import page_of, snapshot_of

LONG = "Much is said here of what follows. " * 20
PAGES = {
    "index.md": "# Home\n",
    "guide/index.mdx": "---\ntitle: Guide\n---\n\nimport DocCardList from '@theme/DocCardList';\n\n"
    "How to use it.\n\n<DocCardList />\n",
    "guide/a.md": "---\ntitle: First steps\nsidebar_label: Begin\n---\n",
    "guide/deep/index.md": "# Deep\n",
    "guide/deep/b.md": "# B\n",
    "linked/index.md": "# Linked\n\nSee [c](c.md).\n",
    "linked/c.md": "# C\n",
    "linked/d.md": "# D\n",
    "long/index.md": f"# Long\n\n{LONG}\n",
    "long/e.md": "# E\n",
}


LISTS = {
    "index.md": "# Home\n",
    "jtd/index.md": f"---\nhas_children: true\n---\n# Jtd\n\n{LONG}\n",
    "jtd/a.md": "---\ndescription: What A says.\n---\n# A\n",
    "jtd/b.md": "---\ntitle: B\n---\nHow *B* begins.\n\nMore.\n",
    "jtd/deep/b.md": "# B\n",
    "jtd/deep/c.md": "# C\n",
    "none/index.md": "---\nhas_toc: false\nhas_children: true\n---\n# None\n",
    "none/d.md": "# D\n",
    "asked/index.mdx": f"---\ntitle: Asked\n---\n\n{LONG} See [e](e.md).\n\n<DocCardList />\n",
    "asked/e.md": "# E\n",
}


def below(texts: dict[str, str], page: str) -> list[tuple[str, str]]:
    links = page_of(texts, page).select("article nav .page-list li")
    return [(link.a["href"], " | ".join(link.stripped_strings)) for link in links if link.a]


def test_a_section_shows_what_its_pages_say_and_of_folders_without_a_page_the_first_one() -> None:
    assert below(LISTS, "jtd/index.html") == [
        ("a.html", "A | What A says."),
        ("b.html", "B | How B begins."),
        ("deep/b.html", "deep | 2 pages"),
    ]


def test_pages_below_are_listed_or_not_as_the_page_asks_whatever_it_says() -> None:
    assert below(LISTS, "none/index.html") == []
    assert below(LISTS, "asked/index.html") == [("e.html", "E")]
    assert "pages below" not in page_of(LISTS, "asked/index.html").get_text()


@pytest.mark.parametrize(
    ("page", "below"),
    [
        ("guide/index.html", [("a.html", "Begin"), ("deep/index.html", "Deep")]),
        ("guide/deep/index.html", [("b.html", "B")]),
        ("guide/a.html", []),
        ("linked/index.html", []),
        ("long/index.html", []),
        ("index.html", []),
    ],
)
def test_a_section_that_says_little_shows_its_pages(page: str, below: list[tuple[str, str]]) -> None:
    plan = plan_site(snapshot_of({"docs": PAGES}), Site())
    entry = plan.by_page[page]
    html = render_page(plan, entry, plan.renderer.render(entry)).content
    links = BeautifulSoup(html, "html.parser").select("article nav .page-list a")
    assert [(link["href"], link.get_text()) for link in links] == below
