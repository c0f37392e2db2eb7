"""Loops of Liquid over what is known: data, front matter, settings, and texts that are split.

A loop is followed if all that stands in it is known: values with common filters, conditions, other loops. Of
one with anything else, such as the posts of the site, nothing is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from .. import as_markdown
from .values import MISSING, Budget, NotFollowed, Values, text_of

_TOKEN = re.compile(
    r"\{%(?P<before>-?)\s*(?P<name>[A-Za-z]\w*)(?P<rest>(?:(?!\{%|%\})[\s\S])*)%\}"
    r"|\{\{(?P<trims>-?)(?P<value>(?:(?!\{\{|\}\})[\s\S])*)\}\}"
)
_FOR = re.compile(
    r"(?P<variable>\w{1,100})\s+in\s+(?P<items>\S{1,300})(?P<options>(?:\s+(?:reversed|(?:limit|offset)\s*:\s*\d+))*)\s*\Z"
)
_OPTION = re.compile(r"(limit|offset)\s*:\s*(\d+)")
_BEGINS_WITH_TAG = re.compile(r"^[ \t]*</?[a-z]", re.MULTILINE)
_MAX_CHARS, _MAX_DEPTH = 20_000, 12
# Of what a page may do, one value or tag, beside the text that it writes.
_STEP = 10


@dataclass(slots=True)
class _Block:
    """A tag with what it encloses: its parts, by the tags ``else`` and ``elsif`` between them."""

    name: str
    rest: str
    parts: list[tuple[str, list[_Node]]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Output:
    """A value between braces, or what a tag assigns to ``name``."""

    expression: str
    name: str = ""


_Node = str | _Output | _Block


def followed(loop: str, named: Callable[[Sequence[str]], object], budget: Budget) -> str | None:
    """Return what a loop writes, from its tag to the one that ends it; ``None`` where it is not known.

    ``named`` gives the value at a path of names, and raises ``NotFollowed`` for what is not known.
    """
    if len(loop) > _MAX_CHARS:
        return None
    try:
        return _Writer(Values(named, budget), budget).written(_parsed(loop))
    except NotFollowed:
        return None


def _parsed(text: str) -> list[_Node]:
    """Return a text as a tree; raise ``NotFollowed`` for tags that are not known here."""
    top = _Block("", "", [("", [])])
    stack, at, trims = [top], 0, False
    for found in _TOKEN.finditer(text):
        inside = found["rest"] if found["name"] else found["value"]
        between = text[at : found.start()]
        between = between.lstrip() if trims else between
        stack[-1].parts[-1][1].append(between.rstrip() if found["before"] or found["trims"] else between)
        at, trims = found.end(), inside.endswith("-")
        inside = inside.removesuffix("-").strip()
        if found["name"] is None:
            stack[-1].parts[-1][1].append(_Output(inside))
        else:
            _take_tag(stack, found["name"], inside)
    stack[-1].parts[-1][1].append(text[at:].lstrip() if trims else text[at:])
    if len(stack) > 1:
        raise NotFollowed
    return top.parts[0][1]


def _take_tag(stack: list[_Block], name: str, rest: str) -> None:
    block = stack[-1]
    if name in ("for", "if", "unless") and len(stack) <= _MAX_DEPTH:
        inner = _Block(name, rest, [(rest, [])])
        block.parts[-1][1].append(inner)
        stack.append(inner)
    elif name == f"end{block.name}" and block.name:
        stack.pop()
    elif name == "elsif" and block.name in ("if", "unless"):
        block.parts.append((rest, []))
    elif name == "else" and block.name:
        block.parts.append(("true", []))
    elif name == "assign" and "=" in rest:
        variable, _, expression = rest.partition("=")
        block.parts[-1][1].append(_Output(expression.strip(), variable.strip()))
    else:
        raise NotFollowed


class _Writer:
    """One pass over a tree."""

    def __init__(self, values: Values, budget: Budget) -> None:
        self.values, self.budget = values, budget

    def written(self, nodes: list[_Node]) -> str:
        """Return what the nodes write; raise ``NotFollowed`` where it is not known, or too much."""
        pieces = list[str]()
        for node in nodes:
            piece = node if isinstance(node, str) else self.node(node)
            self.budget.spend(_STEP + (len(piece) if not isinstance(node, _Block) else 0))
            pieces.append(piece)
        return "".join(pieces)

    def node(self, node: _Output | _Block) -> str:
        if isinstance(node, _Block):
            return self.loop(node) if node.name == "for" else self.condition(node)
        value = self.values.of(node.expression)
        if node.name:
            self.values.local[node.name] = value
            return ""
        shown = text_of(value)
        return as_markdown.literal(shown, "&#123;") if "{{" in shown or "{%" in shown else shown

    def condition(self, block: _Block) -> str:
        for number, (given, nodes) in enumerate(block.parts):
            holds = self.values.holds(given)
            if holds != (block.name == "unless" and number == 0):
                return self.written(nodes)
        return ""

    def loop(self, block: _Block) -> str:
        given = _FOR.match(block.rest)
        if given is None or len(block.parts) > 2:
            raise NotFollowed
        items = [*_chosen(self.values.of(given["items"]), given["options"])]
        if not items:
            return self.written(block.parts[1][1]) if len(block.parts) == 2 else ""
        local, around = self.values.local, {**self.values.local}
        pieces = list[str]()
        for number, item in enumerate(items):
            local[given["variable"]] = item
            local["forloop"] = _place(number, len(items))
            pieces.append(self.written(block.parts[0][1]))
        for name in (given["variable"], "forloop"):
            local[name] = around.get(name, MISSING)
        return _in_html("".join(pieces)) if _BEGINS_WITH_TAG.search("".join(pieces)) else "".join(pieces)


def _chosen(items: object, options: str) -> Iterator[object]:
    """Yield what a loop goes over; of a table pairs of name and value, as in Liquid."""
    if isinstance(items, Mapping):
        items = [[name, items[name]] for name in items]
    if not isinstance(items, list | tuple | None):
        raise NotFollowed
    bounds = {name: int(number[:6]) for name, number in _OPTION.findall(options)}
    start = bounds.get("offset", 0)
    chosen = (items or [])[start : start + bounds["limit"] if "limit" in bounds else None]
    yield from reversed(chosen) if "reversed" in options else chosen


def _place(number: int, count: int) -> dict[str, object]:
    return {
        "index": number + 1,
        "index0": number,
        "length": count,
        "first": number == 0,
        "last": number == count - 1,
    }


def _in_html(text: str) -> str:
    """Return lines of HTML without blank ones and indentation, at which markdown would end it."""
    if "<pre" in text or "```" in text:
        return text
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())
