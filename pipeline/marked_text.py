"""A document's text as markdown: as it was written, or with the marks that an HTML page's text has lost."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from .errors import RejectedDocument

_UNDERLINE = re.compile(rb"\s*(=+|-+)\s*")
_TITLE = re.compile(r"\s*(#\s|[^\n]+\n=+\s*\n)")


@dataclass(frozen=True, slots=True)
class HeadingMark:
    """A heading of a level above the text that begins at a byte."""

    byte_start: int
    level: int


@dataclass(frozen=True, slots=True)
class CodeMark:
    """A code block's language and the byte range of the text that it covers."""

    language: str
    byte_start: int
    byte_end: int


@dataclass(frozen=True, slots=True)
class MarkedText:
    """Markdown, and for each byte of the document's text its place in it."""

    text: str
    _content: bytes
    _bytes: tuple[int, ...]  # where each stretch of the content begins,
    _places: tuple[int, ...]  # and its first character in ``text``

    def place(self, byte: int) -> int:
        """Return the character of ``text`` at which a byte of the document stands, before any mark there."""
        at = max(0, bisect_right(self._bytes, byte - 1) - 1)
        start = min(self._bytes[at], byte)
        return self._places[at] + len(self._content[start:byte].decode(errors="replace"))

    def heading_place(self, byte: int) -> int:
        """Return where the heading begins above the text that begins at a byte."""
        line = _line_before(self._content, byte)
        if line and _UNDERLINE.fullmatch(self._content[line:byte]):
            line = _line_before(self._content, line)
        return self.place(line)


def document_markdown(
    text: str, syntax: str, title: str, headings: Sequence[HeadingMark], code: Sequence[CodeMark]
) -> str:
    """Return a document as written, without front matter, or an HTML document's marked-up text."""
    if syntax == "markdown":
        text = as_written(text, title).text
    elif syntax == "html":
        text = with_marks(text, headings, code).text
    heading = "" if _TITLE.match(text) else f"# {' '.join(title.split())}\n\n"
    return f"{heading}{text.strip()}\n"


def as_written(text: str, where: str) -> MarkedText:
    """Return a text without its front matter; what cannot be read as such stays."""
    from .parse.front_matter import read_front_matter  # and with it every parser: 0.2 s

    start = 0
    with suppress(RejectedDocument):  # then its page shows all of it as well
        start = read_front_matter(text, where).end
    content, begin = text.encode(), len(text[:start].encode())
    return MarkedText(text[start:], content, (begin,), (0,))


def with_marks(text: str, headings: Sequence[HeadingMark], code: Sequence[CodeMark]) -> MarkedText:
    """Return a text with ``#`` before headings and fences around code."""
    content = text.encode()
    marks = [(_line_before(content, each.byte_start), "#" * max(each.level, 1) + " ") for each in headings]
    for block in code:
        ending = "```\n" if content[block.byte_end - 1 : block.byte_end] == b"\n" else "\n```\n"
        marks += [(block.byte_start, f"```{block.language}\n"), (block.byte_end, ending)]
    pieces: list[str] = []
    starts, places, at, length = [0], [0], 0, 0
    for byte, mark in sorted(marks, key=lambda each: each[0]):
        piece = content[at:byte].decode(errors="replace")
        pieces += [piece, mark]
        length, at = length + len(piece) + len(mark), max(at, byte)
        starts.append(at)
        places.append(length)
    pieces.append(content[at:].decode(errors="replace"))
    return MarkedText("".join(pieces), content, tuple(starts), tuple(places))


def _line_before(content: bytes, byte: int) -> int:
    """Return where the line begins that ends just before a byte."""
    return content.rfind(b"\n", 0, max(byte - 1, 0)) + 1
