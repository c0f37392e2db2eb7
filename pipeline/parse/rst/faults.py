"""Recovery of text that faults would lose: what docutils quotes in its complaints, and unclosed HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from bs4 import BeautifulSoup
from docutils import nodes

from ..html.parser import remove_tags
from ..markup import require_tame, with_endless_as_text, with_linked_frames, without_unseen

_ERROR = 3
_WRONG_LEVEL = r"Inconsistent title style|A level \d+ section|Title level"
_HEADING = re.compile(_WRONG_LEVEL)
_TITLE = re.compile(rf"{_WRONG_LEVEL}|Unexpected section title|Incomplete section|.*itle overline")
_UNDERLINE = re.compile(r"(\W)\1*\s*")
# What these contain is not text for a reader, or would swallow the rest of the page.
_UNSEEN = ["plaintext", "xmp", "textarea", "title", "select", "noembed", "noframes", "iframe", "head"]
_FRAMES = ["html", "body", "main", "article"]


@dataclass(frozen=True, slots=True)
class Quoted:
    """A piece of source that docutils refused, such as a heading of a wrong level or a misplaced title."""

    kind: Literal["heading", "title", "code"]
    text: str


def quoted_by(message: nodes.Element) -> Iterator[Quoted]:
    """Yield what a system message quotes; nothing for mere warnings, after which docutils keeps the text."""
    if message["level"] < _ERROR:
        return
    complaint = message.children[0].astext() if message.children else ""
    for quoted in message.findall(nodes.literal_block):
        if not _TITLE.match(complaint):
            yield Quoted("code", quoted.astext())
        elif text := _title_text(quoted.astext()):
            yield Quoted("heading" if _HEADING.match(complaint) else "title", text)


def _title_text(quoted: str) -> str:
    lines = [line.strip() for line in quoted.split("\n") if not _UNDERLINE.fullmatch(line)]
    return " ".join(line for line in lines if line).replace("``", "")


def balanced(html: str, where: str) -> str:
    """Return raw HTML with every tag closed, so that it cannot end or swallow what surrounds it.

    Raises ``RejectedDocument`` for a bomb.
    """
    html = without_unseen(with_linked_frames(html))
    require_tame(html, where)
    soup = BeautifulSoup(with_endless_as_text(html), "html.parser")
    remove_tags(soup, lambda tag: tag.name in _UNSEEN)
    for tag in soup.find_all(_FRAMES):
        tag.hidden = True  # what it holds is written without it
    return soup.decode()
