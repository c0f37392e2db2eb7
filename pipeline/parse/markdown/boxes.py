"""Boxes fenced by ``///``, ``:::`` or, in MyST and mdBook, by backticks, and content tabs, become callouts.

Content tabs of Material for MkDocs (``=== "Title"``, then indented text) become boxes of the kind ``tab``.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from contextlib import nullcontext
from dataclasses import dataclass

from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

from ...directives import add_leftovers
from ..code.info import read_info
from .block_tokens import close_group, content_of_directive, open_group, push_content, push_paragraph
from .directives import (
    CARDS,
    GROUP,
    IMAGE,
    LINKS,
    MATH,
    NOTHING,
    RST,
    TAB,
    Box,
    as_card,
    entries,
    read_opening,
    with_block_options,
    with_options,
)  # fmt: skip
from .myst.descriptions import DESCRIBED
from .myst.directive_kinds import UNKNOWN
from .myst.directive_options import DirectiveOptions, block_options_of, options_of

_CLOSINGS, _COLONS, _LIST_ENDS = "box_closings", "box_colons", "box_list_ends"
_TAB_MARKER = "==="
_TAB_OPENING = re.compile(r"={3}[!+]{0,2}[ \t]+(?:\"([^\"\n]*)\"|'([^'\n]*)')[ \t]*\Z")
_TAB_INDENT = 4
_OPENINGS = ("///", ":::", "```{", "````", "~~~{", "```admonish")
# Unknown directives may hold code in them; those between colons or in longer fences hold markdown.
_OF_CODE = ("```", "~~~")
_MAX_OPTIONS = 40
# Of lines that may close a box of fewer colons, and of the lengths that they have.
_MAX_LONGER = 20
# Levels at which a box that nothing closes is still one: each that follows it is within it.
_MAX_UNCLOSED = 40


def box(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse a box: ``/// tip | Title`` up to a line of as many slashes (a block rule for markdown-it)."""
    first = state.bMarks[start] + state.tShift[start]
    if not state.src.startswith(_OPENINGS, first) or state.is_code_block(start):
        return False
    found = read_opening(state.src[first : state.eMarks[start]].rstrip())
    if not found:
        return False
    if found.kind == UNKNOWN and found.marker in _OF_CODE:
        if not silent:
            add_leftovers(state.env, [f"{{{found.name}}}"])
        return False
    closing = _closing(state, found.marker, start)
    last = _last_inside(state, start, min(closing, end))
    is_closed = last == closing < end
    if not is_closed and not (found.ends_by_itself and state.level < _MAX_UNCLOSED):
        return False
    if not silent:
        with content_of_directive(state) if found.is_directive else nullcontext():
            _push(state, found, range(start + 1, last), last + is_closed)
    return True


def _last_inside(state: StateBlock, start: int, end: int) -> int:
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


def _closing(state: StateBlock, marker: str, start: int) -> int:
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
        texts = (_line(state, number).strip() for number in range(len(state.eMarks) - 1))
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
        text = _line(state, number).strip()
        if text == marker:
            closings.append(number)
            if opened:
                pairs[opened.pop()] = number
        elif marker[0] in ":/" and text.startswith(marker) and text[len(marker)] != marker[0]:
            opened.append(number)
    return _Closings(closings, pairs, {closing: opening for opening, closing in pairs.items()})


def _push(state: StateBlock, found: Box, lines: range, last: int) -> None:
    """Push the tokens of a box whose content is ``lines``, below its opening; ``last`` is the line after."""
    first = lines.start - 1
    if found.marker[0] in ":`~":
        options = options_of(_head(state, lines) if found.is_directive else ())
        found = with_options(found, options)
        if found.kind in _SPECIAL:
            _SPECIAL[found.kind](state, found, options, lines)
        elif found.kind in DESCRIBED:
            DESCRIBED[found.kind](state, found.name, found.title, options, lines)
        if found.kind in _SPECIAL or found.kind in DESCRIBED:
            state.line = last
            return
        lines = lines[options.height :]
        if found.name in CARDS:
            found, above = as_card(found, options, _head(state, lines))
            lines = lines[above:]
    elif found.marker[0] == "/":
        options = block_options_of(_head(state, lines))
        found, lines = with_block_options(found, options), lines[options.height :]
    opened = len(state.tokens)
    if found.kind == GROUP:
        _group(state, found, lines)
    else:
        _callout(state, found, lines)
    state.tokens[opened].map = [first, last]
    state.line = last


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] : state.eMarks[line]]


