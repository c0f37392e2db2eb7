"""Elements of raw HTML in markdown that stand on the page and that searches leave out."""

from __future__ import annotations

import re

from ..visibility import UNSEARCHED_ATTRIBUTES
from .markup import TAG_PARTS

_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_NAMED = re.compile(rf"(?:^|[\s\"'])(?:{'|'.join(UNSEARCHED_ATTRIBUTES)})(?=[\s=/]|$)", re.IGNORECASE)
_VOID_NAMES = "area base br col embed hr img input link meta param source track wbr"
_VOID = frozenset(_VOID_NAMES.split())


class UnsearchedElements:
    """The elements that are open while raw HTML is read in pieces, as it stands between markdown."""

    def __init__(self) -> None:
        self._name, self._depth = "", 0

    @property
    def is_open(self) -> bool:
        """Return whether what comes next lies in such an element."""
        return self._depth > 0

    def searched(self, html: str) -> str:
        """Return what lies outside of these elements; one without an end tag goes on in the next piece."""
        if not self._depth and not any(name in html.lower() for name in UNSEARCHED_ATTRIBUTES):
            return html
        kept, start = [], 0
        for found in TAG_PARTS.finditer(html):
            closing, name, rest = found[1], found[2].lower(), found[3]
            is_empty = name in _VOID or rest.endswith("/")
            if self._depth:
                self._depth += 0 if is_empty or name != self._name else -1 if closing else 1
            elif closing or not _NAMED.search(_QUOTED.sub('""', rest)):
                continue
            else:
                kept.append(html[start : found.start()])
                self._name, self._depth = name, 0 if is_empty else 1
            if not self._depth:
                start = found.end() + html.startswith(">", found.end())
        return "".join([*kept, "" if self._depth else html[start:]])
