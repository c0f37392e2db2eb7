"""The list of all pages as one tree or, for a large site, as an overview and parts of bounded length."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from .. import urls
from .navigation import Node, Tree

# This many nodes make a page of about a hundred kilobytes.
NODES_PER_PAGE = 2_000


@dataclass(frozen=True, slots=True)
class Part:
    """Neighbouring branches of the tree that share a page."""

    page: str
    label: str
    nodes: tuple[Node, ...]
    size: int


@dataclass(frozen=True, slots=True)
class Upper:
    """An entry of the overview: a node too large for one page with what is below it, or the part that holds
    some nodes.
    """

    node: Node | None
    items: tuple[Upper, ...]
    part: Part | None


@dataclass(frozen=True, slots=True)
class AllPages:
    """The overview, the parts, and the page each node is on, by the node's key."""

    upper: tuple[Upper, ...]
    parts: tuple[Part, ...]
    page_of: Mapping[str, str]


def all_pages(tree: Tree) -> AllPages:
    """Divide the list of all pages; a small tree stays in one piece."""
    if sum(node.size for node in tree.roots) <= NODES_PER_PAGE:
        return AllPages((), (), dict.fromkeys(_keys(tree.roots), urls.PAGES_INDEX))
    splitter = _Splitter()
    upper = splitter.split(tree.roots)
    return AllPages(upper, tuple(splitter.parts), splitter.page_of)


def _keys(nodes: Sequence[Node]) -> Iterator[str]:
    for node in nodes:
        yield node.key
        yield from _keys(node.children)


class _Splitter:
    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.page_of: dict[str, str] = {}

    def split(self, nodes: Sequence[Node]) -> tuple[Upper, ...]:
        """Return the nodes as entries of the overview, in order; small ones are gathered into parts."""
        steps: list[Upper] = []
        gathered: list[Node] = []
        for node in nodes:
            if gathered and sum(each.size for each in gathered) + max(node.size, 1) > NODES_PER_PAGE:
                steps.append(self._part(gathered))
                gathered = []
            if node.size > NODES_PER_PAGE:
                self.page_of[node.key] = urls.PAGES_INDEX
                steps.append(Upper(node, self.split(node.children), None))
            else:
                gathered.append(node)
        if gathered:
            steps.append(self._part(gathered))
        return tuple(steps)

    def _part(self, nodes: Sequence[Node]) -> Upper:
        page = f"_pages/part-{len(self.parts) + 1}.html"
        label = nodes[0].label if len(nodes) == 1 else f"{nodes[0].label} – {nodes[-1].label}"
        part = Part(page, label, tuple(nodes), sum(node.size for node in nodes))
        self.parts.append(part)
        self.page_of.update(dict.fromkeys(_keys(nodes), page))
        return Upper(None, (), part)
