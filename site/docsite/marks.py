"""How our own HTML passes the sanitiser: as marks in the text, put back where they stand as text.

A mark holds a hash of the document's source, so a source cannot contain its own marks. Marks that end up inside
a tag (a source may wrap anything in a broken attribute) are taken out, never filled in.
"""

from __future__ import annotations

import re

from pipeline.identity import text_hash

_OPEN, _CLOSE = "\ue000", "\ue001"
_TAG_WITH_MARK = re.compile(rf"<[^<>{_OPEN}]*{_OPEN}[^<>]*>")


class Marks:
    """What one document's rendering has set aside: HTML of ours, and names of headings."""

    def __init__(self, source: str) -> None:
        self._nonce = text_hash(source)[:12]
        self._pieces: list[str] = []
        self.html_pattern = f"{_OPEN}h{self._nonce}-([0-9]+){_CLOSE}"
        self.anchor_pattern = f"{_OPEN}a{self._nonce}-([0-9]+){_CLOSE}"

    def html(self, html: str) -> str:
        """A mark that stands for this HTML of ours."""
        return self._mark("h", html)

    def anchor(self, slug: str) -> str:
        """A mark that, right after a heading's opening tag, gives the heading this name."""
        return self._mark("a", slug)

    def _mark(self, kind: str, piece: str) -> str:
        self._pieces.append(piece)
        return f"{_OPEN}{kind}{self._nonce}-{len(self._pieces) - 1}{_CLOSE}"

    def piece(self, number: str) -> str:
        """What a mark stands for; nothing for a number that was never given out."""
        return self._pieces[int(number)] if len(number) < 9 and int(number) < len(self._pieces) else ""

    def cleared_from_tags(self, html: str) -> str:
        """Sanitised HTML without the marks that stand inside a tag."""
        if _OPEN not in html:
            return html
        mark = re.compile(f"{self.html_pattern}|{self.anchor_pattern}")
        return _TAG_WITH_MARK.sub(lambda found: mark.sub("", found[0]), html)
