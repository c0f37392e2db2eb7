"""Boxes fenced by ``///`` or ``:::`` (MkDocs, Docusaurus, MyST), and content tabs, become callouts.

Content tabs of Material for MkDocs (``=== "Title"``, then indented text) become boxes of the kind ``tab``.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from markdown_it.rules_block import StateBlock

_OPENING = re.compile(r"(/{3,}|:{3,})[ \t]*\{?([A-Za-z][\w-]{0,30})\}?[ \t]*(?:\|[ \t]*)?([^\n|]*)\Z")
_CLOSINGS = "box_closings"
TAB, _TAB_MARKER = "tab", "==="
_TAB_OPENING = re.compile(r"={3}[!+]{0,2}[ \t]+(?:\"([^\"\n]*)\"|'([^'\n]*)')[ \t]*\Z")
_TAB_INDENT = 4


def box(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse a box: ``/// tip | Title`` up to a line of as many slashes (a block rule for markdown-it)."""
    first = state.bMarks[start] + state.tShift[start]
    if not state.src.startswith(("///", ":::"), first) or state.is_code_block(start):
        return False
    found = _OPENING.match(state.src[first : state.eMarks[start]].rstrip())
    closing = _closing(state, found[1], start) if found else end
    if not found or closing >= end:
        return False
    if not silent:
        _push(state, found[1], found[2].lower(), found[3].strip(), range(start + 1, closing))
    return True


def _closing(state: StateBlock, marker: str, start: int) -> int:
    """Return the next line that is the marker alone, or the end."""
    # One scan per marker: thousands of openings that nobody closes stay linear.
    known: dict[str, list[int]] = state.env.setdefault(_CLOSINGS, {})
    if marker not in known:
        lines = range(len(state.eMarks) - 1)
        known[marker] = [n for n in lines if state.src[state.bMarks[n] : state.eMarks[n]].strip() == marker]
    after = bisect_right(known[marker], start)
    return known[marker][after] if after < len(known[marker]) else state.lineMax


def _push(state: StateBlock, marker: str, kind: str, title: str, lines: range) -> None:
    """Push the tokens of a box of that kind whose content is ``lines``, below its opening line."""
    box_open = state.push("admonition_open", "div", 1)
    box_open.block, box_open.meta = True, {"tag": kind}
    title_open = state.push("admonition_title_open", "p", 1)
    title_open.map, title_open.markup = [lines.start - 1, lines.start], f"{marker} {kind}"
    inline = state.push("inline", "", 0)
    inline.content, inline.map, inline.children = title or kind.capitalize(), [*title_open.map], []
    state.push("admonition_title_close", "p", -1)
    old_parent, old_max = state.parentType, state.lineMax
    state.parentType, state.lineMax = "admonition", lines.stop
    state.md.block.tokenize(state, lines.start, lines.stop)
    state.parentType, state.lineMax = old_parent, old_max
    state.push("admonition_close", "div", -1).block = True
    state.line = lines.stop if marker == _TAB_MARKER else lines.stop + 1
    box_open.map = [lines.start - 1, state.line]


def tab(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse a tab into the same tokens as ``/// tab | Title`` (a block rule for markdown-it)."""
    first = state.bMarks[start] + state.tShift[start]
    if not state.src.startswith(_TAB_MARKER, first) or state.is_code_block(start):
        return False
    found = _TAB_OPENING.match(state.src[first : state.eMarks[start]])
    if not found:
        return False
    if not silent:
        lines = range(start + 1, _last_of_tab(state, start, end) + 1)
        outside, state.blkIndent = state.blkIndent, state.sCount[start] + _TAB_INDENT
        _push(state, _TAB_MARKER, TAB, (found[1] or found[2] or "").strip(), lines)
        state.blkIndent = outside
    return True


def _last_of_tab(state: StateBlock, start: int, end: int) -> int:
    """Return the last line that is indented below the opening line."""
    last, inside = start, state.sCount[start] + _TAB_INDENT
    for line in range(start + 1, end):
        if state.isEmpty(line):
            continue
        if state.sCount[line] < inside:
            break
        last = line
    return last
