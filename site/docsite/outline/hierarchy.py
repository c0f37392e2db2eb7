"""The tree of pages before it is shown: folders, dotted names, parents in front matter, tables of contents.

A folder and a page of its name are one node. In a vault of Dendron a dot nests as a slash does. Within a
folder, pages are in the order that their front matter asks for, then by file name, with digits compared as
numbers. What a table of contents lists comes first, as it nests and names it.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ...pipeline.navigation.entry import REST, FolderEntry
from .. import urls
from ..library import Entry
from ..placement import NO_ORDER
from .blogs import Blogs
from .contents import Item, SiteContents, without_number
from .navigation import Node, Tree, told_apart, tree_of
from .places import dotted_folders, is_index, parents_of, place_of

_NO_BLOGS = Blogs()
_NUMBERS = re.compile(r"([0-9]+)")
# What stands for a space in a name without any; between digits it does not: 2024-05-01.
_JOINT = re.compile(r"(?<!\d)[-_]|[-_](?!\d)")
# Each level is a call of the template within the one above.
MAX_LEVELS = 40


@dataclass(slots=True)
class _Draft:
    key: str
    entry: Entry | None = None
    children: dict[str, _Draft] = field(default_factory=dict)
    title: str = ""
    number: float = NO_ORDER
    numbered: bool = False
    order: float = NO_ORDER
    url: str = ""
    listed: bool = False


def build_tree(
    entries: Sequence[Entry], contents: SiteContents | None = None, blogs: Blogs = _NO_BLOGS
) -> Tree:
    """Build the tree of all pages; several collections are its first level, each under its own name."""
    contents = contents or SiteContents()
    several = len({entry.collection for entry in entries}) > 1
    root = _Draft("")
    hidden = contents.hidden | {
        entry.page
        for entry in entries
        if entry.placement.hidden or entry.placement.moved_to or not entry.shown.listed
    }
    shown = [entry for entry in entries if entry.page not in hidden]
    builder = _Builder(root, shown, several, blogs)
    for name in sorted({entry.collection for entry in entries}):
        builder.collection(name, contents)
    _flatten(root)
    roots = _children(root, "")
    if root.entry is not None:
        title = root.title or root.entry.placement.label or root.entry.title
        roots = (Node("", title, root.entry.page, (), 1), *roots)
    # The page of a missing one and those that only lead elsewhere are made in other ways.
    left = (
        e.page for e in entries if e.page in hidden and e.page != urls.NOT_FOUND and not e.placement.moved_to
    )
    return tree_of(roots, tuple(sorted(left)))


class _Builder:
    def __init__(self, root: _Draft, shown: list[Entry], several: bool, blogs: Blogs) -> None:
        self._root, self._shown, self._several, self._blogs = root, shown, several, blogs
        self._dotted = dotted_folders(self._shown)

    def collection(self, name: str, contents: SiteContents) -> None:
        """Add the pages of one collection."""
        entries = [entry for entry in self._shown if entry.collection == name]
        top = self._root.children.setdefault(name, _Draft(name)) if self._several else self._root
        items = contents.items.get(name, ())
        listed = {entry.page for entry in _listed(items)}
        above = parents_of([entry for entry in entries if entry.page not in listed])
        drafts: dict[str, _Draft] = {}
        for entry in sorted(entries, key=lambda e: (not is_index(e), e.page)):
            if entry.page not in listed and entry.page not in above:
                drafts[entry.page] = self._insert(entry)
        drafts |= {page: _Draft(page.removesuffix(".html"), entry) for page, (entry, _) in above.items()}
        for page, (_, parent) in above.items():
            drafts[parent.page].children[f"{page}/"] = drafts[page]
        for (collection, path), folder in contents.folders.items():
            if collection == name:
                _describe(top, path, folder)
        _Lister(top).add(items, top)

    def _insert(self, entry: Entry) -> _Draft:
        """Add a page below the folders of its path; return its node."""
        place = place_of(entry)
        *folders, name = place.split("/")
        numbered = place != (entry.place or entry.page)
        node = self._root
        for folder in folders:
            node = node.children.setdefault(folder, _Draft(folder, numbered=numbered))
        if is_index(entry):
            node.entry = entry
            return node
        stem = name.removesuffix(".html")
        if "." in stem and (entry.collection, posixpath.dirname(entry.path)) in self._dotted:
            *above, stem = filter(None, stem.split("."))
            for folder in above:
                node = node.children.setdefault(folder, _Draft(folder))
        child = node.children.get(stem)
        if child is not None and child.entry is not None:
            # The folder of this name has an index page of its own: two nodes.
            child = node.children.setdefault(f"{entry.page}/", _Draft(stem))
        child = child or node.children.setdefault(stem, _Draft(stem, numbered=numbered))
        child.entry = entry
        if (order := self._blogs.order(entry.page)) is not None:  # the newest first
            child.order = order
        return child


def _listed(items: Sequence[Item]) -> Iterator[Entry]:
    for item in items:
        if item.entry is not None:
            yield item.entry
        yield from _listed(item.children)


def _describe(top: _Draft, path: str, folder: FolderEntry) -> None:
    """Give a folder the title, the place and the order that a file in it asks for."""
    draft = _at(top, path)
    if draft is None:
        return
    draft.title, draft.order = folder.title or draft.title, folder.order
    if folder.page != "":
        _choose_page(draft, folder.page)
    named = {posixpath.splitext(posixpath.basename(entry.target))[0]: entry for entry in folder.entries}
    for number, (name, entry) in enumerate(named.items()):
        if name == REST:
            for key in draft.children.keys() - named.keys():
                draft.children[key].number = number
        elif (child := draft.children.get(name)) is not None:
            child.number, child.title = number, entry.title or child.title


def _choose_page(draft: _Draft, name: str | None) -> None:
    """Let a page in a folder stand for it, or none, and its index be a page like the others in it."""
    chosen = next((each for each in draft.children.values() if name and _has_name(each.entry, name)), None)
    if chosen is None and name is not None:
        return
    own, draft.entry = draft.entry, None
    if own is not None:
        draft.children[f"{own.page}/"] = _Draft(_stem(own.page), own)
    if chosen is not None:
        draft.entry, chosen.entry = chosen.entry, None


def _has_name(entry: Entry | None, name: str) -> bool:
    stem = posixpath.splitext(posixpath.basename(entry.path))[0] if entry else ""
    own = posixpath.basename(name)
    return entry is not None and own in (stem, without_number(stem), entry.placement.name)


def _at(top: _Draft, path: str) -> _Draft | None:
    draft: _Draft | None = top
    for name in filter(None, path.split("/")):
        draft = draft.children.get(name) if draft is not None else None
    return draft


class _Lister:
    """Adds the items of a table of contents, numbered in order, below the top of a collection."""

    def __init__(self, top: _Draft) -> None:
        self._top, self._number = top, 0

    def add(self, items: Sequence[Item], above: _Draft) -> None:
        """Add these items and what is below them."""
        for item in items:
            if item.folder is not None:
                self._add_folder(item.folder, above)
                continue
            entry = item.entry if item.entry and item.entry.shown.listed else None
            name = entry.page if entry else f"{item.url or item.title}-{self._number}"
            # A folder may have the name of a chapter, which is another node.
            draft = above.children[f"{name}/"] = _Draft(
                name.removesuffix(".html"),
                entry,
                {},
                item.title,
                self._next(),
                url=item.url,
                listed=True,
            )
            self.add(item.children, draft)

    def _add_folder(self, path: str, above: _Draft) -> None:
        """Move what is left in a folder to this place."""
        folder = _at(self._top, path)
        if folder is None or (folder is above and folder is not self._top):
            return
        left = sorted((draft for draft in folder.children.values() if not draft.listed), key=_sort_key)
        if folder is not self._top and folder.entry is not None:
            left.insert(0, _Draft(folder.key, folder.entry))
            folder.entry = None
        for draft in left:
            folder.children = {key: each for key, each in folder.children.items() if each is not draft}
            draft.number, draft.listed = self._next(), True
            above.children[f"{path}/{draft.key}/{draft.number}"] = draft

    def _next(self) -> int:
        self._number += 1
        return self._number


def _flatten(root: _Draft) -> None:
    """Hang what lies deeper than ``MAX_LEVELS`` directly below the node at that level."""
    lowest = [root]
    for _ in range(MAX_LEVELS):
        lowest = [child for draft in lowest for child in draft.children.values()]
    for draft in lowest:
        pending, draft.children = [*draft.children.values()], {}
        while pending:
            child = pending.pop()
            pending += child.children.values()
            child.children = {}
            draft.children[f"{child.key}/{len(draft.children)}"] = child


def _children(draft: _Draft, path: str) -> tuple[Node, ...]:
    pairs = sorted(draft.children.items(), key=lambda pair: _sort_key(pair[1]))
    count = Counter(_label(child) for _, child in pairs)
    nodes = [
        _frozen(child, name, path, count[_label(child)] > 1 and not child.title) for name, child in pairs
    ]
    return told_apart([node for node in nodes if node.size or node.url])


def _frozen(draft: _Draft, name: str, path: str, is_shared: bool) -> Node:
    """Return the node of a draft, by its title if its name in the navigation ``is_shared`` with siblings."""
    key = f"{path}/{name.rstrip('/')}" if path else name.rstrip("/")
    children, page = _children(draft, key), draft.entry.page if draft.entry else None
    size = sum(child.size for child in children) + (page is not None)
    title = draft.entry.title if is_shared and draft.entry and draft.entry.placement.label else ""
    return Node(key, title or _label(draft), page, children, size, draft.url)


def _label(draft: _Draft) -> str:
    if draft.title:
        return draft.title
    if (entry := draft.entry) is not None:
        placement = entry.placement
        if placement.label or placement.is_titled or entry.title != _stem(place_of(entry)):
            return placement.label or entry.title
    name = draft.key.rsplit("/", 1)[-1]
    plain = without_number(name)
    return (plain if " " in name else _JOINT.sub(" ", plain)).strip() or draft.key


def _stem(page: str) -> str:
    return page.rsplit("/", 1)[-1].removesuffix(".html")


def _sort_key(draft: _Draft) -> tuple[float, float, tuple[tuple[int, int, str], ...], str]:
    parts = _NUMBERS.split(draft.key.casefold())
    natural = tuple((0, int(p), "") if p.isascii() and p.isdigit() else (1, 0, p) for p in parts if p)
    asked = min(draft.order, draft.entry.placement.order if draft.entry else NO_ORDER)
    if draft.numbered and asked == NO_ORDER and natural[0][0] == 0:
        asked = natural[0][1]
    return (draft.number, asked, natural, draft.key)
