"""Pages of sections that say little show what is below them, as in Docusaurus and Hugo."""

from __future__ import annotations

import pytest
from bs4 import BeautifulSoup

from noctule.docsite.outline.plan import plan_site
from noctule.docsite.pages.documents import render_page
from noctule.pipeline.settings.site import Site
from tests.site_builder import snapshot_of

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
