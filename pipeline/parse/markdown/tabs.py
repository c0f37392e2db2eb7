"""Content tabs of Material for MkDocs (``=== "Title"``, then indented text), as boxes of the kind ``tab``."""

from __future__ import annotations

import re

from markdown_it.rules_block import StateBlock

TAB = "tab"
_OPENING = re.compile(r"={3}[!+]{0,2}[ \t]+(?:\"([^\"\n]*)\"|'([^'\n]*)')[ \t]*\Z")
_INDENT = 4


def tab(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse a tab into the same tokens as ``/// tab | Title`` (a block rule for markdown-it)."""
    first = state.bMarks[start] + state.tShift[start]
    if not state.src.startswith("===", first) or state.is_code_block(start):
        return False
    found = _OPENING.match(state.src[first : state.eMarks[start]])
    if not found:
        return False
    if not silent:
        _push(state, (found[1] or found[2] or "").strip(), start, _last(state, start, end) + 1)
    return True


def _last(state: StateBlock, start: int, end: int) -> int:
    """Return the last line that is indented below the opening line."""
    last, inside = start, state.sCount[start] + _INDENT
    for line in range(start + 1, end):
        if state.isEmpty(line):
            continue
        if state.sCount[line] < inside:
            break
        last = line
    return last


def _push(state: StateBlock, title: str, start: int, after: int) -> None:
    token = state.push("admonition_open", "div", 1)
    token.block, token.map, token.meta = True, [start, after], {"tag": TAB}
    opening = state.push("admonition_title_open", "p", 1)
    opening.map, opening.markup = [start, start + 1], f"=== {TAB}"
    inline = state.push("inline", "", 0)
    inline.content, inline.map, inline.children = title or TAB.capitalize(), [start, start + 1], []
    state.push("admonition_title_close", "p", -1)
    old_parent, old_max, old_indent = state.parentType, state.lineMax, state.blkIndent
    state.parentType, state.lineMax = "admonition", after
    state.blkIndent = state.sCount[start] + _INDENT
    state.md.block.tokenize(state, start + 1, after)
    state.parentType, state.lineMax, state.blkIndent = old_parent, old_max, old_indent
    state.push("admonition_close", "div", -1).block = True
    state.line = after
