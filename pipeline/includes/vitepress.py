"""The include directives of VitePress and VuePress.

They are ``<<< @/file.js#region``, ``<!--@include: ./part.md-->``, and ``!!!include(part.md)!!!`` of a plugin.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .fences import fenced, fences_of, is_quoted, language_of
from .parts import Directive, Part, between, dedented, lines, whole

MARKS = ("<<<", "@include", "!!!include")

_CODE = re.compile(
    r"^(?P<indent>[ \t]*)<<<[ \t]*(?P<target>[^\s#{\[]+)(?:#(?P<region>[\w-]+))?"
    r"(?:[ \t]?\{[\d,-]*[ \t]*(?P<language>[^\s{}:]*)[^{}\n]*\})?(?:[ \t]*\[[^\]\n]*\])?[ \t]*$",
    re.MULTILINE,
)
_PART = re.compile(
    r"<!--[ \t]*@include:[ \t]*(?P<target>[^\s#{}]+?)(?:#(?P<region>[\w-]+))?"
    r"(?:\{(?P<lines>[\d,]+)\})?[ \t]*-->"
)
_PLUGIN = re.compile(r"!!![ \t]*include[ \t]*\([ \t]*(?P<target>[^()\s]{1,300})[ \t]*\)[ \t]*!!!")
_REGION_MARK = r"#[ ]?(?:end)?region\b"


def directives(text: str) -> Iterator[Directive]:
    """Yield the directives of a markdown text; those in code are examples of themselves."""
    fences = fences_of(text)
    for found in _CODE.finditer(text):
        if not fences.hold(found.start()):
            yield _code(found)
    for found in _PLUGIN.finditer(text):
        if not fences.hold(found.start()) and not is_quoted(text, *found.span()):
            yield Directive(*found.span(), found["target"], is_nested=True)
    for found in _PART.finditer(text):
        if not fences.hold(found.start()) and not is_quoted(text, *found.span()):
            # "3," is from the third line on, "3,5" from the third to the fifth.
            part = lines(found["lines"].replace(",", ":")) if found["lines"] else _region(found["region"])
            yield Directive(*found.span(), found["target"], part, is_nested=True)


def _code(found: re.Match[str]) -> Directive:
    language = found["language"] or language_of(found["target"])

    def form(part: str) -> str:
        return fenced(language, dedented(part))

    return Directive(*found.span(), found["target"], _region(found["region"]), form, found["indent"])


def _region(name: str | None) -> Part:
    begins, ends = r"#[ ]?region\s+", r"#[ ]?endregion\s+"
    return between(name, begins, ends, _REGION_MARK) if name else whole
