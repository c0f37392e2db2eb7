"""Recovery of what faults would lose: what docutils quotes in its complaints, options, unclosed HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from bs4 import BeautifulSoup
from docutils import nodes

from ..html.parser import remove_tags
from ..markup import require_tame, with_endless_as_text, with_linked_frames, without_unseen

_ERROR = 3
_WRONG_LEVEL = r"Inconsistent title style|A level \d+ section|Title level"
_HEADING = re.compile(_WRONG_LEVEL)
_TITLE = re.compile(rf"{_WRONG_LEVEL}|Unexpected section title|Incomplete section|.*itle overline")
_UNDERLINE = re.compile(r"(\W)\1*\s*")
_DIRECTIVE = re.compile(r"\.\.[ \t]+[\w:+.-]+::[^\n]{0,60}")
_OPTION = re.compile(r":([\w-]+):[ \t]*(.*)")
# What these contain is not text for a reader, or would swallow the rest of the page.
_UNSEEN = ["plaintext", "xmp", "textarea", "title", "select", "noembed", "noframes", "iframe", "head"]
_FRAMES = ["html", "body", "main", "article"]


def is_complaint(node: nodes.Node) -> bool:
    """Return whether the node is docutils' complaint that the text is not reStructuredText."""
    return isinstance(node, nodes.system_message) and node["level"] >= 2


def quoted_by(message: nodes.Element, level: int) -> Iterator[str]:
    """Yield what a system message quotes as HTML: a heading of that level, a misplaced title, else code.

    Nothing is quoted by mere warnings, after which docutils keeps the text.
    """
    if message["level"] < _ERROR:
        return
    complaint = message.children[0].astext() if message.children else ""
    for quoted in message.findall(nodes.literal_block):
        tag, text = "pre", quoted.astext()
        if _TITLE.match(complaint):
            tag, text = f"h{level}" if _HEADING.match(complaint) else "p", _title_text(text)
        if text:
            yield f"<{tag}>{escape(text, quote=False)}</{tag}>"


def failed_directives(document: nodes.document) -> Iterator[str]:
    """Yield the beginning of each directive that docutils could not follow, which stands as code."""
    for message in document.findall(nodes.system_message):
        if message["level"] >= _ERROR:
            texts = (quoted.astext() for quoted in message.findall(nodes.literal_block))
            yield from (found[0].rstrip() for text in texts if (found := _DIRECTIVE.match(text)))


def known_options(given: Sequence[tuple[str, str | None]], known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that a directive knows and whose values it takes, the last of those named alike.

    For any other, docutils shows the whole directive as code, and Sphinx leaves it out.
    """
    options: dict[str, Any] = {}
    for name, value in given:
        try:
            options[name] = known[name](value)
        except (AttributeError, KeyError, TypeError, ValueError):
            continue
    return options


def options_by_line(lines: Sequence[str], known: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return options that docutils cannot read, as ``:ticket:`5` ``; ``None`` if a line is no option."""
    found = [_OPTION.fullmatch(line) for line in lines]
    if not all(found):
        return None
    return known_options([(each[1].lower(), each[2].strip(" `")) for each in found if each], known)


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
