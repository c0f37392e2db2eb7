"""A book's own table of contents decides the order, the nesting and the names beside a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from noctule.docsite.library import Library
from noctule.docsite.outline.contents import contents_of
from noctule.docsite.outline.hierarchy import build_tree
from noctule.docsite.outline.navigation import Node, Tree
from noctule.docsite.outline.plan import plan_site
from noctule.pipeline.settings.site import Site
from tests.site_builder import snapshot_of

SUMMARY = """# Summary

[Preface](preface.md)

- [Second](z.md)
  - [`Deep` part](deep/a.md)
  - [Gone](gone.md)
- [First](a.md)
- [Draft]()

[Twice](z.md)
"""
PAGES = {
    "SUMMARY.md": SUMMARY,
    "preface.md": "# A preface\n",
    "a.md": "# A\n",
    "z.md": "# Z\n",
    "deep/a.md": "# Deep A\n",
    "deep/other.md": "# Not listed\n",
}


def tree(**collections: Mapping[str, str]) -> Tree:
    library = Library(snapshot_of(collections))
    return build_tree(library.entries, contents_of(library, {}))


def shown(nodes: Sequence[Node], depth: int = 0) -> Iterator[str]:
    for node in nodes:
        yield f"{'  ' * depth}{node.label} {node.page or ''}".rstrip()
        yield from shown(node.children, depth + 1)


def test_chapters_are_nested_ordered_and_named_as_the_book_says() -> None:
    assert list(shown(tree(book=PAGES).roots)) == [
        "Preface preface.html",
        "Second z.html",
        "  Deep part deep/a.html",
        "First a.html",
    ]


def test_every_page_is_in_the_tree_once_and_its_neighbours_are_the_books() -> None:
    found = tree(book=PAGES)
    assert sorted(found.pages) == sorted({path.replace(".md", ".html") for path in PAGES})
    assert found.hidden == ("SUMMARY.html", "deep/other.html")

    assert (found.previous("deep/a.html"), found.next("deep/a.html")) == ("z.html", "a.html")


def test_pages_that_a_book_does_not_name_are_in_a_remark() -> None:
    remarks = contents_of(Library(snapshot_of({"book": PAGES})), {}).remarks
    assert "deep/other.md is not named there, so it is not in the tree" in remarks[-1]


def test_each_of_several_collections_keeps_its_own_contents() -> None:
    labels = list(shown(tree(book=PAGES, notes={"n.md": "# N\n", "b.md": "# B\n"}).roots))
    assert labels[:3] == ["book", "  Preface book/preface.html", "  Second book/z.html"]
    assert labels[-3:] == ["notes", "  B notes/b.html", "  N notes/n.html"]


def test_contents_that_name_themselves_or_nothing_change_no_order() -> None:
    pages = {"SUMMARY.md": "- [Me](SUMMARY.md)\n- [None](x.md)\n", "b.md": "# B\n", "a.md": "# A\n"}
    assert [node.label for node in tree(book=pages).roots] == ["A", "B", "SUMMARY"]


def test_slugs_and_ids_decide_addresses_if_the_settings_say_so() -> None:
    texts = {
        "guide/01-a.md": "---\nid: first\n---\n# A\n",
        "guide/b.md": "---\nslug: second\n---\n# B\n",
        "guide/index.md": "---\nid: g\n---\n# G\n",
        "c.md": "---\nslug: /\n---\n# C\n",
        "d.md": "---\npermalink: /x/../y/\n---\n# D [b](guide/b.md)\n",
        "e.md": "---\nslug: _assets/e\n---\n# E\n",
    }
    snapshot = snapshot_of({"docs": texts})
    pages = {e.path: e.page for e in plan_site(snapshot, Site(slugs=True)).library.entries}
    assert pages.pop("e.md").startswith("_assets-")
    assert pages == {
        "guide/01-a.md": "guide/first.html",
        "guide/b.md": "guide/second.html",
        "guide/index.md": "guide/index.html",
        "c.md": "index.html",
        "d.md": "x/y.html",
    }
    plain = plan_site(snapshot, Site()).library.entries
    assert {e.path: e.page for e in plain}["d.md"] == "d.html"
