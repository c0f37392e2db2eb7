"""Callouts in one shape: blockquotes with ``[!NOTE]`` as on GitHub, and admonitions (``!!!``, ``///``)."""

from __future__ import annotations

import re
from itertools import pairwise

from markdown_it.rules_core import StateCore
from markdown_it.token import Token

# Obsidian and Quartz take what follows an upright line, such as ``|left``, for the vault's own styles.
_MARKER = re.compile(r"\[!([A-Za-z][\w-]{0,30})(?:\|[^\[\]\n]{0,60})?\]([+-]?)[ \t]*([^\n]*)(?:\n|\Z)")
_FOLDED = "details"


def mark_callouts(state: StateCore) -> None:
    """Give callouts the classes ``callout callout-note``, and their titles ``callout-title``.

    Those that fold (``???``, ``[!NOTE]-``, ``::: details``) become ``<details>``, open where a ``+`` follows.

    The token that opens the title has ``meta["callout"]``: ``given`` when the author wrote it, else
    ``default``.
    """
    tokens = state.tokens
    kinds = {token.type for token in tokens}
    if "admonition_open" in kinds:
        _mark_admonitions(tokens)
    if "blockquote_open" not in kinds:
        return
    marked: list[Token] = []
    position = 0
    while position < len(tokens):
        token = tokens[position]
        if token.type == "blockquote_open" and (found := _marker(tokens, position)):
            token.attrSet("class", f"callout callout-{found[1].lower()}")
            title = _title(tokens[position + 2], found)
            if found[2]:
                _fold(token, _closing(tokens, position), title[0], title[-1], is_open=found[2] == "+")
            marked += [token, *title]
            position += _cut_marker(tokens, position, found)
        else:
            marked.append(token)
            position += 1
    state.tokens = marked


def _mark_admonitions(tokens: list[Token]) -> None:
    for position, (token, after) in enumerate(pairwise(tokens)):
        if token.type == "admonition_open":
            beside = _side(str(token.attrs.get("class", "")).split())
            token.attrSet("class", f"callout callout-{token.meta['tag']}{beside}")
            if after.type == "admonition_title_open" and (
                token.markup.startswith("???") or token.meta["tag"] == _FOLDED
            ):
                title_end, is_open = tokens[position + 3], token.markup.endswith("+")
                _fold(token, _closing(tokens, position), after, title_end, is_open=is_open)
        elif token.type == "admonition_title_open":
            kind = token.markup.partition(" ")[2]
            token.attrSet("class", "callout-title")
            token.meta = {"callout": "default" if after.content.lower() == kind.lower() else "given"}


def _side(classes: list[str]) -> str:
    """Return the classes of a box beside the text, as Material names its side."""
    if "inline" not in classes:
        return ""
    return " callout-inline" if "end" in classes else " callout-inline callout-start"


def _marker(tokens: list[Token], position: int) -> re.Match[str] | None:
    if position + 3 < len(tokens) and tokens[position + 1].type == "paragraph_open":
        return _MARKER.match(tokens[position + 2].content)
    return None


def _title(inline: Token, found: re.Match[str]) -> list[Token]:
    line = inline.map[0] if inline.map else 0
    given = found[3].strip()
    opening = Token("paragraph_open", "p", 1, block=True, level=inline.level - 1, map=[line, line + 1])
    opening.attrSet("class", "callout-title")
    opening.meta = {"callout": "given" if given else "default"}
    content = given or found[1].replace("-", " ").capitalize()
    title = Token(
        "inline", "", 0, block=True, level=inline.level, content=content, children=[], map=[line, line + 1]
    )
    return [opening, title, Token("paragraph_close", "p", -1, block=True, level=inline.level - 1)]


def _closing(tokens: list[Token], position: int) -> Token:
    """Return the token that closes the element that the one at this position opens."""
    level = tokens[position].level
    kind = tokens[position].type.replace("_open", "_close")
    return next(each for each in tokens[position:] if each.type == kind and each.level == level)


def _fold(begin: Token, end: Token, title: Token, title_end: Token, *, is_open: bool) -> None:
    begin.tag = end.tag = "details"
    title.tag = title_end.tag = "summary"
    if is_open:
        begin.attrSet("open", "")


def _cut_marker(tokens: list[Token], position: int, found: re.Match[str]) -> int:
    """Remove the first line of the paragraph; return the number of tokens consumed."""
    paragraph, inline = tokens[position + 1], tokens[position + 2]
    inline.content = inline.content[found.end() :]
    if not inline.content.strip():
        return 4
    for token in (paragraph, inline):
        if token.map:
            token.map = [token.map[0] + 1, token.map[1]]
    return 1
