"""Where front matter stands at the head of a document, in YAML, TOML or JSON, and whether it is any at all.

A document may also begin with a thematic break, or with a brace of MDX. What does not read like front matter
is text, unless it has a key that may keep its document private: text would be published.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from typing import Literal

MAX_CHARS = 64 * 1024

# What is not seen, and what tools that join files leave in front of them.
_UNSEEN = "\\ufeff\\u200b\\u2060"
# Hugo lets blank lines stand before; other tools name the language after the dashes.
_OPENING = re.compile(
    rf"(?:[ \t{_UNSEEN}]*\n)*[{_UNSEEN}]*(?P<sign>---|\+\+\+)[ \t]*(?P<kind>[a-z]{{1,12}})?[ \t]*\n",
    re.IGNORECASE,
)
Kind = Literal["yaml", "toml", "json"]
_KINDS: dict[str, Kind] = {"": "yaml", "yaml": "yaml", "yml": "yaml", "toml": "toml", "json": "json"}
_CLOSINGS = {
    "---": re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE),
    # Hugo's and Zola's. MyST separates the cells of a notebook by the same three signs.
    "+++": re.compile(r"^\+\+\+[ \t]*(?:\n|\Z)", re.MULTILINE),
}
_ANCHOR_OR_TAG = r"(?:(?:&[\w-]+|!{1,2}[\w:/.,<>-]*)[ \t]+)*"
_KEY_LINE = re.compile(
    rf"^{_ANCHOR_OR_TAG}(?:(?:[\"'\w][^\n:]*|<<|\*[\w-]+[ \t]+):|\?)(?:[ \t]|$)", re.MULTILINE
)
_LINES = {
    "yaml": _KEY_LINE,
    "json": _KEY_LINE,
    "toml": re.compile(r"^[ \t]*(?:[\"'\w.\\-]+[ \t]*=|\[)", re.MULTILINE),
}
_BRACE = re.compile(rf'[\s{_UNSEEN}]*(?=\{{\s*"(?:[^"\\\n]|\\.)*"\s*:)')
# A document may also begin with an example of JSON.
_TELLING = re.compile(
    r'"(?:aliases|categories|date|lastmod|layout|linktitle|slug|tags|title|weight)"\s*:', re.IGNORECASE
)
_CLOSING_BRACE = re.compile(r"^\}[ \t]*(?:\n|\Z)", re.MULTILINE)
_REST_OF_LINE = re.compile(r"[ \t]*(?:\n|\Z)")
# A heading after a thematic break looks the same, but for what follows.
_REMARKS = re.compile(
    r"(?:[ \t]*(?:#[^\n]*)?\n)*(?=[\"']?(?:draft|headless|published?)[\"']?[ \t]*[:=][ \t]*[\"']?"
    r"(?:true|false|yes|no|on|off|[01])\b)",
    re.IGNORECASE,
)
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
# What might keep a document from lists, searches or readers.
_HIDING = (
    r"(?:draft|exclude\w*|expiry\w*|headless|hidden|index|list|noindex|permalink|private|publish\w*|render|robots"
    r"|search\w*|sitemap\w*|unlisted|unpublish\w*)\b[\"']?[ \t]*+(?:#[^\n]{0,1000}+)?+\s*+[:=]"
)
_MAY_HIDE = re.compile(rf"\b{_HIDING}", re.IGNORECASE)
_LINE_MAY_HIDE = re.compile(
    rf"^[ \t]*(?:\?[ \t]*)?(?:[\"']?_?build[\"']?[ \t]*[.=][ \t{{]*)?[\"']?{_HIDING}",
    re.IGNORECASE | re.MULTILINE,
)
# Keys that are written elsewhere, or in Base64.
_UNREADABLE_KEY = re.compile(r"^[ \t]*(?:\?[ \t]*)?(?:\*[\w-]+[ \t]+:|!\S*binary\b)", re.MULTILINE)
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U00([0-9a-fA-F]{6})|\n[ \t]*)")


@dataclass(frozen=True, slots=True)
class FoundBlock:
    """The lines of a block, of which the first is the document's ``line``-th.

    ``end`` is the offset of what follows, None for a block that is never closed. One that cannot be read is
    text where it is not ``is_sure`` that it is front matter.
    """

    kind: Kind
    head: str
    line: int
    end: int | None
    is_sure: bool

    @property
    def may_hide(self) -> bool:
        """Return whether it has a key that may keep the document private."""
        is_sure, plain = self.is_sure or self.head.lstrip().startswith("{"), _unescaped(self.head)
        if is_sure and _UNREADABLE_KEY.search(plain):
            return True
        return (_MAY_HIDE if is_sure else _LINE_MAY_HIDE).search(plain) is not None

    @property
    def is_empty(self) -> bool:
        """Return whether it is closed, and says nothing."""
        return self.kind == "yaml" and self.end is not None and not self.head.strip()

    @property
    def is_remark(self) -> bool:
        """Return whether it is closed and holds comments alone, as below a thematic break headings would."""
        lines = self.head.splitlines() if self.kind == "yaml" and self.end is not None else ["-"]
        return all(line.lstrip().startswith("#") for line in lines if line.strip())

    @property
    def is_any(self) -> bool:
        """Return whether it is worth reading, or is there and empty."""
        return self.is_empty or self.is_sure or self.may_hide or self.head.lstrip().startswith("{")


def hides(key: str) -> bool:
    """Return whether a key may keep a document private."""
    return _MAY_HIDE.match(f"{key}:") is not None


def find_block(text: str) -> FoundBlock | None:
    """Return the block that a text begins with, None if it begins with something else."""
    opening = _OPENING.match(text)
    if opening is None:
        return _in_braces(text)
    named, start = (opening["kind"] or "").lower(), opening.end()
    kind: Kind = "toml" if opening["sign"] == "+++" else _KINDS.get(named, "yaml")
    line, closing = text.count("\n", 0, start) + 1, _CLOSINGS[opening["sign"]].search(text, start)
    is_known = named in _KINDS
    if closing is None:
        head = _paragraph(text, start)
        is_sure = is_known and kind != "toml" and _KEY_LINE.match(head) is not None
        return FoundBlock(kind, head, line, None, is_sure)
    head = text[start : closing.start()]
    return FoundBlock(kind, head, line, closing.end(), is_known and _LINES[kind].search(head) is not None)


def text_start(text: str) -> int:
    """Return the offset of what follows the front matter, 0 where there is none."""
    found = find_block(text)
    return found.end or 0 if found is not None and found.is_any else 0


def included_start(text: str) -> int:
    """Return the same for a file that is made for inclusion, where a block may hold comments alone."""
    found = find_block(text)
    return found.end or 0 if found is not None and (found.is_any or found.is_remark) else 0


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
    """Return the lines up to the next that is blank, and what says that it is a draft after remarks."""
    lines = text[start : start + MAX_CHARS].lstrip("\n")
    remarks = _REMARKS.match(lines)
    found = _BLANK_LINE.search(lines, remarks.end() if remarks else 0)
    return lines[: found.start()] if found else lines


def _unescaped(head: str) -> str:
    """Return the text with the characters in the place of their escapes."""
    return _ESCAPE.sub(_character, head)


def _character(found: re.Match[str]) -> str:
    code = int(found[1] or found[2] or found[3] or "0", 16)
    return chr(code) if 0 < code <= sys.maxunicode else ""
