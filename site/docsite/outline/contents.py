"""The tables of contents of a site: those that its settings name, and those among its documents."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from types import MappingProxyType

from ...pipeline.navigation.entry import REST, FolderEntry, NavEntry
from ...pipeline.navigation.summary import NAME, read_summary
from ...pipeline.navigation.toctree import toctrees
from ...pipeline.sanitize import is_outward
from .. import urls
from ..library import Entry, Library
from .declared import Declared

# Not the beginning of a day (2024-05-01), a version (1.2), a range (80-20) or a sentence (3 ways to sow).
_NUMBER = re.compile(r"^(?:[0-9]{1,3} ?[-_.]+|0[0-9]{0,2} ) *(?=[^\W\d])")
_WEB = ("https://", "http://", "mailto:")
_INDEXES = ("", "/index", "/readme", "/_index")


@dataclass(frozen=True, slots=True)
class Item:
    """A place in the table of contents: a page, an address elsewhere, a folder's pages, or a heading.

    ``folder`` is None unless all pages of a folder stand here.
    """

    title: str
    entry: Entry | None = None
    url: str = ""
    folder: str | None = None
    children: tuple[Item, ...] = ()


@dataclass(frozen=True, slots=True)
class SiteContents:
    """The items of each collection, what is said of its folders, by collection and path, and remarks.

    ``hidden`` are pages that are nothing but a table of contents, and those that it leaves out.
    """

    items: Mapping[str, tuple[Item, ...]] = field(default_factory=lambda: MappingProxyType({}))
    folders: Mapping[tuple[str, str], FolderEntry] = field(default_factory=lambda: MappingProxyType({}))
    hidden: frozenset[str] = frozenset()
    remarks: tuple[str, ...] = ()


def without_number(name: str) -> str:
    """Return a file's or folder's name without the number that only orders it: ``01-intro``, ``intro``."""
    return _NUMBER.sub("", name)


def contents_of(
    library: Library, declared: Mapping[str, Declared], blogs: Sequence[str] = ()
) -> SiteContents:
    """Return the table of contents of every collection that has one; a page's first place counts.

    What lies in the folders of ``blogs`` needs no place in any.
    """
    unplaced = tuple(f"{folder.strip('/.')}/".lstrip("/") for folder in blogs)
    by_collection: dict[str, list[Entry]] = {}
    for entry in library.entries:
        by_collection.setdefault(entry.collection, []).append(entry)
    items, folders, hidden, remarks = {}, {}, set[str](), list[str]()
    for name, entries in by_collection.items():
        given = declared.get(name, Declared())
        summary = next((entry for entry in entries if entry.path == NAME), None)
        found = (
            given.entries
            or given.summaries.get("")
            or (read_summary(library.text(summary)).entries if summary else _trees(library, entries))
        )
        found = tuple(_filled(found, dict(given.summaries))) if given.summaries else found
        is_declared = bool(given.entries or given.summaries.get(""))
        pages = _Pages(name, entries if found else (), unplaced, sections_are_pages=is_declared)
        items[name] = pages.items(found)
        if items[name] and (is_declared or summary):
            hidden |= pages.left_out(items[name])
        summaries = {posixpath.join(folder, NAME) for folder in given.summaries}
        hidden |= {entry.page for entry in entries if entry.path in summaries}
        for path, folder in given.folders.items():
            relative = tuple(_moved(each, path) for each in folder.entries)
            folders[name, path] = replace(folder, entries=relative)
        remarks += [*given.remarks, *pages.remarks()]
    return SiteContents(items, folders, frozenset(hidden), tuple(remarks))


def _trees(library: Library, entries: Sequence[Entry]) -> tuple[NavEntry, ...]:
    """Return what the toctrees of Sphinx say, from the root document down."""
    found: dict[str, tuple[NavEntry, ...]] = {}
    for row in library.rows_with_toctree():
        entry = library.entries[row]
        if entry.collection != entries[0].collection:
            continue
        folder, stem = posixpath.dirname(entry.path), posixpath.splitext(entry.path)[0]
        trees = toctrees(library.text(entry), library.html(entry))
        found[stem] = tuple(_moved(tree, folder) for tree in trees)
    root = next((stem for stem in ("index", "contents", "README") if stem in found), None)
    return tuple(_grown(found.pop(root), found)) if root is not None else ()


def _grown(trees: Iterable[NavEntry], found: dict[str, tuple[NavEntry, ...]]) -> Iterator[NavEntry]:
    """Yield the entries of these toctrees with those of the documents they name; each document once."""
    for tree in trees:
        below = []
        for each in tree.children:
            inner = found.pop(posixpath.splitext(each.target)[0] if "." in each.target else each.target, ())
            below.append(NavEntry(each.title, each.target, tuple(_grown(inner, found))) if inner else each)
        if tree.title:
            yield NavEntry(tree.title, "", tuple(below))
        else:
            yield from below


def _filled(entries: Iterable[NavEntry], unused: dict[str, tuple[NavEntry, ...]]) -> Iterator[NavEntry]:
    """Yield the entries with those of a folder's own summary in its first place, and take it from ``unused``.

    Summaries may name each other's folders: once each is enough, since a page's first place counts.
    """
    for entry in entries:
        folder = entry.target.removesuffix(f"/{REST}") if entry.target.endswith(f"/{REST}") else ""
        if not folder or folder not in unused:
            yield NavEntry(entry.title, entry.target, tuple(_filled(entry.children, unused)))
            continue
        own = unused.pop(folder)
        below = tuple(_filled((_moved(each, folder) for each in own), unused))
        if entry.title:
            yield NavEntry(entry.title, "", below)
        else:
            yield from below


def _moved(entry: NavEntry, folder: str) -> NavEntry:
    """Return the entry with its target, written in a file of this folder, as a path in the collection."""
    target = entry.target
    if target and not is_outward(target):
        joined = target[1:] if target.startswith("/") else posixpath.join(folder, target)
        target = posixpath.normpath(joined) if joined else ""
    return NavEntry(entry.title, target, tuple(_moved(child, folder) for child in entry.children))


class _Pages:
    """The documents of a collection, by every spelling of their paths; each is given out once.

    ``sections_are_pages`` tells that a section which begins with its index page is one with it.
    """

    def __init__(
        self, name: str, entries: Sequence[Entry], unplaced: tuple[str, ...], *, sections_are_pages: bool
    ) -> None:
        self._name, self._unplaced, self._sections_are_pages = name, unplaced, sections_are_pages
        self._paths = {entry.path: entry for entry in entries}
        stems = ((posixpath.splitext(entry.path)[0], entry) for entry in entries)
        self._stems: dict[str, Entry] = {}
        self._plain: dict[str, Entry] = {}
        for stem, entry in stems:
            self._stems.setdefault(stem.lower(), entry)
            self._plain.setdefault("/".join(map(without_number, stem.lower().split("/"))), entry)
        for entry in entries:  # as Docusaurus's sidebars name them, and Starlight's
            folder, place = posixpath.dirname(entry.path), entry.placement
            for also in filter(None, (posixpath.join(folder, place.name), place.slug.strip("/"))):
                self._plain.setdefault(also.lower(), entry)
        self._given = {NAME}  # names itself at most by mistake
        self._missing: list[str] = []
        self._again: list[str] = []
        self._unnamed: list[str] = []

    def items(self, entries: Iterable[NavEntry]) -> tuple[Item, ...]:
        """Return the entries with their pages; what leads nowhere is left out, what is below it is not."""
        return tuple(chain.from_iterable(map(self._item, entries)))

    def _item(self, entry: NavEntry) -> Iterator[Item]:
        target = entry.target
        if is_outward(target) and not target.startswith(_WEB):
            yield from self.items(entry.children)
            return
        if is_outward(target):
            yield Item(entry.title or target, url=target, children=self.items(entry.children))
            return
        if target == REST or target.endswith(f"/{REST}"):
            yield Item(entry.title, folder=target.removesuffix(REST).strip("/"))
            return
        found, children = self._page(target) if target else None, entry.children
        if self._sections_are_pages and not target and children and _is_index(children[0]):
            found = self._page(children[0].target)
            children = children[1:] if found else children
        below = self.items(children)
        if found is not None or (below and (entry.title or not target)):
            yield Item(entry.title, found, children=below)
        else:
            yield from below

    def _page(self, target: str) -> Entry | None:
        path = posixpath.normpath(target.partition("#")[0].partition("?")[0].strip("/") or ".")
        found = self._found("" if path == "." else path)
        if found is None:
            self._missing.append(target)
        elif found.path in self._given:
            self._again.append(target)
            return None
        else:
            self._given.add(found.path)
        return found

    def _found(self, path: str) -> Entry | None:
        if path in self._paths:
            return self._paths[path]
        lowered = path.lower()
        stem, ending = posixpath.splitext(lowered)
        names = (lowered, stem) if ending in (".md", ".html", ".htm", ".mdx", ".qmd", ".rst") else (lowered,)
        for known in (self._stems, self._plain):
            for name in names:
                for index in _INDEXES:
                    if (found := known.get((name + index).lstrip("/"))) is not None:
                        return found
        return None

    def left_out(self, items: Sequence[Item]) -> set[str]:
        """Return the pages that these items do not name, as they are in no navigation of the tool's own."""
        folders = tuple(f"{folder}/".lstrip("/") for folder in _folders(items))
        left = [
            entry
            for path, entry in self._paths.items()
            if path not in self._given and entry.page != urls.HOME and not path.startswith(folders)
        ]
        self._unnamed += [
            entry.path
            for entry in left
            if not entry.placement.hidden and entry.shown.listed and not entry.page.startswith(self._unplaced)
        ]
        return {entry.page for entry in left} | ({self._paths[NAME].page} if NAME in self._paths else set())

    def remarks(self) -> Iterator[str]:
        """Yield what was wrong with the entries."""
        said = (
            ("names no document", self._missing),
            ("stands there twice", self._again),
            ("is not named there, so it is not in the tree", self._unnamed),
        )
        for what, names in said:
            if names:
                more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
                yield f"collection {self._name}, navigation: {', '.join(names[:5])!s:.300}{more} {what}"


def _folders(items: Iterable[Item]) -> Iterator[str]:
    for item in items:
        if item.folder is not None:
            yield item.folder
        yield from _folders(item.children)


def _is_index(entry: NavEntry) -> bool:
    stem = posixpath.splitext(posixpath.basename(entry.target))[0].lower()
    return stem in ("index", "readme", "_index") and not entry.children
