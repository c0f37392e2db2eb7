"""A document's text as markdown, for programs: as it was written, or as its headings and code mark it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress

from .errors import RejectedDocument

_TITLE = re.compile(r"\s*(#\s|[^\n]+\n=+\s*\n)")
# Where a section's text begins, and its level; a code block's language, and its byte range.
Heading = tuple[int, int]
CodeBlock = tuple[str, int, int]


def document_markdown(
    text: str, syntax: str, title: str, headings: Iterable[Heading], code: Iterable[CodeBlock]
) -> str:
    """Return a document as written, without front matter, or an HTML document's marked-up text."""
    if syntax == "markdown":
        from .parse.front_matter import read_front_matter  # and with it every parser: 0.2 s

        with suppress(RejectedDocument):  # then its page shows all of it as well
            text = text[read_front_matter(text, title).end :]
    elif syntax == "html":
        text = marked_up(text, headings, code)
    heading = "" if _TITLE.match(text) else f"# {' '.join(title.split())}\n\n"
    return f"{heading}{text.strip()}\n"


def marked_up(text: str, headings: Iterable[Heading], code: Iterable[CodeBlock]) -> str:
    """Return the text of an HTML document with its headings and code blocks marked as in markdown."""
    content = text.encode()
    marks: list[tuple[int, str]] = []
    for start, level in headings:
        line = content.rfind(b"\n", 0, max(start - 1, 0)) + 1
        marks.append((line, "#" * max(level, 1) + " "))
    for language, start, end in code:
        ending = "```\n" if content[end - 1 : end] == b"\n" else "\n```\n"
        marks += [(start, f"```{language}\n"), (end, ending)]
    pieces, at = [], 0
    for place, mark in sorted(marks, key=lambda each: each[0]):
        pieces += [content[at:place].decode(errors="replace"), mark]
        at = max(at, place)
    return "".join([*pieces, content[at:].decode(errors="replace")])
