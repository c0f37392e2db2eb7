"""Brackets in linear time: which ones cannot begin a link, an image or a note, and are text.

A parser of links looks from each ``[`` for its ``]``, and does so again inside: 80 KB of ``[`` cost it five
seconds, and 40 KB of ``[^`` beside a footnote minutes. Only so many of them are looked into as their
paragraph's length allows.
"""

from __future__ import annotations

import re
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, cast

from markdown_it import MarkdownIt, helpers
from markdown_it.parser_inline import RuleFuncInlineType
from markdown_it.rules_inline import StateInline, image
from mdit_py_plugins.footnote.index import footnote_inline, footnote_ref

# Characters that may be passed in search of a "]"; a million take one to two seconds.
_MAX_STEPS = 2_000_000
# An image in a link is two deep.
_LEAST_DEPTH, _MAX_DEPTH = 2, 10
_DEPTH = "bracket_depth"
_BRACKET = re.compile(r"[\[\]]")
# CommonMark's longest label has 999 characters.
_NOTE = re.compile(r"\[\^[^\]\s]{1,999}\]")


def bound_brackets(md: MarkdownIt) -> None:
    """Let the parser's rules for links, images and footnotes take brackets for text that cannot be theirs."""
    known = {name: getattr(helpers, name) for name in helpers.__all__}
    md.helpers = cast("Any", SimpleNamespace(**known | {"parseLinkLabel": _label_end}))
    md.inline.ruler.at("footnote_ref", _footnote_ref)
    md.inline.ruler.at("footnote_inline", _nested(_footnote_inline, 2))
    md.inline.ruler.at("image", _nested(image, 4))


def _label_end(state: StateInline, start: int, disableNested: bool = False) -> int:  # noqa: N803
    """Return the end of the label that begins at ``start``, -1 if there is none."""
    if start in text_brackets(state.src):
        return -1
    return helpers.parseLinkLabel(state, start, disableNested)


def _footnote_ref(state: StateInline, silent: bool) -> bool:
    return _NOTE.match(state.src, state.pos) is not None and footnote_ref(state, silent)


def _footnote_inline(state: StateInline, silent: bool) -> bool:
    begins = state.src.startswith("^[", state.pos) and state.pos + 1 not in text_brackets(state.src)
    return begins and footnote_inline(state, silent)


def _nested(rule: RuleFuncInlineType, most: int) -> RuleFuncInlineType:
    """Return the rule for use at most so many times inside itself: it parses what it encloses anew."""

    def bounded(state: StateInline, silent: bool) -> bool:
        depth = state.env.get(_DEPTH, 0)
        state.env[_DEPTH] = depth + 1
        try:
            return depth < most and rule(state, silent)
        finally:
            state.env[_DEPTH] = depth

    return bounded


@lru_cache(maxsize=64)
def text_brackets(text: str) -> frozenset[int]:
    """Return where brackets open that are text: those too deep, and those never closed if there are many.

    Code and escapes are not looked at: a bracket that seems open may have its end after code, as in
    ``[the `[` operator](a.md)``.
    """
    looks = _MAX_STEPS // max(1, len(text))
    ends, unclosed = _matched(text)
    found = set(unclosed if len(unclosed) > looks else ())
    depth, deepest = 0, min(_MAX_DEPTH, max(_LEAST_DEPTH, looks))
    for bracket in _BRACKET.finditer(text):
        at = bracket.start()
        if at in ends:
            depth += 1
            if depth > deepest:
                found.add(at)
        elif bracket[0] == "]" and depth:
            depth -= 1
    return frozenset(found)


def _matched(text: str) -> tuple[frozenset[int], list[int]]:
    """Return where brackets open that are closed, and where those that are not."""
    opened: list[int] = []
    closed = set[int]()
    for bracket in _BRACKET.finditer(text):
        if bracket[0] == "[":
            opened.append(bracket.start())
        elif opened:
            closed.add(opened.pop())
    return frozenset(closed), opened
