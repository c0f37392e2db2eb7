"""Converting a canvas of Obsidian (JSON Canvas) to markdown, as one would read it: groups, from the top down.

A group is a heading over what lies in it; a card of text is its text, a card of a file a link to it, or the
image; what is written beside an arrow comes last, with the names of what it leads from and to.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from ..assets.media import media_type_of
from ..errors import RejectedDocument
from ..includes.fences import fences_of
from ..untrusted import as_number

MAX_NODES = 10_000
# Each other card is looked for in every group.
MAX_GROUPS = 500
_HEADING = re.compile(r"^ {0,3}(#{1,6})(?=[ \t])", re.MULTILINE)
_OPENED = re.compile(r"^[ \t>]*(?:`{3,}|~{3,})", re.MULTILINE)
_UNNAMEABLE = re.compile(r"[\[\]|#\n\r]+")
_MAX_NAME = 60


@dataclass(slots=True)
class _Card:
    """A node of the canvas, and those that lie in it."""

    kind: str
    values: Mapping[str, Any]
    left: float
    top: float
    right: float
    bottom: float
    inside: list[_Card] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Return what stands for the card in a line about it."""
        said = self.text("label") or PurePosixPath(self.text("file")).stem or self.text("url")
        first = next((line for line in self.text("text").splitlines() if line.strip()), "")
        return (said or first.strip("#*_>- \t"))[:_MAX_NAME]

    def text(self, key: str) -> str:
        """Return a text of the node, empty if it has none."""
        value = self.values.get(key)
        return value.strip() if isinstance(value, str) else ""

    def holds(self, other: _Card) -> bool:
        """Return whether the middle of another card lies in this one, which is larger."""
        x, y = (other.left + other.right) / 2, (other.top + other.bottom) / 2
        return self.left <= x <= self.right and self.top <= y <= self.bottom and self.area > other.area

    @property
    def area(self) -> float:
        """Return the size of the card."""
        return (self.right - self.left) * (self.bottom - self.top)


def markdown_of_canvas(text: str, path: str, where: str) -> str:
    """Return the canvas as one markdown text, whose title is the file's name.

    Raises ``RejectedDocument`` for what is no canvas.
    """
    canvas, front = _loaded(text, where)
    cards = [_card(node) for node in canvas["nodes"]]
    pieces = [f"# {PurePosixPath(path).stem}", *_pieces(_nested(cards), 2)]
    by_id = {str(card.values["id"]): card for card in reversed(cards) if "id" in card.values}
    if arrows := list(_arrows(canvas["edges"], by_id)):
        pieces.append("\n".join(arrows))
    return front + "\n\n".join(pieces) + "\n"


def _loaded(text: str, where: str) -> tuple[dict[str, list[Mapping[str, Any]]], str]:
    """Return the lists of nodes and of edges, and the block of its properties, empty without them."""
    try:
        canvas = json.loads(text) if text.strip() else {}
    except ValueError as error:
        raise _fault(f"not JSON: {str(error).splitlines()[0]}", where) from None
    lists = canvas if isinstance(canvas, dict) else {"nodes": None}
    found: dict[str, Any] = {key: lists.get(key, []) for key in ("nodes", "edges")}
    for each in found.values():
        if not isinstance(each, list) or not all(isinstance(one, dict) for one in each):
            raise _fault("not a canvas: it has no lists of nodes and edges", where)
        if len(each) > MAX_NODES:
            raise _fault(f"more than {MAX_NODES:,} nodes or edges", where)
    metadata = lists.get("metadata")
    values = metadata.get("frontmatter") if isinstance(metadata, dict) else None
    return found, f"---json\n{json.dumps(values)}\n---\n" if isinstance(values, dict) and values else ""


def _fault(what: str, where: str) -> RejectedDocument:
    return RejectedDocument(what, where=where, hint="Open it in Obsidian and save it, or exclude the file.")


def _card(node: Mapping[str, Any]) -> _Card:
    x, y, width, height = (as_number(node.get(key), 0.0) for key in ("x", "y", "width", "height"))
    return _Card(str(node.get("type", "")), node, x, y, x + width, y + height)


def _nested(cards: list[_Card]) -> list[_Card]:
    """Return the cards that lie in no group, each group with what lies in it, in the order of reading."""
    groups = sorted((card for card in cards if card.kind == "group"), key=lambda card: card.area)[:MAX_GROUPS]
    top: list[_Card] = []
    for card in sorted(cards, key=lambda card: (card.top, card.left)):
        around = next((group for group in groups if group.holds(card)), None)
        (top if around is None else around.inside).append(card)
    # What belongs to no group stands before the first heading.
    return sorted(top, key=lambda card: card.kind == "group")


def _pieces(cards: list[_Card], level: int) -> Iterator[str]:
    for card in sorted(cards, key=lambda card: card.kind == "group"):
        if card.kind == "group":
            if card.inside or card.text("label"):
                yield f"{'#' * min(level, 6)} {' '.join(card.text('label').split()) or 'Group'}"
            yield from _pieces(card.inside, level + 1)
        elif piece := _piece(card, level):
            yield piece


def _piece(card: _Card, level: int) -> str:
    if card.kind == "text":
        return _below(card.text("text"), level - 1)
    if card.kind == "link":
        return f"<{card.text('url')}>" if re.fullmatch(r"https?://[^\s<>]+", card.text("url")) else ""
    file = card.text("file").lstrip("/")
    if card.kind != "file" or not file or _UNNAMEABLE.search(file):
        return ""
    if media_type_of(file) is not None:
        return f"![[/{file}]]"
    part = _UNNAMEABLE.sub("#", card.text("subpath"))
    return f"[[/{file}{part}|{posixpath.basename(file).removesuffix('.md')}]]"


def _below(text: str, by: int) -> str:
    """Return a card's markdown with its headings below that of its group, and its code closed."""
    fences = fences_of(text)
    is_open = bool(fences.spans) and fences.spans[-1][1] == len(text)
    # With what stands before it, as in a quotation or an item of a list.
    closing = f"\n{_OPENED.findall(text, 0, fences.spans[-1][0])[-1]}" if is_open else ""

    def lowered(found: re.Match[str]) -> str:
        return found[0] if fences.hold(found.start()) else "#" * min(6, len(found[1]) + by)

    return _HEADING.sub(lowered, text) + closing


def _arrows(edges: list[Mapping[str, Any]], cards: Mapping[str, _Card]) -> Iterator[str]:
    for edge in edges:
        label, ends = edge.get("label"), [cards.get(str(edge.get(key))) for key in ("fromNode", "toNode")]
        if isinstance(label, str) and label.strip():
            names = " → ".join(_UNNAMEABLE.sub(" ", card.name).strip() for card in ends if card)
            yield f"- {names}: {' '.join(label.split())}"
