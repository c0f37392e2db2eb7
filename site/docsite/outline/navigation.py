"""The tree of pages: what a reader sees beside a page, above it, and on either side of it.

A folder and a page of its name are one node. Within a folder, pages are in the order that their front matter
asks for, then by file name, with digits compared as numbers. Pages that a book's own table of contents lists
come first, as it nests and names them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ...pipeline.identity import text_hash
from ..library import Entry
from .contents import Chapter

# A site with more pages than this shows, on each page, only the way to the page and what lies around it.
WHOLE_TREE_PAGES = 150
# Of a long list of siblings, this many on either side of the one on the path are shown.
SIBLINGS_EACH_SIDE = 15
_NO_CHAPTERS: Mapping[str, Chapter] = {}
_NUMBERS = re.compile(r"([0-9]+)")


@dataclass(frozen=True, slots=True)
class Node:
    """A folder or page, in which ``size`` counts the pages in and below it.

    ``page`` is None for a folder without one.
    """

    key: str
    label: str
    page: str | None
    children: tuple[Node, ...]
    size: int

    @property
    def anchor(self) -> str:
        """Return the node's name in the list of all pages."""
        return f"at-{text_hash(self.key)[:10]}"


@dataclass(frozen=True, slots=True)
class NavItem:
    """A node as one page shows it; ``before`` and ``after`` count the siblings left out around it."""

    node: Node
    current: bool
    is_open: bool
    items: tuple[NavItem, ...]
    before: int = 0
    after: int = 0


@dataclass(frozen=True, slots=True)
class Tree:
    """All nodes, the pages in reading order, and each page's position there and the nodes leading to it."""

    roots: tuple[Node, ...]
    order: tuple[str, ...]
    place: Mapping[str, int]
    trails: Mapping[str, tuple[Node, ...]]

    def previous(self, page: str) -> str | None:
        """Return the page before this one in reading order."""
        place = self.place.get(page, 0)
        return self.order[place - 1] if place > 0 else None

    def next(self, page: str) -> str | None:
        """Return the page after this one in reading order."""
        place = self.place.get(page, len(self.order)) + 1
        return self.order[place] if place < len(self.order) else None


@dataclass(slots=True)
class _Draft:
    key: str
    entry: Entry | None = None
    children: dict[str, _Draft] = field(default_factory=dict)
    title: str = ""
    number: float = float("inf")


def build_tree(entries: Sequence[Entry], chapters: Mapping[str, Chapter] = _NO_CHAPTERS) -> Tree:
    """Build the tree of all pages; several collections are its first level, each under its own name.

    ``chapters`` are the places of pages in a table of contents.
    """
    root = _Draft("")
    several = len({entry.collection for entry in entries}) > 1
    for entry in sorted(entries, key=lambda e: (not _is_index(e), e.page)):
        if entry.page not in chapters:
            _insert(root, entry)
    _insert_chapters(root, {e.page: e for e in entries}, chapters, several)
    if several:
        for name in {entry.collection for entry in entries}:
            root.children.setdefault(name, _Draft(name))
    roots = _children(root, "")
    if root.entry is not None:
        roots = (Node("", root.entry.title, root.entry.page, (), 1), *roots)
    trails = dict(_walk(roots, ()))
    order = tuple(trails)
    return Tree(roots, order, {page: place for place, page in enumerate(order)}, trails)


def _is_index(entry: Entry) -> bool:
    return entry.page.rsplit("/", 1)[-1] == "index.html"


def _insert(root: _Draft, entry: Entry) -> None:
    *folders, name = entry.page.split("/")
    node = root
    for folder in folders:
        node = node.children.setdefault(folder, _Draft(folder))
    if _is_index(entry):
        node.entry = entry
        return
    stem = name.removesuffix(".html")
    child = node.children.get(stem)
    if child is not None and child.entry is not None:
        # The folder of this name has an index page of its own: two nodes.
        child = node.children.setdefault(f"{stem}/", _Draft(stem))
    child = child or node.children.setdefault(stem, _Draft(stem))
    child.entry = entry


def _insert_chapters(
    root: _Draft, entries: Mapping[str, Entry], chapters: Mapping[str, Chapter], several: bool
) -> None:
    made: dict[str, _Draft] = {}
    for page, chapter in chapters.items():
        name = entries[page].collection
        top = root.children.setdefault(name, _Draft(name)) if several else root
        above = made[chapter.parent] if chapter.parent else top
        # A folder may have the name of a chapter, which is another node.
        made[page] = above.children[f"{page}/"] = _Draft(
            page.removesuffix(".html"), entries[page], {}, chapter.title, chapter.number
        )


def _children(draft: _Draft, path: str) -> tuple[Node, ...]:
    return tuple(_frozen(child, path) for child in sorted(draft.children.values(), key=_sort_key))


def _frozen(draft: _Draft, path: str) -> Node:
    key = f"{path}/{draft.key}" if path else draft.key
    children = _children(draft, key)
    plain = draft.key.replace("-", " ").replace("_", " ").strip() or draft.key
    label = draft.title or (draft.entry.title if draft.entry else plain)
    page = draft.entry.page if draft.entry else None
    return Node(key, label, page, children, sum(child.size for child in children) + (page is not None))


def _sort_key(draft: _Draft) -> tuple[float, float, tuple[tuple[int, int, str], ...], str]:
    parts = _NUMBERS.split(draft.key.casefold())
    natural = tuple((0, int(p), "") if p.isascii() and p.isdigit() else (1, 0, p) for p in parts if p)
    return (draft.number, draft.entry.order if draft.entry else float("inf"), natural, draft.key)


def _walk(nodes: Sequence[Node], above: tuple[Node, ...]) -> Iterator[tuple[str, tuple[Node, ...]]]:
    for node in nodes:
        trail = (*above, node)
        if node.page is not None:
            yield node.page, trail
        yield from _walk(node.children, trail)


def items_for(tree: Tree, page: str) -> tuple[NavItem, ...]:
    """Return what the navigation of ``page`` shows: all of a small tree, or the path to it and its
    surroundings.
    """
    trail = tree.trails.get(page) or _lone(tree.roots)
    return _level(tree.roots, trail, page, whole=len(tree.order) <= WHOLE_TREE_PAGES)


def _lone(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Return the folders from the top down that are alone on their level.

    A page outside the tree shows them open.
    """
    return (nodes[0], *_lone(nodes[0].children)) if len(nodes) == 1 else ()


def _level(nodes: Sequence[Node], trail: Sequence[Node], page: str, *, whole: bool) -> tuple[NavItem, ...]:
    on_way = next((i for i, node in enumerate(nodes) if trail and node is trail[0]), None)
    start, end = (0, len(nodes)) if whole else window(on_way or 0, len(nodes))
    items = []
    for place in range(start, end):
        node, inside = nodes[place], place == on_way
        below = (
            _level(node.children, trail[1:] if inside else (), page, whole=whole) if inside or whole else ()
        )
        before = start if place == start else 0
        after = len(nodes) - end if place == end - 1 else 0
        items.append(NavItem(node, inside and node.page == page, inside, below, before, after))
    return tuple(items)


def window(centre: int, count: int) -> tuple[int, int]:
    """Return the range of siblings shown around the central one, from the first number up to the second."""
    width = 2 * SIBLINGS_EACH_SIDE + 1
    if count <= width + 5:  # leaving out a handful saves nothing
        return 0, count
    start = min(max(centre - SIBLINGS_EACH_SIDE, 0), count - width)
    return start, start + width
