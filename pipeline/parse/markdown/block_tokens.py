"""Tokens that several rules for blocks push."""

from __future__ import annotations

from collections.abc import Sequence

from markdown_it.rules_block import StateBlock

_DEPTH, _IS_MYST = "depth_of_boxes", "is_myst"


def push_paragraph(state: StateBlock, content: str, lines: range) -> None:
    """Push a paragraph of inline markdown that stands for the lines and the one above them."""
    at = [lines.start - 1, max(lines.stop, lines.start)]
    state.push("paragraph_open", "p", 1).map = [*at]
    inline = state.push("inline", "", 0)
    inline.content, inline.map, inline.children = content, [*at], []
    state.push("paragraph_close", "p", -1)


def push_definitions(state: StateBlock, definitions: Sequence[tuple[str, str]], lines: range) -> None:
    """Push a list of terms, each with what inline markdown says of it, that stands for the line above."""
    if definitions:
        state.push("dl_open", "dl", 1)
        for term, said in definitions:
            state.push("dt_open", "dt", 1)
            inline = state.push("inline", "", 0)
            inline.content, inline.map, inline.children = term, [lines.start - 1, lines.start], []
            state.push("dt_close", "dt", -1)
            state.push("dd_open", "dd", 1)
            push_paragraph(state, said, range(lines.start, lines.start))
            state.push("dd_close", "dd", -1)
        state.push("dl_close", "dl", -1)


def open_group(state: StateBlock, css: str = "") -> None:
    """Push the beginning of a box that only holds others, with a class of its own if one is given."""
    opening = state.push("group_open", "div", 1)
    opening.block = True
    if css:
        opening.attrSet("class", css)


def close_group(state: StateBlock) -> None:
    """Push the end of a box that only holds others."""
    state.push("group_close", "div", -1).block = True


def push_content(state: StateBlock, lines: range) -> None:
    """Push the blocks that the lines hold."""
    old_parent, old_max, depth = state.parentType, state.lineMax, state.env.get(_DEPTH, 0)
    state.parentType, state.lineMax, state.env[_DEPTH] = "admonition", lines.stop, depth + 1
    state.md.block.tokenize(state, lines.start, lines.stop)
    state.parentType, state.lineMax, state.env[_DEPTH] = old_parent, old_max, depth


def skip_comment(state: StateBlock, start: int, _end: int, silent: bool) -> bool:
    """Pass over MyST's comment, ``% text``, in what a directive holds (a block rule).

    Others are cut from the text before, which takes a directive between backticks for code.
    """
    if not state.env.get(_DEPTH) or not state.src.startswith("% ", state.bMarks[start] + state.tShift[start]):
        return False
    if _IS_MYST not in state.env:
        state.env[_IS_MYST] = "`{" in state.src
    if state.env[_IS_MYST] and not silent:
        state.line = start + 1
    return bool(state.env[_IS_MYST])
