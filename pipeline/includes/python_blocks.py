"""The ``:::`` blocks of mkdocstrings in a markdown text, and its references to Python objects."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from .fences import Fences, fences_of, is_quoted

MARKDOWN = (".md", ".markdown")
# Its options are indented below it, and a blank line may stand between two.
_OPTION = r"(?P=indent)[ \t]{2,}\S"
_BLOCK = re.compile(
    r"^(?P<indent>[ \t]*):::[ \t]+(?P<name>[A-Za-z_]\w*(?:\.\w+)*)[ \t]*$"
    rf"(?P<options>(?:\n(?:{_OPTION}[^\n]*|[ \t]*(?=\n{_OPTION})))*)",
    re.MULTILINE,
)
# [text][package.Class], or [package.Class][]
_REFERENCE = re.compile(r"\[([^\[\]\n]{1,200})\]\[([A-Za-z_]\w*(?:\.\w+){0,20})?\]")
OBJECT_PREFIX = "py:"


@dataclass(frozen=True, slots=True)
class ApiBlock:
    """A block at ``[start, end)``: its indentation, the object's dotted name and its options as YAML."""

    start: int
    end: int
    indent: str
    name: str
    options: str


def page_of(module: str) -> str:
    """Return the text of a module's own page."""
    return f"::: {module}\n    options:\n        heading_level: 1\n"


def blocks(text: str, holds: Callable[[str], bool]) -> list[ApiBlock]:
    """Return the blocks of a text outside code, in order: those with a dotted name, or that of a package.

    Other tools write ``::: tip``; ``holds`` tells whether a name is of a package.
    """
    if ":::" not in text:
        return []
    fences = fences_of(text)
    return [
        ApiBlock(*found.span(), found["indent"], found["name"], found["options"])
        for found in _BLOCK.finditer(text)
        if ("." in found["name"] or holds(found["name"])) and not fences.hold(found.start())
    ]


def with_references(text: str, packages: Sequence[str]) -> str:
    """Return the text with ``[text][package.Class]`` as links, which are resolved with all others.

    ``packages`` are the paths of those that the collection declares.
    """
    if "][" not in text:
        return text
    fences = fences_of(text)
    return "".join(_referring(text, fences, frozenset(PurePath(each).stem for each in packages)))


def _referring(text: str, fences: Fences, packages: frozenset[str]) -> Iterator[str]:
    at = 0
    for found in _REFERENCE.finditer(text):
        name = found[2] or found[1].strip("`")
        is_code = fences.hold(found.start()) or is_quoted(text, *found.span())
        if name.partition(".")[0] in packages and not is_code:
            yield f"{text[at : found.start()]}[{found[1]}](#{OBJECT_PREFIX}{name})"
            at = found.end()
    yield text[at:]
