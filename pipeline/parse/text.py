"""Plain text: paragraphs between blank lines."""

from __future__ import annotations

import re

from ..model import Block

_PARAGRAPH = re.compile(r"(?:^[^\n]*\S[^\n]*(?:\n|\Z))+", re.MULTILINE)


def read_text(text: str) -> tuple[Block, ...]:
    """Return one block for each run of non-blank lines."""
    return tuple(
        Block("text", found.start(), found.end(), found[0].strip())
        for found in _PARAGRAPH.finditer(text)
        if found[0].strip()
    )