def _head(state: StateBlock, lines: range) -> list[str]:
    return [_line(state, line) for line in lines[:_MAX_OPTIONS]]


def _callout(state: StateBlock, found: Box, lines: range) -> None:
    box_open = state.push("admonition_open", "div", 1)
    box_open.block, box_open.meta = True, {"tag": found.kind, "unsearched": found.unsearched}
    if found.folds:
        box_open.markup = "???+" if found.is_open else "???"
    title_open = state.push("admonition_title_open", "p", 1)
    title_open.map, title_open.markup = [lines.start - 1, lines.start], f"{found.marker} {found.kind}"
    inline = state.push("inline", "", 0)
    inline.content = found.title or found.kind.capitalize()
    inline.map, inline.children = [*title_open.map], []
    state.push("admonition_title_close", "p", -1)
    push_content(state, lines)
    state.push("admonition_close", "div", -1).block = True


def _group(state: StateBlock, found: Box, lines: range) -> None:
    """Push what only holds others: tabs, a grid of cards."""
    open_group(state, found.name if found.name in ("grid", "grid-item") else "")
    inside = len(state.tokens)
    push_content(state, lines)
    if found.name == "code-group":
        state.tokens[inside:] = _tabs_of_code(state.tokens[inside:], state.level)
    close_group(state)


def _tabs_of_code(tokens: list[Token], level: int) -> list[Token]:
    """Return the tokens of a code group, in which each block of code is a tab with its title."""
    tabs: list[Token] = []
    for token in tokens:
        if token.type != "fence" or token.level != level or not token.map:
            tabs.append(token)
            continue
        title = read_info(token.info).title or read_info(token.info).language or TAB
        lines = [token.map[0], token.map[0] + 1]
        shown = Token("inline", "", 0, content=title, map=[*lines], children=[], level=level + 2)
        token.level = level + 1
        token.info = token.info.replace(f"[{title}]", "")
        tabs += [
            Token("admonition_open", "div", 1, block=True, meta={"tag": TAB}, map=[*token.map], level=level),
            Token("admonition_title_open", "p", 1, markup=f"::: {TAB}", map=[*lines], level=level + 1),
            shown,
            Token("admonition_title_close", "p", -1, level=level + 1),
            token,
            Token("admonition_close", "div", -1, block=True, level=level),
        ]
    return tabs


def _image(state: StateBlock, found: Box, options: DirectiveOptions, lines: range) -> None:
    alt = options.get("alt", "").replace("[", "").replace("]", "")
    push_paragraph(state, f"![{alt}](<{found.title}>)", lines)
    push_content(state, lines[options.height :])


def _links(state: StateBlock, _found: Box, options: DirectiveOptions, lines: range) -> None:
    if "hidden" not in options:
        for entry in entries([_line(state, line) for line in lines[options.height :]]):
            push_paragraph(state, entry, lines)


def _rst(state: StateBlock, _found: Box, _options: DirectiveOptions, lines: range) -> None:
    from ..rst.parser import rst_page  # docutils takes a tenth of a second to load

    text = state.getLines(lines.start, lines.stop, state.blkIndent, True)
    page = rst_page(text, "eval-rst")
    add_leftovers(state.env, page.failed)
    html = state.push("html_block", "", 0)
    html.content = page.html.partition("<main>")[2].rpartition("</main>")[0]
    html.map = [lines.start - 1, lines.stop + 1]


def _nothing(_state: StateBlock, _found: Box, _options: DirectiveOptions, _lines: range) -> None:
    pass


def _math(state: StateBlock, _found: Box, options: DirectiveOptions, lines: range) -> None:
    formula = state.push("fence", "code", 0)
    formula.info, formula.map = MATH, [lines.start - 1, lines.stop + 1]
    text = state.getLines(lines.start + options.height, lines.stop, state.blkIndent, True)
    formula.content = text.lstrip("\n")


_SPECIAL = {IMAGE: _image, LINKS: _links, MATH: _math, RST: _rst, NOTHING: _nothing}


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
        _push(state, Box(_TAB_MARKER, TAB, TAB, (found[1] or found[2] or "").strip()), lines, lines.stop)
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
