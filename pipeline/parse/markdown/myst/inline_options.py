"""Options in braces on the line that opens a box, as MyST, Pandoc and Docusaurus write them.

``:::{tip .dropdown #id open=true} Title`` is MyST's, ``::: {.callout-note collapse="true"}`` a div of Pandoc
as Quarto uses it, and ``:::note[Title]{.class}`` a directive of Docusaurus.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_OPTION = re.compile(
    r"\.(?P<css>[\w-][^\s\"'{}=#.]{0,60})"
    r"|\#(?P<label>\w[\w:.-]{0,100})"
    r"|(?P<key>[A-Za-z][\w:-]{0,40})=(?:\"(?P<double>(?:[^\"\\\n]|\\[^\n]){0,1000})\""
    r"|'(?P<single>[^'\n]{0,1000})'|(?P<bare>[^\s\"'{}=]{1,300}))"
)
_LISTED = re.sub(r"\?P<\w+>", "?:", _OPTION.pattern)
_OPTIONS = rf"(?P<options>(?:{_LISTED})(?:[ \t]+(?:{_LISTED})){{0,20}})[ \t]*\}}"
_FENCE = r"(?P<fence>`{3,}|~{3,}|:{3,})"
_DIRECTIVE = re.compile(
    rf"{_FENCE}\{{[ \t]*(?P<name>[A-Za-z][\w:-]{{0,30}})[ \t]+{_OPTIONS}[ \t]*(?P<rest>[^\n]*)\Z"
)
_DIV = re.compile(rf"{_FENCE}[ \t]*\{{[ \t]*{_OPTIONS}[ \t]*:*\Z")
_BEHIND = re.compile(
    r"(?P<fence>:{3,})[ \t]*(?P<name>[A-Za-z][\w-]{0,30}(?:\[[^\]\n]{0,300}\])?)[ \t]*\{[ \t]*"
    rf"{_OPTIONS}\Z"
)
_ESCAPED = re.compile(r"\\([\"\\])")
_BOX_NAME = re.compile(r"[A-Za-z][\w-]{0,30}")
# Begins the classes of Quarto's boxes.
_CALLOUT = "callout-"


@dataclass(frozen=True, slots=True)
class InlineOptions:
    """An opening without its options, and the options as lines below it would give them."""

    opening: str
    options: dict[str, str]
    is_callout: bool = False


def is_callout(classes: str) -> bool:
    """Return whether one of the classes is that of a callout of Quarto."""
    return any(each.startswith(_CALLOUT) for each in classes.split())


def read_inline_options(line: str) -> InlineOptions | None:
    """Return the opening and its options, if the line has some in braces."""
    if "{" not in line:
        return None
    if found := _DIRECTIVE.match(line):
        opening = f"{found['fence']}{{{found['name']}}} {found['rest']}".rstrip()
        return InlineOptions(opening, _read(found["options"]))
    if found := _BEHIND.match(line):
        return InlineOptions(f"{found['fence']}{found['name']}", _read(found["options"]))
    found = _DIV.match(line) if line.startswith(":") else None
    return _div(found["fence"], _read(found["options"])) if found else None


def _div(fence: str, options: dict[str, str]) -> InlineOptions:
    """Return a div of Pandoc: Quarto's callouts, and others by the first of their classes."""
    classes = options.get("class", "").split()
    callout = next(filter(is_callout, classes), None)
    if callout and "collapse" in options:
        options["class"] += " dropdown"
        options |= {"open": ""} if options["collapse"] == "false" else {}
    name = callout.removeprefix(_CALLOUT) if callout else next(iter(classes), "")
    name = name if _BOX_NAME.fullmatch(name) else "div"
    return InlineOptions(f"{fence} {{.{name}}}", options, bool(callout))


def _read(text: str) -> dict[str, str]:
    """Return the options by name: all classes as ``class``, an identifier as ``name``."""
    options: dict[str, str] = {}
    for found in _OPTION.finditer(text):
        if found["css"]:
            options["class"] = f"{options.get('class', '')} {found['css']}".strip()
        elif found["label"]:
            options["name"] = found["label"]
        else:
            value = next(filter(None, (found["double"], found["single"], found["bare"])), "")
            options[found["key"].lower()] = _ESCAPED.sub(r"\1", value) if found["double"] else value
    return {key: each for key, each in options.items() if each != "false" or key == "collapse"}
