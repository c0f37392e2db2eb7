"""What the rules for blocks are made of: the tokens that they push, and the lines at which boxes end."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from markdown_it.rules_block import StateBlock
from markdown_it.rules_block import table as table_by_pipes
from mdit_py_plugins.admon.index import admonition as box_without_gaps

_IN_DIRECTIVE = "in_directive"
# Code in a row of a table, or a pipe between two cells.
_PIPE = re.compile(
    r"\\.|(?P<code>(?<!`)(?P<ticks>`{1,3})(?!`)[^\n]{0,1000}?(?<!`)(?P=ticks)(?!`))|(?P<pipe>\|)"
)
_DEPTH_OF_BOXES = 4
_NAME = re.compile(r"[\w:./-]{1,200}")
_CLOSINGS, _COLONS, _LIST_ENDS = "box_closings", "box_colons", "box_list_ends"
# Of lines that may close a box of fewer colons, and of the lengths that they have.
_MAX_LONGER = 20


def push_paragraph(state: StateBlock, content: str, lines: range) -> None:
    """Push a paragraph of inline markdown that stands for the lines and the one above them."""
    at = [lines.start - 1, max(lines.stop, lines.start)]
    state.push("paragraph_open", "p", 1).map = [*at]
    inline = state.push("inline", "", 0)
    inline.content, inline.map, inline.children = content, [*at], []
    state.push("paragraph_close", "p", -1)


def push_label(state: StateBlock, name: str, lines: range) -> None:
    """Push a name as MyST's label for what stands in the lines; nothing for a text that is none."""
    if _NAME.fullmatch(name):
        push_paragraph(state, f"({name})=", range(lines.start, lines.start))


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


def last_inside(state: StateBlock, start: int, end: int) -> int:
    """Return the line at which the list ends that a box stands in, ``end`` if none does before it."""
    if not state.blkIndent:
        return end
    # One search per list, however many boxes begin in it.
    known: dict[tuple[int, int], tuple[int, int]] = state.env.setdefault(_LIST_ENDS, {})
    key = (state.blkIndent, state.lineMax)
    first, last = known.get(key, (0, 0))
    if not first <= start < last:
        lines = (line for line in range(start + 1, state.lineMax) if not state.isEmpty(line))
        last = next((line for line in lines if state.sCount[line] < state.blkIndent), state.lineMax)
        known[key] = (start, last)
    return min(last, end)


@dataclass(frozen=True, slots=True)
class _Closings:
    """The lines that are a marker alone, which of them closes the box that a line opens, and back."""

    lines: list[int]
    of_opening: dict[int, int]
    to_opening: dict[int, int]


def closing_of(state: StateBlock, marker: str, start: int) -> int:
    """Return the line that closes the box: that of its pair, else the next that is the marker alone.

    The end if there is none.
    """
    found = _known_closings(state, marker)
    if start in found.of_opening:
        return found.of_opening[start]
    after = bisect_right(found.lines, start)
    return found.lines[after] if after < len(found.lines) else _longer_closing(state, marker, start)


def _longer_closing(state: StateBlock, marker: str, start: int) -> int:
    """Return the line of more colons that closes the box, as in MyST, VitePress and Docusaurus."""
    if marker[0] != ":":
        return state.lineMax
    if _COLONS not in state.env:
        texts = (line_of(state, number).strip() for number in range(len(state.eMarks) - 1))
        colons = {text for text in texts if text[:4] == "::::" and not text.strip(":")}
        state.env[_COLONS] = sorted(colons, key=len)[:_MAX_LONGER]
    lines = [state.lineMax]
    for longer in (each for each in state.env[_COLONS] if len(each) > len(marker)):
        found = _known_closings(state, longer)
        after = bisect_right(found.lines, start)
        near = found.lines[after : after + _MAX_LONGER]
        lines += [line for line in near if found.to_opening.get(line, -1) < start][:1]
    return min(lines)


def _known_closings(state: StateBlock, marker: str) -> _Closings:
    # One scan per marker: thousands of openings that nobody closes stay linear.
    known: dict[str, _Closings] = state.env.setdefault(_CLOSINGS, {})
    if marker not in known:
        known[marker] = _closings(state, marker)
    return known[marker]


def _closings(state: StateBlock, marker: str) -> _Closings:
    """Return the closings of a marker; boxes of one marker nest as in Quarto and MyST, code does not."""
    closings, pairs, opened = list[int](), dict[int, int](), list[int]()
    for number in range(len(state.eMarks) - 1):
        text = line_of(state, number).strip()
        if text == marker:
            closings.append(number)
            if opened:
                pairs[opened.pop()] = number
        elif marker[0] in ":/" and text.startswith(marker) and text[len(marker)] != marker[0]:
            opened.append(number)
    return _Closings(closings, pairs, {closing: opening for opening, closing in pairs.items()})


def line_of(state: StateBlock, line: int) -> str:
    """Return the text of a line."""
    return state.src[state.bMarks[line] : state.eMarks[line]]


def table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse a table; where a row has too many cells, pipes within code part none, as in Python-Markdown.

    Elsewhere they do, since GitHub's tables drop what is left over.
    """
    first = len(state.tokens)
    if not table_by_pipes(state, start, end, silent):
        return False
    if silent:
        return True
    rows = [at for at in range(first, len(state.tokens)) if state.tokens[at].type == "tr_open"]
    for at, after in zip(rows, [*rows[1:], len(state.tokens)], strict=True):
        line = state.tokens[at].map
        cells = [token for token in state.tokens[at:after] if token.type == "inline"]
        # Marks of a list or a quote stand before it.
        row = state.src[state.bMarks[line[0]] + state.tShift[line[0]] : state.eMarks[line[0]]] if line else ""
        whole = _cells(row)
        if len(whole) == len(cells):
            for token, text in zip(cells, whole, strict=True):
                token.content = text
    return True


def _cells(line: str) -> list[str]:
    """Return the cells of a row in which code holds pipes, parted at the others; none for any other row."""
    text = line.strip().removeprefix("|")
    found = [each for each in _PIPE.finditer(text) if each["pipe"] or "|" in (each["code"] or "")]
    if all(each["pipe"] for each in found):
        return []
    pipes = [each.start() for each in found if each["pipe"]]
    parts = [text[a + 1 : b] for a, b in zip([-1, *pipes], [*pipes, len(text)], strict=True)]
    cells = [part.strip().replace("\\|", "|") for part in parts]
    return cells[:-1] if pipes and pipes[-1] == len(text) - 1 else cells
