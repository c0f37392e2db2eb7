"""What a section's page shows of the pages below it, as the tools do that generate such pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow.compute as pc

from ...pipeline.includes.parts import PAGES_BELOW
from ..library import Entry, Library
from .navigation import Node, Tree, window


@dataclass(frozen=True, slots=True)
class PageBelow:
    """A page or a section as the page above it shows it: where it leads, and what is said of it.

    ``size`` counts the pages of a section that has no page of its own, and leads to its first one.
    """

    label: str
    page: str
    url: str
    description: str
    size: int


def asks_for_pages(library: Library) -> Sequence[bool]:
    """Return for each document, by row, whether it asks for a list of the pages below its own."""
    marked = pc.fill_null(
        pc.match_substring(library.documents.column("text"), PAGES_BELOW), False
    ).to_pylist()
    pairs = zip(library.entries, marked, strict=True)
    return [
        entry.placement.lists_below is True or (has_mark and entry.placement.lists_below is None)
        for entry, has_mark in pairs
    ]


def pages_below(tree: Tree, page: str, entries: Mapping[str, Entry]) -> tuple[PageBelow, ...]:
    """Return what is directly below a page in the tree, as far as it shows long lists."""
    trail = tree.trail(page)
    nodes = trail[-1].children if trail else ()
    return tuple(_shown(node, entries) for node in nodes[: window(0, len(nodes))[1]])


def _shown(node: Node, entries: Mapping[str, Entry]) -> PageBelow:
    if node.page is not None:
        return PageBelow(node.label, node.page, "", entries[node.page].description, 0)
    return PageBelow(node.label, "" if node.url else next(_pages(node), ""), node.url, "", node.size)


def _pages(node: Node) -> Iterator[str]:
    """Yield the pages in and below a node in reading order."""
    if node.page is not None:
        yield node.page
    for child in node.children:
        yield from _pages(child)
