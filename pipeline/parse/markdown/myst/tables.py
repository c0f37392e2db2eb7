"""Tables that MyST writes as directives: a list of lists, or lines of comma-separated values."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import islice

from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

from ....directives import add_leftovers
from ..block_tokens import push_content, push_paragraph
from .directive_options import DirectiveOptions

_MAX_ROWS, _MAX_CELLS = 10_000, 100
# Of a list in a list, by their depth.
_ROWS, _CELLS = 1, 3
_DELIMITERS = {"tab": "\t", "space": " "}
_LISTS = ("bullet_list_open", "bullet_list_close")
_ITEMS = ("list_item_open", "list_item_close")


def list_table(state: StateBlock, _name: str, title: str, options: DirectiveOptions, lines: range) -> None:
    """Push the table that a list of lists stands for; another list stays one."""
    _push_title(state, title, lines)
    begin = len(state.tokens)
    push_content(state, lines[options.height :])
    tokens = state.tokens[begin:]
    if _is_table(tokens):
        state.tokens[begin:] = _as_table(
            tokens, _number(options, "header-rows"), _number(options, "stub-columns")
        )


def csv_table(state: StateBlock, _name: str, title: str, options: DirectiveOptions, lines: range) -> None:
    """Push the table of the lines' comma-separated values."""
    _push_title(state, title, lines)
    outside = options.get("file") or options.get("url")
    if outside:  # includes are followed before
        add_leftovers(state.env, ["{csv-table}"])
        push_paragraph(state, f"`{outside}`", lines)
        return
    delimiter = _DELIMITERS.get(options.get("delim", ""), options.get("delim", ","))
    body = [f"{state.src[state.bMarks[line] : state.eMarks[line]]}\n" for line in lines[options.height :]]
    head = [options["header"]] if options.get("header") else []
    try:
        read = csv.reader([*head, *body], delimiter=delimiter or ",", skipinitialspace=True)
        rows = [row[:_MAX_CELLS] for row in islice(read, _MAX_ROWS) if row]
    except (csv.Error, TypeError):
        rows = [[line.strip()] for line in body if line.strip()]
    heads = len(head) + _number(options, "header-rows")
    state.push("table_open", "table", 1).map = [lines.start - 1, lines.stop]
    for at, row in enumerate(rows):
        state.tokens.extend(_between(at, heads))
        _push_row(state, row, "th" if at < heads else "td", lines)
    if rows:
        state.tokens.append(_end(len(rows), heads))
    state.push("table_close", "table", -1)


def _push_title(state: StateBlock, title: str, lines: range) -> None:
    if title:
        push_paragraph(state, f"**{title}**", range(lines.start, lines.start))


def _push_row(state: StateBlock, cells: Sequence[str], tag: str, lines: range) -> None:
    place = [lines.start - 1, lines.stop]
    state.push("tr_open", "tr", 1).map = [*place]
    for cell in cells:
        state.push(f"{tag}_open", tag, 1)
        inline = state.push("inline", "", 0)
        inline.content, inline.map, inline.children = cell, [*place], []
        state.push(f"{tag}_close", tag, -1)
    state.push("tr_close", "tr", -1)


def _is_table(tokens: Sequence[Token]) -> bool:
    """Return whether the tokens are one list, of nothing but lists of one level."""
    if not tokens or tokens[0].type != _LISTS[0]:
        return False
    base = tokens[0].level
    depths = {token.level - base for token in tokens}
    outer = [(each.level - base, each.type) for each in tokens if each.level - base <= _CELLS]
    kinds = {depth: _LISTS if depth % 2 == 0 else _ITEMS for depth in range(_CELLS + 1)}
    is_one = [kind for depth, kind in outer if depth == 0] == [*_LISTS]
    return is_one and _CELLS in depths and all(kind in kinds[depth] for depth, kind in outer)


def _as_table(tokens: Sequence[Token], head_rows: int, head_cells: int) -> Iterator[Token]:
    base, row, cell = tokens[0].level, -1, -1
    for token in tokens:
        depth, is_open = token.level - base, token.nesting == 1
        if depth == 0:
            if not is_open:
                yield _end(row + 1, head_rows)
            yield _renamed(token, "table")
        elif depth == _ROWS:
            row, cell = row + is_open, -1
            if is_open:
                yield from _between(row, head_rows)
            yield _renamed(token, "tr")
        elif depth == _CELLS:
            cell += is_open
            yield _renamed(token, "th" if row < head_rows or cell < head_cells else "td")
        elif depth > _CELLS:
            yield token


def _between(row: int, heads: int) -> Iterator[Token]:
    """Yield what begins and ends around the head of a table, above a row."""
    if row == heads and heads:
        yield Token("thead_close", "thead", -1)
    if row == 0 and heads:
        yield Token("thead_open", "thead", 1)
    elif row == heads:
        yield Token("tbody_open", "tbody", 1)


def _end(rows: int, heads: int) -> Token:
    tag = "tbody" if rows > heads else "thead"
    return Token(f"{tag}_close", tag, -1)


def _renamed(token: Token, tag: str) -> Token:
    token.type, token.tag = f"{tag}_{'open' if token.nesting == 1 else 'close'}", tag
    token.attrs, token.markup = {}, ""
    return token


def _number(options: DirectiveOptions, name: str) -> int:
    value = options.get(name, "")
    return int(value) if value.isascii() and value.isdigit() and len(value) < 3 else 0
