"""The part of a document that a transclusion names: a section, a block, or what is between two of them.

``note#Heading`` and ``note#^block`` are Obsidian's and Dendron's; ``note#start,1:#end``, ``note#start:#*``,
``^begin`` and ``^end`` Dendron's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...pipeline.links.fragments import find_anchor
from ...pipeline.parse.markdown.authoring import block_anchor
from ..document_rows import SectionRow

_BLANK = re.compile(r"\n[ \t]*\n")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]")


def transcluded_part(text: str, body: int, sections: Sequence[SectionRow], fragment: str) -> str:
    """Return what the fragment names of a text whose front matter ends at ``body``, or else all of it."""
    part = _Part(text, body, sections)
    first, has_end, last = fragment.partition(":#")
    name, _, skipped = first.partition(",")
    begin = part.begin(name)
    if begin < 0:
        return text[body:]
    end = part.end(name, begin, last if has_end else "")
    lines = text[begin : max(end, begin)]
    for _ in range(int(skipped) if skipped.isdecimal() and len(skipped) < 4 else 0):
        lines = lines.partition("\n")[2]
    return lines


class _Part:
    """Places in a text by the names that transclusions use."""

    def __init__(self, text: str, body: int, sections: Sequence[SectionRow]) -> None:
        self.text, self.body, self.sections = text, body, sections

    def begin(self, name: str) -> int:
        """Return where the part begins that has this name, -1 if there is none."""
        if name in ("", "^begin"):
            return self.body
        if name.startswith("^"):
            found = self.text.find(block_anchor(name), self.body)
            return self._block_begin(found) if found >= 0 else -1
        section = self._section(name)
        return self._heading(section) if section else -1

    def end(self, name: str, begin: int, last: str) -> int:
        """Return where the part ends that begins there, if ``last`` is not the name of its end."""
        if last == "^end":
            return len(self.text)
        if last == "*" or (name == "^begin" and not last):
            after = map(self._heading, self.sections)
            return min((at for at in after if at > begin), default=len(self.text))
        if last.startswith("^") or (name.startswith("^") and not last):
            anchor = block_anchor(last or name)
            found = self.text.find(anchor, begin)
            return found + len(anchor) if found >= 0 else len(self.text)
        section = self._section(last or name)
        if section is None:
            return len(self.text)
        return self._heading(section) if last else self._offset(section.byte_end)

    def _section(self, name: str) -> SectionRow | None:
        sections = {each.slug: each for each in reversed(self.sections)}
        return sections.get(find_anchor(name, sections))

    def _heading(self, section: SectionRow) -> int:
        """Return where the heading of a section begins, which its range leaves out."""
        below = self._offset(section.byte_start)
        line = self.text.rfind("\n", 0, max(below - 1, 0)) + 1
        if self.text[line:below].strip(" \t\n=-"):
            return line
        return self.text.rfind("\n", 0, max(line - 1, 0)) + 1

    def _offset(self, byte: int) -> int:
        return len(self.text.encode()[:byte].decode(errors="ignore"))

    def _block_begin(self, anchor: int) -> int:
        """Return where the block begins that ends at its anchor: an item of a list, or what stands above."""
        line = self.text.rfind("\n", 0, anchor) + 1
        if _ITEM.match(self.text[line:anchor]):
            return line
        until = anchor if self.text[line:anchor].strip() else len(self.text[:line].rstrip())
        gaps = [found.end() for found in _BLANK.finditer(self.text, self.body, until)]
        return gaps[-1] if gaps else self.body
