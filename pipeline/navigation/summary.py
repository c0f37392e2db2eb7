"""``SUMMARY.md``, as mdBook and GitBook read it: chapters in lists, and titles of parts above them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from markdown_it.common.utils import unescapeAll

from .entry import Bounded, Contents, NavEntry

NAME = "SUMMARY.md"
# A chapter with its depth, or one without a list, before and after the numbered ones.
_CHAPTER = re.compile(
    r"^(?P<indent>[ \t]*)(?P<mark>[-*+][ \t]+)?\[(?P<title>[^\[\]\n]*)\]\((?P<target>[^()\s]*)\)[ \t]*$"
)
_SECTION = re.compile(r"^(?P<indent>[ \t]*)[-*+][ \t]+(?P<title>[^\s\[][^\n]*)$")
_WILDCARD = re.compile(r"^(?P<indent>[ \t]*)[-*+][ \t]+(?P<folder>[^\s*]*/)?\*(?:\.md)?[ \t]*$")
_PART = re.compile(r"^#[ \t]+(?P<title>[^\n]*)$")
_CODE = re.compile(r"`([^`]*)`")
_EMPHASIS = re.compile(r"(?<![\w*_\\])(\*\*|__|\*|_)(?=\S)([^*_]*[^\s*_\\])\1(?![\w*_])")
# Above all lists: the title of a part, or a chapter before or after the numbered ones.
_WHOLE_LINE = -1


@dataclass(slots=True)
class _Draft:
    depth: int
    title: str
    target: str
    is_open: bool = True
    children: list[_Draft] = field(default_factory=list)

    def entry(self) -> NavEntry:
        return NavEntry(self.title, self.target, tuple(child.entry() for child in self.children))


def read_summary(text: str) -> Contents:
    """Return the chapters of the table of contents, nested; the first heading is its own title."""
    bounded, top = Bounded(), _Draft(-2, "", "")
    above = [top]
    for draft in _drafts(text):
        while above[-1].depth >= draft.depth:
            above.pop()
        if bounded.admits(len(above) - 1):
            above[-1].children.append(draft)
            above += [draft] * draft.is_open
    return bounded.contents(top.entry().children)


def _drafts(text: str) -> Iterator[_Draft]:
    is_first = True
    for line in text.splitlines():
        if part := _PART.match(line):
            if not is_first:
                yield _Draft(_WHOLE_LINE, _plain(part["title"].rstrip(" \t#")), "")
        elif found := _CHAPTER.match(line):
            depth = _depth(found) if found["mark"] else _WHOLE_LINE
            yield _Draft(depth, _plain(found["title"]), found["target"], is_open=bool(found["mark"]))
        elif found := _WILDCARD.match(line):
            yield _Draft(_depth(found), "", f"{found['folder'] or ''}**")
        elif found := _SECTION.match(line):
            yield _Draft(_depth(found), _plain(found["title"]), "")
        is_first = is_first and not line.strip()


def _depth(found: re.Match[str]) -> int:
    return len(found["indent"].expandtabs(4))


def _plain(title: str) -> str:
    """Return the title as its reader sees it: without the marks of code and emphasis, and escaped signs."""
    parts = _CODE.split(title)
    plain = (part if at % 2 else unescapeAll(_EMPHASIS.sub(r"\2", part)) for at, part in enumerate(parts))
    return " ".join("".join(plain).split())
