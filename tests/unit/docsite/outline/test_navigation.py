"""The tree of pages and what of it a page shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from noctule.docsite.library import Library
from noctule.docsite.outline.hierarchy import build_tree
from noctule.docsite.outline.navigation import NavItem, Node, Tree, items_for
from tests.site_builder import snapshot_of


def _tree(**collections: dict[str, str]) -> Tree:
    return build_tree(Library(snapshot_of(collections)).entries)


def _texts(*paths: str) -> dict[str, str]:
    return {path: f"# {path}\n\nText." for path in paths}


def _flat(items: Sequence[NavItem]) -> Iterator[NavItem]:
    for item in items:
        yield item
        yield from _flat(item.items)


def test_numbers_in_names_are_read_as_numbers() -> None:
    tree = _tree(notes=_texts("ch10.md", "ch2.md", "ch1.md", "index.md"))
    assert tree.order == ("index.html", "ch1.html", "ch2.html", "ch10.html")


def test_front_matter_puts_pages_in_order() -> None:
    texts = _texts("a.md", "b.md") | {
        "z.md": "---\nnav_order: 1\n---\n# Z\n",
        "y.md": "---\nweight: 2.5\n---\n# Y\n",
    }
    assert _tree(notes=texts).order == ("z.html", "y.html", "a.html", "b.html")


def test_a_folder_and_its_page_are_one_node() -> None:
    tree = _tree(notes=_texts("guide.md", "guide/install.md", "api/index.md", "api/fetch.md"))
    assert [(node.label, node.page, len(node.children)) for node in tree.roots] == [
        ("api/index.md", "api/index.html", 1),
        ("guide.md", "guide.html", 1),
    ]


def test_a_folder_with_an_index_leaves_the_page_of_its_name_alone() -> None:
    tree = _tree(notes=_texts("guide.md", "guide/index.md", "guide/a.md"))
    assert set(tree.order) == {"guide.html", "guide/index.html", "guide/a.html"}


def test_every_page_is_in_the_reading_order_once_and_neighbours_agree() -> None:
    tree = _tree(notes=_texts("index.md", "b/x.md", "b/c/y.md", "a.md", "b.md"))
    assert len(set(tree.order)) == len(tree.order) == 5
    assert tree.previous(tree.order[0]) is None and tree.next(tree.order[-1]) is None
    for first, second in zip(tree.order, tree.order[1:], strict=False):
        assert tree.next(first) == second and tree.previous(second) == first


def test_several_collections_are_the_first_level() -> None:
    tree = _tree(notes=_texts("index.md", "a.md"), books=_texts("b.md"))
    assert [(node.key, node.page) for node in tree.roots] == [("books", None), ("notes", "notes/index.html")]
    assert [node.key for node in tree.trails["books/b.html"]] == ["books", "books/b"]


def test_the_current_page_is_marked_and_its_folders_are_open() -> None:
    tree = _tree(notes=_texts("a/b/c.md", "a/d.md", "e/f.md"))
    items = list(_flat(items_for(tree, "a/b/c.html")))
    assert [item.node.page for item in items if item.current] == ["a/b/c.html"]
    assert [item.node.key for item in items if item.is_open] == ["a", "a/b", "a/b/c"]


def test_a_big_sites_navigation_is_bounded_on_every_page() -> None:
    texts = _texts(*(f"f{folder}/p{page}.md" for folder in range(60) for page in range(60)))
    tree = _tree(notes=texts)
    for page in ("f30/p30.html", "f0/p0.html", "f59/p59.html"):
        items = list(_flat(items_for(tree, page)))
        assert len(items) < 80
        assert [item.node.page for item in items if item.current] == [page]
    left_out = [item for item in items_for(tree, "f30/p30.html") if item.before or item.after]
    assert sum(item.before + item.after for item in left_out) == 60 - len(items_for(tree, "f30/p30.html"))


def test_sizes_count_the_pages_below() -> None:
    def check(node: Node) -> int:
        count = (node.page is not None) + sum(check(child) for child in node.children)
        assert node.size == count
        return count

    tree = _tree(notes=_texts("a/b/c.md", "a/d.md", "a.md", "e.md"))
    assert sum(check(node) for node in tree.roots) == 4
