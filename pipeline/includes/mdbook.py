"""The directives of mdBook, such as ``{{#include file.rs:anchor}}``, and the lines of code that it hides."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from .fences import fenced, fences_of, indent_before, is_quoted, language_of
from .parts import Directive, Literal, Part, as_it_is, between, lines, whole

MARKS = ("{{#", "{{ #", "```rust")

_DIRECTIVE = re.compile(
    r"(?P<escape>\\)?\{\{\s*#(?P<kind>include|rustdoc_include|playground|playpen|title)\s+"
    r"(?P<target>[^{}\s:][^{}\n:]*?)(?::(?P<part>[^{}\s]*))?(?P<rest>\s+[^{}\n]*)?\s*\}\}"
)


def directives(text: str) -> Iterator[Directive | Literal]:
    """Yield the directives of a markdown text in order."""
    for found in _DIRECTIVE.finditer(text):
        start, end = found.span()
        if found["escape"]:
            yield Literal(start, end, found[0][1:])
        elif found["kind"] == "title":
            yield Literal(start, end, "")
        elif not is_quoted(text, start, end):
            yield _directive(found, indent_before(text, start))


def _directive(found: re.Match[str], indent: str) -> Directive:
    is_code = found["kind"] in ("playground", "playpen")
    target = found["target"].split()[0] if is_code else found["target"].strip()
    form = partial(fenced, language_of(target)) if is_code else as_it_is
    start, part = found.start() - len(indent), _part(found["part"] or "")
    return Directive(start, found.end(), target, part, form, indent, is_nested=not is_code)


def _part(spec: str) -> Part:
    if not spec:
        return whole
    if not re.fullmatch(r"\d*:?\d*", spec):
        return between(spec, r"ANCHOR:\s*", r"ANCHOR_END:\s*", r"ANCHOR(?:_END)?:\s*[\w-]+")
    first, is_range, last = spec.partition(":")
    return lines(f"{first}:{last}" if is_range else first)


_RUST = re.compile(r"rust\b")
# A line that begins with "# " is hidden; one that begins with "##" is shown without the first.
_HIDDEN = re.compile(r"^[ \t]*(?:>[ \t]?)*[ \t]*#(?: [^\n]*)?(?:\n|\Z)", re.MULTILINE)
_SHOWN = re.compile(r"^([ \t]*(?:>[ \t]?)*[ \t]*)##", re.MULTILINE)


def without_hidden_lines(text: str) -> str:
    """Return the text without the lines of Rust code that mdBook and rustdoc compile and do not show."""
    if "rust" not in text:
        return text
    pieces, at = [], 0
    for start, end, info in fences_of(text).spans:
        if _RUST.match(info):
            code = _SHOWN.sub(r"\1#", _HIDDEN.sub("", text[start:end]))
            pieces += [text[at:start], code]
            at = end
    return "".join([*pieces, text[at:]])
