"""An include directive, and the part of a file that it asks for: lines by number, or between two marks."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

# Returns the chosen part of a file's text; raises ``NoSuchPart``.
Part = Callable[[str], str]

# What stands for the list of the pages below; what Docusaurus's ``<DocCardList />`` and shortcodes become.
PAGES_BELOW = "<!-- pages below -->"
# Ranges may overlap: a line of them could ask for a large file a thousand times.
_MAX_LINES, _MAX_DIGITS = 1_000_000, 9


class NoSuchPart(ValueError):
    """The file lacks what the directive asks for."""


def whole(text: str) -> str:
    """Return the text without its last line end."""
    return text.removesuffix("\n")


def as_it_is(text: str) -> str:
    """Return the text."""
    return text


@dataclass(frozen=True, slots=True)
class Directive:
    """A directive at ``[start, end)`` that is replaced by a part of the file ``target``.

    ``form`` puts the part into its final form, such as a code block; ``indent`` stands before each of its
    lines. Directives in the part are followed where it ``is_nested``. One that may be an example of itself
    stays as it is written where there is no such file.
    """

    start: int
    end: int
    target: str
    part: Part = whole
    form: Callable[[str], str] = as_it_is
    indent: str = ""
    is_nested: bool = False
    is_example: bool = False


# Returns the text of a file that an include directive may name; nothing if it may not or there is none.
ReadIncluded = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Composed:
    """A directive at ``[start, end)`` that is replaced by what is made of the file ``target`` and others.

    ``compose`` takes the file's text and what reads the others; ``indent`` stands before each line.
    """

    start: int
    end: int
    target: str
    compose: Callable[[str, ReadIncluded], str]
    indent: str = ""


@dataclass(frozen=True, slots=True)
class Literal:
    """A directive at ``[start, end)`` that names no file, and the text that takes its place.

    One that its author escaped stands for itself; a ``note`` says what is missing on the page.
    """

    start: int
    end: int
    text: str
    note: str = ""


def lines(spec: str, separator: str = ":", *, alone_to_end: bool = False) -> Part:
    """Return the part made of ranges of lines such as ``1:3,7`` or ``5:``, counted from 1, ends included.

    A number alone is one line, or, if ``alone_to_end``, all from there.
    """

    def part(text: str) -> str:
        found = text.splitlines()
        ranges = line_ranges(spec, separator, len(found), alone_to_end=alone_to_end)
        chosen = [line for first, last in ranges for line in found[max(first, 1) - 1 : last]]
        if not chosen and found:
            raise NoSuchPart(f"it has {len(found)} lines, none of which is in {spec!r}")
        return "\n".join(chosen)

    return part


def line_ranges(spec: str, separator: str, count: int, *, alone_to_end: bool) -> list[tuple[int, int]]:
    """Return the first and last line of each range in a file of ``count`` lines; raise ``NoSuchPart``."""
    given = (each for each in spec.split(",") if each.strip())
    found = [_line_range(each, separator, count, alone_to_end) for each in given]
    if sum(max(0, last - first + 1) for first, last in found) > _MAX_LINES:
        raise NoSuchPart(f"more than {_MAX_LINES:,} lines are asked for")
    return found


def _line_range(given: str, separator: str, count: int, alone_to_end: bool) -> tuple[int, int]:
    first, is_range, last = (each.strip() for each in given.partition(separator))
    if any(each and not (each.isdecimal() and len(each) <= _MAX_DIGITS) for each in (first, last)):
        raise NoSuchPart(f"{given!r:.80} is not a range of lines")
    start = int(first or 1)
    if last:
        return start, min(int(last), count)
    return start, count if is_range or alone_to_end else min(start, count)


def between(name: str, begins: str, ends: str, marks: str) -> Part:
    """Return the part between lines that match two patterns, each followed by the name; marks are left out.

    Several parts of one name are joined. ``marks`` matches every line that is a mark.
    """
    begin, end = (re.compile(rf"{pattern}{re.escape(name)}(?![\w-])") for pattern in (begins, ends))
    mark = re.compile(marks)

    def part(text: str) -> str:
        found, inside, seen = [], False, False
        for line in text.splitlines():
            if begin.search(line):
                inside = seen = True
            elif end.search(line):
                inside = False
            elif inside and not mark.search(line):
                found.append(line)
        if not seen:
            raise NoSuchPart(f"it has no part {name!r}")
        return "\n".join(found)

    return part


def dedented(text: str) -> str:
    """Return the text without the indentation that all its lines share."""
    widths = [len(line) - len(line.lstrip()) for line in text.splitlines() if line.strip()]
    cut = min(widths, default=0)
    return "\n".join(line[cut:] for line in text.splitlines())


def indented(text: str, by: str) -> str:
    """Return the text with every line but empty ones moved in."""
    return "\n".join(by + line if line.strip() else line for line in text.split("\n")) if by else text


# Stands where a tag of MDX was; no source contains this character.
TAG = "\0"
_ONLY_TAGS = re.compile(f"[ \t]*(?:{TAG}[ \t]*)+")
_LIST_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]{1,4}(?=\S)")


def without_tags(text: str) -> str:
    """Return the text without the marks of tags, and without the indentation of what stands in these.

    Markdown would take it for code. What stands in an item of a list stays in it.
    """
    kept, items = list[str](), list[int]()
    base, inside, tag_at, after_tag = 0, 0, 0, False
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip(" \t"))
        if _ONLY_TAGS.fullmatch(line):
            after_tag, tag_at = True, max(indent - base, min(indent, inside))
            kept.append("")
            continue
        if after_tag and line.strip():
            inside = max((item for item in items if item <= tag_at), default=0)
            base, after_tag = max(0, indent - inside), False
        kept.append(line[min(base, max(0, indent - inside)) :].replace(TAG, ""))
        if kept[-1].strip():
            items = _items_around(kept[-1], items)
            inside = max((item for item in items if item <= inside), default=0)
    return "\n".join(kept)


def _items_around(line: str, items: list[int]) -> list[int]:
    """Return where the texts begin of the list items that a line is in, those around first."""
    text = line.lstrip(" \t")
    indent = len(line) - len(text)
    around = [item for item in items if item <= indent]
    found = _LIST_ITEM.match(text)
    return [*around, indent + found.end()] if found else around
