"""A document's text as markdown, for programs: as it was written, or as its headings and code mark it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .marked_text import CodeMark, HeadingMark, as_written, with_marks

_TITLE = re.compile(r"\s*(#\s|[^\n]+\n=+\s*\n)")
# Where a section's text begins, and its level; a code block's language, and its byte range.
Heading = tuple[int, int]
CodeBlock = tuple[str, int, int]


def document_markdown(
    text: str, syntax: str, title: str, headings: Iterable[Heading], code: Iterable[CodeBlock]
) -> str:
    """Return a document as written, without front matter, or an HTML document's marked-up text."""
    if syntax == "markdown":
        text = as_written(text, title).text
    elif syntax == "html":
        text = marked_up(text, headings, code)
    heading = "" if _TITLE.match(text) else f"# {' '.join(title.split())}\n\n"
    return f"{heading}{text.strip()}\n"


def marked_up(text: str, headings: Iterable[Heading], code: Iterable[CodeBlock]) -> str:
    """Return the text of an HTML document with its headings and code blocks marked as in markdown."""
    marks = [HeadingMark(*each) for each in headings]
    return with_marks(text, marks, [CodeMark(*each) for each in code]).text
