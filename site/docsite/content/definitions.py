"""Blocks that pages have and a markdown parser does not make: definition lists, descriptions of objects.

MDN writes the former as bullet lists in which each item is a term with a nested ``: `` item; a markdown
parser reads two nested lists.
"""

from __future__ import annotations

from collections.abc import Sequence

from markdown_it.token import Token

from ...pipeline.includes.python_blocks import DESCRIPTIONS_END, SIGNATURE
from ...pipeline.parse.labels import DESCRIPTION_CONTENT


def definition_lists(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens with such lists as ``dl``, ``dt`` and ``dd``."""
    if not any(token.type == "inline" and token.content.startswith(": ") for token in tokens):
        return list(tokens)
    ends = _ends(tokens)
    dropped: set[int] = set()
    for start, token in enumerate(tokens):
        if token.type == "bullet_list_open" and (items := _definitions(tokens, ends, start)):
            token.tag = tokens[ends[start]].tag = "dl"
            for term, nested in items:
                _mark_item(tokens, ends, term, nested, dropped)
    return [token for place, token in enumerate(tokens) if place not in dropped]


def _ends(tokens: Sequence[Token]) -> dict[int, int]:
    """Return where each opening token is closed."""
    ends: dict[int, int] = {}
    opened: list[int] = []
    for place, token in enumerate(tokens):
        if token.nesting == 1:
            opened.append(place)
        elif token.nesting == -1 and opened:
            ends[opened.pop()] = place
    return ends


def _definitions(tokens: Sequence[Token], ends: dict[int, int], start: int) -> list[tuple[int, int]]:
    """Return each item of the list with its nested list, or nothing if any of them is not a definition."""
    items: list[tuple[int, int]] = []
    place = start + 1
    while place < ends[start]:
        nested = place + 4
        shape = [token.type for token in tokens[place + 1 : place + 5]]
        if shape != ["paragraph_open", "inline", "paragraph_close", "bullet_list_open"]:
            return []
        if ends[nested] + 1 != ends[place] or not _is_definition(tokens, ends, nested):
            return []
        items.append((place, nested))
        place = ends[place] + 1
    return items


def _is_definition(tokens: Sequence[Token], ends: dict[int, int], nested: int) -> bool:
    inline = tokens[nested + 3] if nested + 3 < len(tokens) else None
    alone = ends[nested + 1] + 1 == ends[nested]
    return alone and inline is not None and inline.type == "inline" and inline.content.startswith(": ")


def _mark_item(
    tokens: Sequence[Token], ends: dict[int, int], item: int, nested: int, dropped: set[int]
) -> None:
    dropped.update((item, ends[item], nested, ends[nested]))
    for place in (item + 1, item + 3):
        tokens[place].tag, tokens[place].hidden = "dt", False
    definition = nested + 1
    tokens[definition].tag = tokens[ends[definition]].tag = "dd"
    inline = tokens[definition + 2]
    for child in inline.children or ():
        if child.type == "text":
            child.content = child.content.removeprefix(": ")
            break


def descriptions(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens with what stands below each signature of an API page in a box of its own.

    The box holds members too: it ends where a heading of the same or a higher level does not belong to them.
    """
    if not any(map(_is_signature, tokens)):
        return list(tokens)
    found, opened = list[Token](), list[int]()
    for before, token in zip((None, *tokens), tokens, strict=False):
        level = _level_of_end(token)
        while opened and level <= opened[-1]:
            opened.pop()
            found.append(Token("group_close", "div", -1, block=True))
        found.append(token)
        if before is not None and before.type == "heading_close" and _is_signature(token):
            opened.append(int(before.tag[1]))
            box = {"class": DESCRIPTION_CONTENT}
            found.append(Token("group_open", "div", 1, block=True, attrs=dict[str, str | int | float](box)))
    return [*found, *(Token("group_close", "div", -1, block=True) for _ in opened)]


def _is_signature(token: Token) -> bool:
    return token.type == "fence" and token.level == 0 and token.info.endswith(f" {SIGNATURE}")


def _level_of_end(token: Token) -> int:
    """Return the level from which on descriptions end at the token, beyond all levels where none does."""
    if token.type == "heading_open" and token.level == 0:
        return int(token.tag[1])
    is_end = token.type == "html_block" and token.level == 0 and token.content.strip() == DESCRIPTIONS_END
    return 0 if is_end or token.type == "footnote_block_open" else 7
