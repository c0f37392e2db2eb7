"""Boxes that sites of Jekyll make of a paragraph or a quote with a class: ``{: .note }`` becomes a callout.

They are those of Just the Docs, with titles in ``_config.yml``, of Chirpy (``.prompt-tip``) and of Minimal
Mistakes (``.notice--info``). The attributes of any other block are the parser's to take away.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..fences import IndentedCode, code_of
from ..front_matter_blocks import text_start
from ..parts import Literal
from ..project import Context

MARKS = ("{: .", "{:.")

_LINE = re.compile(r"^(?P<indent>[ \t]*+)\{:[ \t]*+(?P<classes>\.[^{}\n]{1,300})\}[ \t]*+$", re.MULTILINE)
_CLASS = re.compile(r"\.(?:prompt-|notice--)?(?P<name>[\w-]{1,40})")
_KINDS = frozenset(["note", "tip", "important", "warning", "caution", "danger", "info", "success"])
_COLOURS = {"red": "danger", "yellow": "warning", "green": "tip", "blue": "note", "purple": "important"}
_OTHERS = {"notice": "note", "primary": "note"}
# What is no paragraph and no quote; a line of attributes is none either, nor a title with a line below it.
_NO_TEXT = re.compile(
    r"[ \t]*(?:[-*+][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t]|```|~~~|\||<|\{[:%]|:[ \t]|(?:-[ \t]*){3,}$)"
    r"|[^\n>]*\n[ ]{0,3}(?:=+|-+)[ \t]*$",
    re.MULTILINE,
)
_QUOTE = re.compile(r"[ \t]*>[ \t]?")
_MOST_LINES = 2_000


@dataclass(frozen=True, slots=True)
class _Box:
    kind: str
    title: str
    has_title_line: bool


def directives(text: str, context: Context) -> Iterator[Literal]:
    """Yield what makes callouts of the blocks that lines of classes belong to: the one above, else below."""
    given = context.project.site.get("callouts")
    own = given if isinstance(given, Mapping) else {}
    code, start, at = code_of(text), text_start(text), 0
    indented = IndentedCode(text, start)
    for found in _LINE.finditer(text, start):
        box = _box(found["classes"], own)
        mark = found.end("indent")
        if box is None or found.start() < at or code.hold(mark) or indented.hold(mark):
            continue
        line_end = min(found.end() + 1, len(text))
        span = _above(text, found.start(), max(start, at)) or _below(text, found.end())
        at = found.end() + 1
        if span is not None and not code.hold(span[0]):
            callout = [*_callout(text, *span, box)]
            if span[0] < found.start():  # the paragraph ends here
                yield from [*callout, Literal(found.start(), line_end, "\n")]
            else:
                yield from [Literal(found.start(), line_end, ""), *callout]
            at = max(span[1], at)


def _box(classes: str, own: Mapping[str, object]) -> _Box | None:
    """Return the box that one of the classes means; the site's own callouts come first."""
    for found in _CLASS.finditer(classes):
        name = found["name"]
        base = name.removesuffix("-title")
        given = own.get(base)
        table = given if isinstance(given, Mapping) else {}
        kind = base if base in _KINDS else _OTHERS.get(base) or _COLOURS.get(str(table.get("color")), "")
        title = table.get("title")
        if kind and (base in _KINDS or base in _OTHERS or title or base != name):
            return _Box(kind, title if isinstance(title, str) else "", base != name)
    return None


def _above(text: str, end: int, start: int) -> tuple[int, int] | None:
    """Return the paragraph or quote that ends right above a place, with its last line end."""
    begin = end
    for _ in range(_MOST_LINES):
        line = max(text.rfind("\n", start, max(begin - 1, start)) + 1, start)
        if line == begin or not text[line:begin].strip():
            break
        begin = line
    return (begin, end) if begin < end and not _NO_TEXT.match(text, begin) else None


def _below(text: str, end: int) -> tuple[int, int] | None:
    """Return the paragraph or quote that begins on the line after a place, with its last line end."""
    begin = at = min(end + 1, len(text))
    if _NO_TEXT.match(text, begin):
        return None
    for _ in range(_MOST_LINES):
        line_end = text.find("\n", at)
        line_end = len(text) if line_end < 0 else line_end + 1
        if not text[at:line_end].strip():
            break
        at = line_end
    return (begin, at) if at > begin else None


def _callout(text: str, begin: int, end: int, box: _Box) -> Iterator[Literal]:
    """Yield the first line of a callout and, where the block is a paragraph, the marks of a quote."""
    lines = text[begin:end].splitlines(keepends=True)
    quote, first = _QUOTE.match(lines[0]), lines[0]
    before = first[: len(first) - len(first.lstrip(" \t"))]
    if quote and box.has_title_line:
        title = first[quote.end() :].rstrip("\n")
        yield Literal(begin, begin + len(first), f"{before}> [!{box.kind}] {title}\n")
        return
    yield Literal(begin, begin, f"{before}> [!{box.kind}]{f' {box.title}' if box.title else ''}\n")
    if quote is None:
        yield from _marked(lines, begin, len(before))


def _marked(lines: list[str], at: int, indent: int) -> Iterator[Literal]:
    """Yield the mark of a quote in each line, as far in as the first, which may be in an item of a list."""
    for line in lines:
        begin = at + min(indent, len(line) - len(line.lstrip(" \t")))
        yield Literal(begin, begin, "> ")
        at += len(line)
