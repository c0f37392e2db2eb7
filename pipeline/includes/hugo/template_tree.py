"""The texts, actions and blocks that a template of Hugo consists of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from .functions import UnknownValue

_MAX_DEPTH = 30
# It passes no other opening, so that thousands of them stay linear.
_ACTION = re.compile(r"\{\{((?:(?!\{\{|\}\})[\s\S])*)\}\}")
_COMMENT = re.compile(r"\{\{(?:-[ \n])?\s{0,9}/\*")
_OPENING, _ENDING = ("if", "with", "range"), ("end", "else")


@dataclass(slots=True)
class TemplateNode:
    """A text, an action, or a block with what it holds; ``otherwise`` follows its ``else``."""

    kind: str
    said: str
    body: list[TemplateNode] = field(default_factory=list)
    otherwise: list[TemplateNode] = field(default_factory=list)


@lru_cache(maxsize=64)
def nodes_of(template: str) -> list[TemplateNode]:
    """Return what a template consists of; raise ``UnknownValue`` for one that is none."""
    nodes, rest = _parsed([*_pieces(_without_comments(template))][::-1], 0)
    if rest:
        raise UnknownValue
    return nodes


def _without_comments(template: str) -> str:
    """Return the template without comments, which often show how the shortcode is used."""
    pieces, at = list[str](), 0
    while found := _COMMENT.search(template, at):
        end = template.find("*/", found.end())
        closing = template.find("}}", end)
        if end < 0 or closing < 0:
            raise UnknownValue
        pieces.append(template[at : found.start()])
        at = closing + 2
    return "".join((*pieces, template[at:]))


def _pieces(template: str) -> Iterator[tuple[str, str]]:
    """Yield the texts and the actions of a template."""
    at, trims = 0, False
    for found in _ACTION.finditer(template):
        said, text = found[1], template[at : found.start()]
        text = text.lstrip() if trims else text
        yield "text", text.rstrip() if said.startswith(("- ", "-\n")) else text
        at, trims = found.end(), said.endswith((" -", "\n-"))
        said = said.removesuffix("-") if trims else said
        yield "action", said[1:].strip() if said.startswith(("- ", "-\n")) else said.strip()
    rest = template[at:]
    if "{{" in rest:
        raise UnknownValue
    yield "text", rest.lstrip() if trims else rest


def _parsed(pieces: list[tuple[str, str]], depth: int) -> tuple[list[TemplateNode], str]:
    """Return the nodes up to an ``end`` or ``else``, and that; the pieces read are taken off the list."""
    if depth > _MAX_DEPTH:
        raise UnknownValue
    nodes: list[TemplateNode] = []
    while pieces:
        kind, said = pieces.pop()
        word, _, rest = said.partition(" ") if kind == "action" else ("", "", "")
        if word in _ENDING:
            return nodes, said
        if word in _OPENING:
            nodes.append(_block(word, rest, pieces, depth + 1))
        else:
            nodes.append(TemplateNode(kind, said))
    return nodes, ""


def _block(word: str, said: str, pieces: list[tuple[str, str]], depth: int) -> TemplateNode:
    body, ending = _parsed(pieces, depth)
    node = TemplateNode(word, said, body)
    again, _, rest = ending.removeprefix("else").strip().partition(" ")
    if ending.startswith("else") and again in _OPENING:  # its ``end`` ends this block too
        node.otherwise = [_block(again, rest, pieces, depth + 1)]
    elif ending == "else":
        node.otherwise, ending = _parsed(pieces, depth)
    if not ending:
        raise UnknownValue
    return node
