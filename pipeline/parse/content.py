"""What a parser returns: the content of one document, before its path and front matter are added."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..model import Block, Heading, Link


@dataclass(frozen=True, slots=True)
class ParsedContent:
    """The parts of a ``Document`` that its text alone determines; fields a syntax lacks stay empty."""

    text: str
    blocks: tuple[Block, ...]
    html: str = ""
    title: str = ""
    language: str = ""
    description: str = ""
    author: str = ""
    modified: str | None = None
    tags: tuple[str, ...] = ()
    # Names after "@", which are those of notes in Dendron.
    people: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    headings: tuple[Heading, ...] = ()
    links: tuple[Link, ...] = ()
    # Of headings in boxes, quotes and lists.
    inner_anchors: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    # The beginnings of directives that stand in the text.
    leftovers: tuple[str, ...] = ()


def first_title(headings: Sequence[Heading], blocks: Sequence[Block]) -> str:
    """Return the first top-level heading, or else the heading that the document opens with."""
    top = next((heading.text for heading in headings if heading.level == 1 and heading.text), "")
    if top or not headings:
        return top
    opens = not blocks or headings[0].start < blocks[0].start
    return headings[0].text if opens else ""
