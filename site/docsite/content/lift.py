"""Lifts transclusions out of paragraphs: what they show are blocks, which no paragraph may contain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from markdown_it.token import Token

from ...pipeline.assets.media import media_type_of

_BREAKS = ("softbreak", "hardbreak")


def lift_transclusions(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens with paragraphs that end before each note transcluded in them, and go on below."""
    lifted: list[Token] = []
    at = 0
    while at < len(tokens):
        children = tokens[at + 1].children or () if tokens[at].type == "paragraph_open" else ()
        if any(map(_is_note, children)) or _is_nothing_else(children):
            lifted += _parts(tokens[at], tokens[at + 1], tokens[at + 2])
            at += 3
        else:
            lifted.append(tokens[at])
            at += 1
    return lifted


def _is_nothing_else(children: Sequence[Token]) -> bool:
    """Return whether these are transclusions, also of images, and the breaks between them."""
    kinds = {child.type for child in children} - set(_BREAKS)
    return kinds == {"transclusion"}


def _is_note(token: Token) -> bool:
    """Return whether a token transcludes a note, outside of links and emphasis."""
    return token.type == "transclusion" and token.level == 0 and media_type_of(token.meta["target"]) is None


def _parts(before: Token, inline: Token, after: Token) -> Iterator[Token]:
    alone = _is_nothing_else(inline.children or ())
    for is_lifted, run in groupby(inline.children or (), lambda child: alone or _is_note(child)):
        children = [c for c in run if not (is_lifted and c.type in _BREAKS)]
        children = children if is_lifted else _without_breaks(children)
        if not children:
            continue
        for child in children if is_lifted else ():
            child.meta = {**child.meta, "block": True}
        hidden = is_lifted or before.hidden
        opened, closed = before.copy(hidden=hidden), after.copy(hidden=hidden)
        yield from (opened, inline.copy(children=children), closed)


def _without_breaks(children: list[Token]) -> list[Token]:
    """Return a part of a line without the breaks and spaces that stood beside a transclusion."""
    while children and _is_space(children[0]):
        children = children[1:]
    while children and _is_space(children[-1]):
        children = children[:-1]
    return children


def _is_space(token: Token) -> bool:
    return token.type in _BREAKS or (token.type == "text" and not token.content.strip())
