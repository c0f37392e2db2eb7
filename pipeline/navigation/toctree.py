"""Sphinx's ``toctree``, in MyST's markdown as written and in what a reStructuredText document became."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

from .entry import MAX_ENTRIES, REST, NavEntry

# What the parser of reStructuredText gives the list that a toctree becomes.
CLASS = "toctree"
# One that the author hid is on no page; its caption and titles are attributes, which no search finds.
HIDDEN = f"{CLASS} {CLASS}-hidden"
OPENING = f'<ul class="{CLASS}'

_LIST = re.compile(
    rf'(?:<p><strong>([^<]*)</strong></p>)?<ul class="(?:{CLASS}|{HIDDEN})"(?: title="([^"]*)")?>(.*?)</ul>',
    re.DOTALL,
)
_HIDDEN = re.compile(rf'<ul class="{HIDDEN}".*?</ul>', re.DOTALL)
_ITEM = re.compile(
    r'<li><p>(?:<a(?: class="[^"]*")? href="([^"]*)"[^>]*?(?: title="([^"]*)"[^>]*)?>([^<]*)</a>'
    r"|([^<]*))</p></li>"
)
_MYST = re.compile(
    r"^(?P<fence>`{3,}|:{3,})\{toctree\}[ \t]*\n(?P<body>(?:(?!(?P=fence))[^\n]*\n)*)", re.MULTILINE
)
_OPTION = re.compile(r":([\w-]+):[ \t]*(.*)")
_TITLED = re.compile(r"([^<>]+)<([^<>]+)>")


def toctrees(text: str, html: str) -> Iterator[NavEntry]:
    """Yield a heading without a title, or with the caption, for each table of contents in a document."""
    if OPENING in html:
        for caption, unseen, items in _LIST.findall(html):
            found = (_ITEM.findall(items))[:MAX_ENTRIES]
            entries = tuple(_of_item(*map(unescape, item)) for item in found)
            yield NavEntry(unescape(caption or unseen).strip(), "", entries)
    if "{toctree}" in text and not html:
        for tree in _MYST.finditer(text):
            yield _of_myst(tree["body"])


def without_hidden(html: str) -> str:
    """Return the HTML of a document without the tables of contents that its author hid."""
    return _HIDDEN.sub("", html) if HIDDEN in html else html


def _of_item(target: str, unseen: str, shown: str, pattern: str) -> NavEntry:
    if pattern:
        return NavEntry("", _pattern(pattern))
    title = shown or unseen
    return NavEntry("" if title in (target, "") else title, target)


def _of_myst(body: str) -> NavEntry:
    caption, entries = "", list[NavEntry]()
    for line in map(str.strip, body.splitlines()[:MAX_ENTRIES]):
        if option := _OPTION.fullmatch(line):
            caption = option[2].strip() if option[1] == "caption" else caption
        elif titled := _TITLED.fullmatch(line):
            entries.append(NavEntry(titled[1].strip(), titled[2].strip()))
        elif line and line != "self" and not line.startswith(("---", "caption:", "maxdepth:", "hidden:")):
            entries.append(NavEntry("", _pattern(line) if "*" in line else line))
    return NavEntry(caption, "", tuple(entries))


def _pattern(pattern: str) -> str:
    """Return all of the folder that a pattern of ``:glob:`` names."""
    folder = pattern.rpartition("/")[0]
    return f"{folder}/{REST}" if folder else REST
