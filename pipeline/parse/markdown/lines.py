"""Conversion of line numbers to character offsets."""

from __future__ import annotations

import re

_NEWLINE = re.compile("\n")


class Lines:
    """The offsets at which the lines of a text begin, counted from ``origin``; lines end in LF only."""

    def __init__(self, text: str, origin: int) -> None:
        starts = [origin]
        starts.extend([origin + found.end() for found in _NEWLINE.finditer(text)])
        self._starts = starts
        self._end = origin + len(text)

    def start(self, line: int) -> int:
        """Return the offset at which the line begins; the end of the text for a line past the last."""
        return self._starts[line] if line < len(self._starts) else self._end
