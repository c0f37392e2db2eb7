"""Boxes fenced by ``///``, ``:::`` or, in MyST and mdBook, by backticks, and content tabs, become callouts.

Content tabs of Material for MkDocs (``=== "Title"``, then indented text) become boxes of the kind ``tab``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import nullcontext
from itertools import pairwise

from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

from ...directives import add_leftovers
from ..code.info import read_info
from .block_tokens import (
    close_group,
    closing_of,
    content_of_directive,
    last_inside,
    line_of,
    open_group,
    push_content,
    push_label,
    push_paragraph,
)
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
    with_heading,
    with_options,
)  # fmt: skip
from .heading_attributes import read_heading
from .myst.descriptions import DESCRIBED
from .myst.directive_kinds import UNKNOWN
from .myst.directive_options import DirectiveOptions, block_options_of, options_of
from .myst.inline_options import is_callout
from .myst.roles import CELLS

_TAB_MARKER = "==="
_TAB_OPENING = re.compile(r"={3}[!+]{0,2}[ \t]+(?:\"([^\"\n]*)\"|'([^'\n]*)')[ \t]*\Z")
_TAB_INDENT = 4
_OPENINGS = ("///", ":::", "```{", "````", "~~~{", "```admonish")
# Unknown directives may hold code in them; those between colons or in longer fences hold markdown.
_OF_CODE = ("```", "~~~")
_MAX_OPTIONS = 40
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
    closing = closing_of(state, found.marker, start)
    last = last_inside(state, start, min(closing, end))
    is_closed = last == closing < end
    if not is_closed and not (found.ends_by_itself and state.level < _MAX_UNCLOSED):
        return False
    if not silent:
        with content_of_directive(state) if found.is_directive else nullcontext():
            _push(state, found, range(start + 1, last), last + is_closed)
    return True


def _push(state: StateBlock, found: Box, lines: range, last: int) -> None:
    """Push the tokens of a box whose content is ``lines``, below its opening; ``last`` is the line after."""
    first = lines.start - 1
    if found.marker[0] in ":`~":
        options = options_of(_head(state, lines) if found.is_directive else ())
        options |= found.options
        if found.name not in CELLS:
            push_label(state, found.options.get("name") or found.options.get("label", ""), lines)
        found = with_options(found, options)
        if _push_special(state, found, options, lines):
            state.line = last
            return
        found, lines = _titled(state, found, options, lines[options.height :])
    elif found.marker[0] == "/":
        options = block_options_of(_head(state, lines))
        found, lines = with_block_options(found, options), lines[options.height :]
    opened = len(state.tokens)
    (_group if found.kind == GROUP else _callout)(state, found, lines)
    state.tokens[opened].map = [first, last]
    state.line = last


def _push_special(state: StateBlock, found: Box, options: DirectiveOptions, lines: range) -> bool:
    """Push what is no box around its content, if the directive is of such a kind; return whether it is."""
    if found.kind in _SPECIAL:
        _SPECIAL[found.kind](state, found, options, lines)
    elif found.kind in DESCRIBED:
        DESCRIBED[found.kind](state, found.name, found.title, options, lines)
    return found.kind in _SPECIAL or found.kind in DESCRIBED


def _titled(state: StateBlock, found: Box, options: DirectiveOptions, lines: range) -> tuple[Box, range]:
    """Return the box with a title that stands in its content, and the lines of the content below that."""
    above = 0
    if found.name in CARDS:
        found, above = as_card(found, options, _head(state, lines))
    elif found.kind != GROUP and is_callout(options.get("class", "")):
        found, above = with_heading(found, _head(state, lines))
    return found, lines[above:]


def _head(state: StateBlock, lines: range) -> list[str]:
    return [line_of(state, line) for line in lines[:_MAX_OPTIONS]]


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
    if made := _TABS.get(found.name):
        state.tokens[inside:] = made(state.tokens[inside:], state.level)
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
        shown = Token("inline", "", 0, content=title, map=lines, children=[])
        token.info = token.info.replace(f"[{title}]", "")
        tabs += _tab_of(shown, [token], level)
    return tabs


def _tabs_of_headings(tokens: list[Token], level: int) -> list[Token]:
    """Return the tokens of Quarto's tabset, in which each heading like the first one begins a tab."""
    headings = [at for at, each in enumerate(tokens) if each.type == "heading_open" and each.level == level]
    starts = [at for at in headings if tokens[at].tag == tokens[headings[0]].tag]
    tabs = tokens[: starts[0]] if starts else tokens
    for start, end in pairwise([*starts, len(tokens)]):
        # Its opening, its text and its closing, which come before what the tab holds.
        title, content = tokens[start + 1], tokens[start + 3 : end]
        if found := read_heading(title.content):
            title.content = found.title
            content = [*_named_place(found.id, title, level), *content]
        tabs += _tab_of(title, content, level)
    return tabs


def _named_place(name: str, at: Token, level: int) -> list[Token]:
    """Return the tokens of MyST's label for a place, if it has a name."""
    label = Token("inline", "", 0, content=f"({name})=", map=at.map, children=[], level=level + 1)
    opening = Token("paragraph_open", "p", 1, block=True, map=at.map, level=level)
    closing = Token("paragraph_close", "p", -1, block=True, level=level)
    return [opening, label, closing] if name else []


def _tab_of(title: Token, content: Sequence[Token], level: int) -> list[Token]:
    lines = title.map or [0, 0]
    title.level = level + 2
    for each in content:
        each.level += 1
    last = next((each.map[1] for each in reversed(content) if each.map), lines[1])
    return [
        Token("admonition_open", "div", 1, block=True, meta={"tag": TAB}, map=[lines[0], last], level=level),
        Token("admonition_title_open", "p", 1, markup=f"::: {TAB}", map=[*lines], level=level + 1),
        title,
        Token("admonition_title_close", "p", -1, level=level + 1),
        *content,
        Token("admonition_close", "div", -1, block=True, level=level),
    ]


_TABS = {"code-group": _tabs_of_code, "panel-tabset": _tabs_of_headings}


def _image(state: StateBlock, found: Box, options: DirectiveOptions, lines: range) -> None:
    alt = options.get("alt", "").replace("[", "").replace("]", "")
    push_paragraph(state, f"![{alt}](<{found.title}>)", lines)
    push_content(state, lines[options.height :])


def _links(state: StateBlock, _found: Box, options: DirectiveOptions, lines: range) -> None:
    if "hidden" not in options:
        for entry in entries([line_of(state, line) for line in lines[options.height :]]):
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
