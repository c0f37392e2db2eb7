"""Attributes in braces at the end of a heading: ``## Title {#id .class key="value"}``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...visibility import SEARCH_EXCLUDED

# Braces at the end of a heading are a list of attributes, and not text, if each of their words is one.
_ATTRIBUTE = (
    r"(?:\.[\w:-]{1,200}|[\w-]{1,50}=(?:\"[^\"{}\n]*\"|'[^'{}\n]*'|[^\s\"'{}]*)|data-[\w-]{1,50}"
    r"|(?<=\{:)[\w-]{1,50}|(?<=\{:[ \t])[\w-]{1,50})(?=[ \t}])"
)
_HEADING_ATTRIBUTES = re.compile(
    rf"(?<![ \t])(?:[ \t]+#+)?[ \t]*\{{:?[ \t]*(?P<before>(?:{_ATTRIBUTE}[ \t]*)*)"
    r"(?:#\\?(?P<id>[\w:.-]{1,200})(?P<after>[^{}\n]*)|(?<=[^{: \t])[ \t]*)\}[ \t]*$"
)
# An anchor in the form of an attribute (`id="9.6.4"`).
_ID = re.compile(r"(?<![\w-])id=([\"']?)([^\s\"'{}]{1,200})\1(?=[\s}]|\Z)")


@dataclass(frozen=True, slots=True)
class AttributedHeading:
    """The title of a heading, the name of its place, and whether searches leave it out."""

    title: str
    id: str
    unsearched: bool


def read_heading(text: str) -> AttributedHeading | None:
    """Return a heading whose text ends with attributes, ``None`` if it does not."""
    found = _HEADING_ATTRIBUTES.search(text)
    if found is None:
        return None
    others = f"{found['before']} {found['after'] or ''}"
    named = _ID.search(others)
    name = found["id"] or (named[2] if named else "")
    return AttributedHeading(text[: found.start()], name, SEARCH_EXCLUDED in others)
