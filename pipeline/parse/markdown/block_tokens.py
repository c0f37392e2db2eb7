"""Tokens that several rules for blocks push."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from markdown_it.rules_block import StateBlock
from mdit_py_plugins.admon.index import admonition as box_without_gaps

_IN_DIRECTIVE = "in_directive"
_DEPTH_OF_BOXES = 4


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
    old_parent, old_max = state.parentType, state.lineMax
    state.parentType, state.lineMax = "admonition", lines.stop
    state.md.block.tokenize(state, lines.start, lines.stop)
    state.parentType, state.lineMax = old_parent, old_max


@contextmanager
def content_of_directive(state: StateBlock) -> Iterator[None]:
    """Have what is pushed in the block be what one of MyST's directives holds."""
    outer = state.env.get(_IN_DIRECTIVE, False)
    state.env[_IN_DIRECTIVE] = True
    try:
        yield
    finally:
        state.env[_IN_DIRECTIVE] = outer


def skip_comment(state: StateBlock, start: int, _end: int, silent: bool) -> bool:
    """Pass over MyST's comment, ``% text``, in what one of its directives holds (a block rule).

    Others are cut from the text before, which takes a directive between backticks for code.
    """
    first = state.bMarks[start] + state.tShift[start]
    begins = state.src.startswith("%", first) and not state.src.startswith("%%", first)
    if not begins or not state.env.get(_IN_DIRECTIVE):
        return False
    if not silent:
        state.line = start + 1
    return True


def admonition(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Read a box of ``!!!`` or ``???``, which goes on as long as lines are moved in (a block rule).

    The plugin takes two empty lines for its end; Python-Markdown, whose boxes these are, does not.
    """
    if not silent and state.src.startswith(("!!!", "???"), state.bMarks[start] + state.tShift[start]):
        _move_empty_lines_in(state, start, end)
    return box_without_gaps(state, start, end, silent)


def _move_empty_lines_in(state: StateBlock, start: int, end: int) -> None:
    """Let empty lines within a box be as deep as the line that follows them."""
    last, depth = start, state.blkIndent + _DEPTH_OF_BOXES
    for line in range(start + 1, end):
        if state.isEmpty(line):
            continue
        if state.sCount[line] < depth:
            return
        state.sCount[last + 1 : line] = [state.sCount[line]] * (line - last - 1)
        last = line
