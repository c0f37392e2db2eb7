"""Where front matter stands at the head of a document, in YAML, TOML or JSON, and whether it is any at all.

A document may also begin with a thematic break, or with a brace of MDX. What does not read like front matter
is text, unless it has a key that may keep its document private: text would be published.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Literal

MAX_CHARS = 64 * 1024

# Hugo lets blank lines stand before; other tools name the language after the dashes.
_OPENING = re.compile(
    r"(?:[ \t]*\n)*(?P<sign>---|\+\+\+)[ \t]*(?P<kind>yaml|yml|toml|json)?[ \t]*\n", re.IGNORECASE
)
_CLOSINGS = {
    "---": re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE),
    # Hugo's and Zola's. MyST separates the cells of a notebook by the same three signs.
    "+++": re.compile(r"^\+\+\+[ \t]*(?:\n|\Z)", re.MULTILINE),
}
_KEY_LINE = re.compile(r"^(?:[\"'\w][^\n:]*:|\?)(?:[ \t]|$)", re.MULTILINE)
_LINES = {
    "yaml": _KEY_LINE,
    "json": _KEY_LINE,
    "toml": re.compile(r"^[ \t]*(?:[\"'\w.-]+[ \t]*=|\[)", re.MULTILINE),
}
_BRACE = re.compile(r'\s*(?=\{\s*"(?:[^"\\\n]|\\.)*"\s*:)')
# A document may also begin with an example of JSON.
_TELLING = re.compile(
    r'"(?:aliases|categories|date|lastmod|layout|linktitle|slug|tags|title|weight)"\s*:', re.IGNORECASE
)
_CLOSING_BRACE = re.compile(r"^\}[ \t]*(?:\n|\Z)", re.MULTILINE)
_REST_OF_LINE = re.compile(r"[ \t]*(?:\n|\Z)")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
# What might keep a document from lists, searches or readers.
_HIDING = (
    r"(?:draft|exclude\w*|expiry\w*|headless|hidden|index|list|noindex|permalink|private|publish\w*|render|robots"
    r"|search\w*|sitemap\w*|unlisted|unpublish\w*)\b[\"']?[ \t]*[:=]"
)
_MAY_HIDE = re.compile(rf"\b{_HIDING}", re.IGNORECASE)
_LINE_MAY_HIDE = re.compile(rf"^[ \t]*[\"']?{_HIDING}", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FoundBlock:
    """The lines of a block, of which the first is the document's ``line``-th.

    ``end`` is the offset of what follows, None for a block that is never closed. One that cannot be read is
    text where it is not ``is_sure`` that it is front matter.
    """

    kind: Literal["yaml", "toml", "json"]
    head: str
    line: int
    end: int | None
    is_sure: bool

    @property
    def may_hide(self) -> bool:
        """Return whether it has a key that may keep the document private."""
        is_sure = self.is_sure or self.head.lstrip().startswith("{")
        return (_MAY_HIDE if is_sure else _LINE_MAY_HIDE).search(self.head) is not None

    @property
    def is_empty(self) -> bool:
        """Return whether it is closed, and says nothing."""
        return self.kind == "yaml" and self.end is not None and not self.head.strip()

    @property
    def is_any(self) -> bool:
        """Return whether it is worth reading, or is there and empty."""
        return self.is_empty or self.is_sure or self.may_hide or self.head.lstrip().startswith("{")


def find_block(text: str) -> FoundBlock | None:
    """Return the block that a text begins with, None if it begins with something else."""
    opening = _OPENING.match(text)
    if opening is None:
        return _in_braces(text)
    named, start = (opening["kind"] or "").lower(), opening.end()
    is_toml = opening["sign"] == "+++" or named == "toml"
    kind: Literal["yaml", "toml", "json"] = "toml" if is_toml else "json" if named == "json" else "yaml"
    line, closing = text.count("\n", 0, start) + 1, _CLOSINGS[opening["sign"]].search(text, start)
    if closing is None:
        head = _paragraph(text, start)
        return FoundBlock(kind, head, line, None, not is_toml and _KEY_LINE.match(head) is not None)
    head = text[start : closing.start()]
    return FoundBlock(kind, head, line, closing.end(), _LINES[kind].search(head) is not None)


def text_start(text: str) -> int:
    """Return the offset of what follows the front matter, 0 where there is none."""
    found = find_block(text)
    return found.end or 0 if found is not None and found.is_any else 0


def _in_braces(text: str) -> FoundBlock | None:
    """Return the JSON that a text begins with, as Hugo reads it."""
    opening = _BRACE.match(text)
    if opening is None:
        return None
    start = opening.end()
    line = text.count("\n", 0, start) + 1
    try:
        values, after = json.JSONDecoder().raw_decode(text, start)
        plain = json.dumps(values, ensure_ascii=False)  # keys may hold escapes
    except (ValueError, RecursionError):
        closing = _CLOSING_BRACE.search(text, start)
        head = text[start : closing.end()] if closing else _paragraph(text, start)
        return FoundBlock("json", head, line, closing.end() if closing else None, is_sure=False)
    head, rest = text[start:after], _REST_OF_LINE.match(text, after)
    if not _TELLING.search(plain) and not _MAY_HIDE.search(plain):
        return None
    return FoundBlock("json", head, line, rest.end() if rest else None, rest is not None)


def _paragraph(text: str, start: int) -> str:
    """Return the lines up to the next that is blank."""
    lines = text[start : start + MAX_CHARS].lstrip("\n")
    found = _BLANK_LINE.search(lines)
    return lines[: found.start()] if found else lines
