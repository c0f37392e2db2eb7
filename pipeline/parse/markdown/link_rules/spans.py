"""Words in brackets with attributes behind them, as Pandoc and Quarto have them: ``[words]{.class}``."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from mdit_py_plugins.attrs.parse import ParseError, parse

# An identifier, a class or a value: no call ("f[0]{}"), no template ("[a]{% if b %}"), no set of numbers.
_ATTRIBUTES = re.compile(r"\{[ \t]*(?:[#.][\w-]|[A-Za-z][\w:-]*=)")


def find_spans(md: MarkdownIt) -> None:
    """Add the rule to a parser whose attributes may follow ``span_close``."""
    md.inline.ruler.after("link", "span", _span)


def _span(state: StateInline, silent: bool) -> bool:
    """Read the brackets. Where the end of a link's text is sought they are text, which a link may hold."""
    # Notes are read later, and "[^1]" is one.
    if silent or state.src[state.pos] != "[" or state.src.startswith("[^", state.pos):
        return False
    end = state.md.helpers.parseLinkLabel(state, state.pos, False)
    if end < 0 or not _has_attributes(state.src[end + 1 : state.posMax]):
        return False
    whole = state.posMax
    state.pos, state.posMax = state.pos + 1, end
    state.push("span_open", "span", 1)
    state.md.inline.tokenize(state)
    state.push("span_close", "span", -1)
    state.pos, state.posMax = end + 1, whole
    return True


def _has_attributes(text: str) -> bool:
    if not _ATTRIBUTES.match(text):
        return False
    try:
        parse(text)
    except ParseError:
        return False
    return True
