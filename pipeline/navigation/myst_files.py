"""Tables of contents of the tools of MyST: ``_toc.yml`` of Jupyter Book and Sphinx, and ``myst.yml``."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..untrusted import NotRead, as_text, read_yaml
from .entry import REST, Bounded, Contents, NavEntry

_PATTERNS = ("glob", "pattern")
_TARGETS = ("file", "url", *_PATTERNS)
# Lists of lists, each under a caption of its own, and lists of entries.
_PARTS, _ENTRIES = ("parts", "subtrees"), ("entries", "items", "chapters", "sections", "children")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+:", re.IGNORECASE)
_ENDING = re.compile(r"\.(?:md|rst|ipynb|txt|tex)$")
_DOT = re.compile(r"\.")


def read_toc(text: str) -> Contents:
    """Return what ``_toc.yml`` lists, its root first; raise ``NotRead``.

    Before it had formats, Jupyter Book's was a list of which the first entry is the root.
    """
    given = read_yaml(text)
    bounded = Bounded()
    if isinstance(given, list):
        return bounded.contents([*_entries(given, bounded, 0)])
    if not isinstance(given, dict):
        raise NotRead("not a table of contents")
    root = [NavEntry("", given["root"])] if isinstance(given.get("root"), str) else []
    return bounded.contents([*root, *_below(given, bounded, 0)])


def read_myst(text: str) -> Contents:
    """Return ``project.toc`` of ``myst.yml``; raise ``NotRead``."""
    return myst_contents(read_yaml(text))


def myst_contents(given: object, with_hidden: bool = False) -> Contents:
    """Return ``project.toc`` of the values of ``myst.yml``, with the entries that it hides if asked."""
    project = given.get("project") if isinstance(given, dict) else None
    bounded = Bounded()
    toc = project.get("toc") if isinstance(project, dict) else ()
    return bounded.contents([*_entries(toc, bounded, 0, with_hidden)])


def _below(
    given: Mapping[str, Any], bounded: Bounded, depth: int, with_hidden: bool = False
) -> Iterator[NavEntry]:
    for key in _PARTS:
        for part in given[key] if isinstance(given.get(key), list) else ():
            if isinstance(part, dict) and bounded.admits(depth):
                caption, inner = (
                    _text(part.get("caption")),
                    tuple(_below(part, bounded, depth + 1, with_hidden)),
                )
                yield from [NavEntry(caption, "", inner)] if caption else inner
    for key in _ENTRIES:
        yield from _entries(given.get(key), bounded, depth, with_hidden)


def _entries(given: object, bounded: Bounded, depth: int, with_hidden: bool = False) -> Iterator[NavEntry]:
    for each in given if isinstance(given, list) else ():
        if not isinstance(each, dict) or (each.get("hidden") is True and not with_hidden):
            continue
        if not bounded.admits(depth):
            return
        target = next((_text(each[key]) for key in _TARGETS if each.get(key)), "")
        if any(each.get(key) for key in _PATTERNS):
            target = f"{folder}/{REST}" if (folder := target.rpartition("/")[0]) else REST
        title = _text(each.get("title") or each.get("part") or each.get("header"))
        children = tuple(_below(each, bounded, depth + 1, with_hidden))
        if title or target or children:
            yield NavEntry(title, target, children)


@dataclass(frozen=True, slots=True)
class NamedDocuments:
    """The documents that contents name: paths without their endings, and folders of which they name all."""

    stems: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset()

    def hold(self, path: str) -> bool:
        """Return whether they name the document at a path below the folder of the contents."""
        folder, _, _ = path.rpartition("/")
        first = len(folder) + 1 if folder else 0
        stems = (path[: found.start()] for found in _DOT.finditer(path, first))
        return not self.stems.isdisjoint(stems) or not self.folders.isdisjoint(_upwards(folder))

    def reach(self, folder: str) -> bool:
        """Return whether they name a document in a folder below that of the contents, empty for that one."""
        inside = f"{folder}/" if folder else ""
        named = (*self.stems, *(f"{each}/" for each in self.folders))
        return any(each.startswith(inside) for each in named) or not self.folders.isdisjoint(_upwards(folder))


NONE_NAMED = NamedDocuments()


def named_documents(contents: Contents) -> NamedDocuments:
    """Return the documents that the contents name."""
    stems, folders, pending = set[str](), set[str](), list(contents.entries)
    while pending:
        entry = pending.pop()
        pending += entry.children
        if entry.target.endswith(REST):
            folders.add(_normal(entry.target.removesuffix(REST)))
        elif entry.target and not _ADDRESS.match(entry.target):
            stems.add(_normal(_ENDING.sub("", entry.target)))
    return NamedDocuments(frozenset(stems), frozenset(folders))


def _normal(path: str) -> str:
    normal = posixpath.normpath(path.strip("/") or ".")
    return "" if normal == "." else normal


def _upwards(folder: str) -> Iterator[str]:
    """Yield a folder and all above it, of which the last is empty."""
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]
    yield ""


def _text(value: object) -> str:
    return " ".join((as_text(value) or "").split())
