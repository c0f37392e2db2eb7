"""Marks that carry our own HTML through the sanitiser as text, and are then replaced by it.

A mark holds a hash of the document's source, so a source cannot contain its own marks. Marks that end up
inside a tag (a source may wrap anything in a broken attribute) are removed, never filled in.
"""

from __future__ import annotations

import re

from ...pipeline.identity import text_hash

# Private-use characters: the sanitiser leaves them alone, and no font draws them.
_OPEN, _CLOSE = "\ue000", "\ue001"
_KEY = r"([0-9a-f]{12}-[0-9]{1,9})"
HTML_MARK = f"{_OPEN}h{_KEY}{_CLOSE}"
ANCHOR_MARK = f"{_OPEN}a{_KEY}{_CLOSE}"
_ANY_MARK = re.compile(f"{HTML_MARK}|{ANCHOR_MARK}")
_TAG_WITH_MARK = re.compile(rf"<[^<>{_OPEN}]*{_OPEN}[^<>]*>")


class Marks:
    """What one document's rendering has set aside: our own HTML, and names of headings."""

    def __init__(self, source: str) -> None:
        self._nonce = text_hash(source)[:12]
        self._pieces: dict[str, str] = {}

    def html(self, html: str) -> str:
        """Return a mark that stands for this HTML of ours."""
        return self._mark("h", html)

    def anchor(self, slug: str) -> str:
        """Return a mark that gives a heading this name if placed right after its opening tag."""
        return self._mark("a", slug)

    def _mark(self, kind: str, piece: str) -> str:
        key = f"{self._nonce}-{len(self._pieces)}"
        self._pieces[key] = piece
        return f"{_OPEN}{kind}{key}{_CLOSE}"

    def piece(self, key: str) -> str:
        """Return what the mark with this key stands for, or nothing if it is not one of ours."""
        return self._pieces.get(key, "")


def without_marks(html: str) -> str:
    """Return the HTML with all marks removed."""
    return _ANY_MARK.sub("", html) if _OPEN in html else html


def without_marks_in_tags(html: str) -> str:
    """Return sanitised HTML without the marks that are inside a tag."""
    return _TAG_WITH_MARK.sub(lambda found: without_marks(found[0]), html) if _OPEN in html else html
