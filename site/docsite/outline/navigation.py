"""The tree of pages: what a reader sees beside a page, above it, and on either side of it."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ...pipeline.identity import text_hash

# A site with more pages than this shows, on each page, only the way to the page and what lies around it.
WHOLE_TREE_PAGES = 150
# Of a long list of siblings, this many on either side of the one on the path are shown.
SIBLINGS_EACH_SIDE = 15


@dataclass(frozen=True, slots=True)
class Node:
    """A folder or page, in which ``size`` counts the pages in and below it.

    ``page`` is None for a folder without one, and for a link that leads to ``url``, out of the site.
    """

    key: str
    label: str
    page: str | None
    children: tuple[Node, ...]
    size: int
    url: str = ""

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
    """All nodes, the pages in reading order, and each page's position there and the nodes leading to it.

    ``hidden`` are pages of the site that stand nowhere in it.
    """

    roots: tuple[Node, ...]
    order: tuple[str, ...]
    place: Mapping[str, int]
    trails: Mapping[str, tuple[Node, ...]]
    hidden: tuple[str, ...] = ()

    @property
    def pages(self) -> tuple[str, ...]:
        """Return every page of a document: those in reading order, then the hidden ones."""
        return (*self.order, *self.hidden)

    def trail(self, page: str) -> tuple[Node, ...]:
        """Return the nodes that lead to a page; none for one that is hidden."""
        return self.trails.get(page, ())

    def previous(self, page: str) -> str | None:
        """Return the page before this one in reading order."""
        place = self.place.get(page, 0)
        return self.order[place - 1] if place > 0 else None

    def next(self, page: str) -> str | None:
        """Return the page after this one in reading order."""
        place = self.place.get(page, len(self.order)) + 1
        return self.order[place] if place < len(self.order) else None


def tree_of(roots: tuple[Node, ...], hidden: tuple[str, ...] = ()) -> Tree:
    """Return the tree with these roots; a page that stands there twice is where it stands first."""
    trails: dict[str, tuple[Node, ...]] = {}
    for page, trail in _walk(roots, ()):
        trails.setdefault(page, trail)
    order = tuple(trails)
    outside = tuple(page for page in hidden if page not in trails)
    return Tree(roots, order, {page: place for place, page in enumerate(order)}, trails, outside)


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


def told_apart(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Return siblings with the name of the file or folder behind titles that several of them have."""
    count = Counter(node.label for node in nodes)
    if len(count) == len(nodes):
        return tuple(nodes)
    once = [_with_name(node) if count[node.label] > 1 else node for node in nodes]
    count = Counter(node.label for node in once)
    return tuple(
        replace(n, label=f"{n.label} ({n.page or n.key})") if count[n.label] > 1 else n for n in once
    )


def _with_name(node: Node) -> Node:
    if node.page is None:
        return node if node.url else replace(node, label=f"{node.label} ({node.key.rsplit('/', 1)[-1]}/)")
    folder, stem = posixpath.split(node.page.removesuffix(".html"))
    last = stem.rsplit(".", 1)[-1]  # of a dotted name its own part, unless it is a version
    name = posixpath.basename(folder) if stem == "index" else stem if last.isdecimal() else last
    return replace(node, label=f"{node.label} ({name})") if name and name != node.label else node
