"""The table of contents that a book brings along: ``SUMMARY.md``, as mdBook and GitBook read it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..library import Entry, Library

SUMMARY = "SUMMARY.md"
# A chapter with its depth, or one without a list, before and after the numbered ones.
_CHAPTER = re.compile(
    r"^(?P<indent>[ \t]*)(?:[-*+][ \t]+)?\[(?P<title>[^\[\]\n]*)\]\((?P<target>[^()\s]*)\)[ \t]*$"
)
_CODE = re.compile(r"`([^`]*)`")


@dataclass(frozen=True, slots=True)
class Chapter:
    """A page's place in a table of contents: its number, its title there, and the page above it."""

    number: int
    title: str
    parent: str | None


def chapters(library: Library) -> Mapping[str, Chapter]:
    """Return the place of every page that a table of contents lists, by the page; the first one counts."""
    found: dict[str, Chapter] = {}
    for entry in library.entries:
        if entry.path == SUMMARY:
            for page, chapter in _listed(library, entry):
                found.setdefault(page, chapter)
    return found


def _listed(library: Library, summary: Entry) -> Iterator[tuple[str, Chapter]]:
    entries = {row.target: library.by_id.get(row.target_id or "") for row in library.links(summary)}
    above: list[tuple[int, str]] = []
    for number, (depth, title, target) in enumerate(_lines(library.text(summary))):
        entry = entries.get(target)
        while above and above[-1][0] >= depth:
            above.pop()
        if entry is None or entry is summary:
            continue
        yield entry.page, Chapter(number, title or entry.title, above[-1][1] if above else None)
        above.append((depth, entry.page))


def _lines(text: str) -> Iterator[tuple[int, str, str]]:
    for line in text.splitlines():
        if found := _CHAPTER.match(line):
            depth = len(found["indent"].expandtabs(4))
            yield depth, _CODE.sub(r"\1", found["title"]).strip(), found["target"]
