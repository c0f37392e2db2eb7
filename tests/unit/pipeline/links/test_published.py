"""Links are written for the site that a document's own tool makes: they name paths that are no files."""

from __future__ import annotations

import pytest

from noctule.pipeline.address import heading_slugs
from noctule.pipeline.identity import sha256_hex
from noctule.pipeline.links.linking_documents import linking_document
from noctule.pipeline.links.resolve import resolve_links
from noctule.pipeline.model import ResolvedLink, Source
from noctule.pipeline.parse import parse
from noctule.pipeline.settings.collection import Collection


def _link(texts: dict[str, str], assets: tuple[str, ...] = ()) -> ResolvedLink:
    """The first link of the first document."""
    collection = Collection(root="site/docs")
    sources = [Source("c", path, text.encode(), sha256_hex(text.encode())) for path, text in texts.items()]
    documents = [parse(source, collection) for source in sources]
    linking = [linking_document(each, heading_slugs(each.headings)) for each in documents]
    found = resolve_links(linking, {"c": collection}, {"c": assets})
    return next(link for link in found if link.source_id == documents[0].doc_id)


@pytest.mark.parametrize(
    ("path", "front", "target"),
    [
        ("_docs/collections.md", "permalink: /docs/collections/", "/docs/collections/"),
        ("_docs/collections.md", "permalink: /elsewhere/", "/docs/collections/"),
        ("guide/a.md", "slug: /start", "/start"),
        ("guide/a.md", "slug: begin", "/guide/begin/"),
        ("Begin.md", "id: to-begin", "to-begin#part"),
        ("guide/Begin.md", "id: to-begin", "/docs/guide/to-begin"),
        ("guide/Begin.md", "id: to-begin\nslug: begin", "guide/begin"),
        ("guide/a.md", "url: /start/here/", "/start/here"),
        ("guide/a.md", "permalink: start", "/start"),
        ("guide/a.md", "permalink: /start.html", "/start.html#part"),
        ("01-app/02-guides/03-cache.md", "title: Cache", "/app/guides/cache"),
        ("01-app/02-guides/03-cache.md", "title: Cache", "app/guides/cache#part"),
        ("01-app/02-guides/03-cache.md", "title: Cache", "/docs/app/guides/cache"),
        ("guide/a.md", "title: A", "/docs/guide/a"),
        ("2026-11-25-first-owl.md", "title: A", "/docs/2026/11/25/first-owl"),
        ("_posts/2026-11-25-first-owl.md", "title: A", "/2026/11/25/first-owl.html"),
        ("2026-11-25-first/index.md", "title: A", "/2026/11/25/first/"),
        ("_posts/2026-11-25-first-owl.md", "title: A", "/news/owls/2026/11/25/first-owl/"),
        ("guide/Owls/owls.md", "title: A", "/docs/guide/owls/"),
        ("01-guide/02-owls/owls.md", "title: A", "/guide/owls#part"),
    ],
)
def test_a_link_to_the_path_at_which_a_tool_publishes_a_page_leads_to_it(
    path: str, front: str, target: str
) -> None:
    page = f"---\n{front}\n---\n# Named\n\n## Part\n\nText.\n"
    link = _link({"index.md": f"# Home\n\n[x]({target})\n", path: page})
    assert (link.target_id, link.status) == (f"c:{path}", "resolved")


@pytest.mark.parametrize(
    ("permalink", "target"),
    [
        ("docs/config.html", "cmd/watch.html#part"),
        ("docs/cmd/query.html", "watch.html"),
        ("/docs/cmd/", "watch"),
        ("/docs/cmd/query/", "../watch"),
        ("/docs/expr/type.html", "../cmd/watch.html"),
    ],
)
def test_a_relative_link_begins_where_its_own_page_is_published(permalink: str, target: str) -> None:
    page = "---\npermalink: docs/cmd/watch.html\n---\n# Named\n\n## Part\n\nText.\n"
    home = f"---\npermalink: {permalink}\n---\n# Home\n\n[x]({target})\n"
    link = _link({"_docs/a.md": home, "_docs/cmd.watch.md": page})
    assert (link.target_id, link.status) == ("c:_docs/cmd.watch.md", "resolved")


@pytest.mark.parametrize("target", ["/gone", "/docs/gone", "01-gone", "/guide/10.5"])
def test_a_path_at_which_nothing_is_published_leads_nowhere(target: str) -> None:
    link = _link({"index.md": f"# Home\n\n[x]({target})\n", "guide/a.md": "# A\n\nText.\n"})
    assert link.target_id is None


def test_an_image_of_sphinx_may_leave_its_ending_open() -> None:
    page = {"index.rst": "Home\n====\n\n.. image:: img/a.*\n"}
    assert _link(page, ("img/a.png", "img/a.svg", "img/ab.png")).asset == "img/a.svg"


@pytest.mark.parametrize(
    ("target", "asset"),
    [
        ("a%20b.ipynb/cell-1-output-1.png", "notes/a b.ipynb/cell-1-output-1.png"),
        ("a%20b.ipynb/owl.png", None),
        ("b.ipynb/cell-1-output-1.png", None),
    ],
)
def test_an_image_in_a_notebook_is_an_asset_though_none_lists_it(target: str, asset: str | None) -> None:
    notebook = '{"nbformat": 4, "metadata": {}, "cells": []}'
    link = _link({"notes/page.md": f"![Owl]({target})\n", "notes/a b.ipynb": notebook})
    assert (link.asset, link.status) == (asset, "asset" if asset else "missing-asset")
