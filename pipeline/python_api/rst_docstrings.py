"""Docstrings as reStructuredText: lists of parameters and the like as the fields of Sphinx."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import griffe

from ..includes.parts import indented
from .signatures import unwrapped

# Its colons end no name.
_ROLE, _COLON = re.compile(r":[\w:.+-]{1,80}:(?=`)"), "\x01"
_NUMPY_SECTION = re.compile(r"^([A-Z][A-Za-z ]{2,30})\n[-=~]{3,}[ \t]*$", re.MULTILINE)
_NUMPY_NAMES = """
    attributes example examples methods note notes parameters raises receives references returns todo
    warning warnings warns yields
"""
_NUMPY_TITLES = frozenset([*_NUMPY_NAMES.split(), "other parameters", "see also"])
# The fields that sections of Google's and NumPy's docstrings are written as.
_FIELDS = {
    "parameters": "param",
    "other parameters": "param",
    "attributes": "var",
    "raises": "raises",
    "warns": "raises",
    "returns": "returns",
    "yields": "yields",
}
_TYPES = {"param": "type", "var": "vartype", "returns": "rtype", "yields": "ytype"}
_INNER = "   "


def rst_docstring(found: griffe.Object) -> str:
    """Return the docstring as reStructuredText, with the sections of Google's and NumPy's style as fields."""
    docstring = found.docstring
    if docstring is None:
        return ""
    style = griffe.infer_docstring_style(docstring)[0]
    if style not in (griffe.Parser.google, griffe.Parser.numpy):
        return _with_titles(docstring.value, found.is_module)
    try:
        # As napoleon reads it: there is one result, and what stands before its colon is its type.
        of_google: dict[str, Any] = {"returns_named_value": False, "returns_multiple_items": False}
        options = of_google if style is griffe.Parser.google else {}
        text = _ROLE.sub(lambda found: found[0].replace(":", _COLON), docstring.value)
        whole = griffe.Docstring(text, parent=docstring.parent)
        sections = whole.parse(style, warnings=False, **options)
    except (ValueError, KeyError, AttributeError, TypeError, IndexError, RecursionError):
        return _with_titles(docstring.value, found.is_module)
    return "\n\n".join(filter(None, map(_section, sections))).replace(_COLON, ":")


def _with_titles(text: str, is_module: bool) -> str:
    """Return a docstring with its titles in bold, except for those of a module, which are headings.

    That is what the sections of NumPy's style remain, of whatever they are.
    """

    def shown(found: re.Match[str]) -> str:
        is_heading = is_module and found[1].lower() not in _NUMPY_TITLES
        return found[0] if is_heading else f"**{found[1]}**\n"

    return _NUMPY_SECTION.sub(shown, text)


def _section(section: griffe.DocstringSection) -> str:
    kind, value = section.kind.value, section.value
    if kind == "text":
        return str(value)
    if kind == "examples":
        return "\n\n".join((".. rubric:: Examples", *(text for _, text in value)))
    if kind == "admonition":
        title = section.title or value.kind
        return f".. admonition:: {title}\n   :class: {value.kind}\n\n{indented(value.contents, _INNER)}"
    if kind == "deprecated":
        return f".. deprecated:: {value.version}\n\n{indented(value.description, _INNER)}"
    return _listed(_FIELDS.get(kind), section)


def _listed(name: str | None, section: griffe.DocstringSection) -> str:
    value = section.value
    if name in ("returns", "yields") and len(value) > 1:
        said = "\n".join(f"* {_kind(each)}{_said(each)}" for each in value)
        return f":{name}:\n{indented(said, _INNER)}"
    if name is None:
        return "\n".join([f"**{section.title or section.kind.value.capitalize()}**", *map(_defined, value)])
    return "\n".join(line for each in value for line in _fields(name, each))


def _fields(name: str, each: Any) -> Iterator[str]:
    """Yield the field for a parameter or the like, and the one for its type."""
    annotation = getattr(each, "annotation", None)
    kind = unwrapped(annotation) if annotation is not None else ""
    if name == "raises":
        yield f":raises {kind}: {_said(each)}"
        return
    named = getattr(each, "name", "") or ""
    shown = f" {named}".replace("*", "\\*") if name in ("param", "var") else ""
    yield f":{name}{shown}: {_said(each)}"
    if kind:
        yield f":{_TYPES[name]}{shown}: {kind}"


def _kind(each: Any) -> str:
    named = getattr(each, "name", "") or ""
    kind = unwrapped(each.annotation) if each.annotation is not None else ""
    return "".join(f"``{part}`` " for part in (named, kind) if part)


def _said(each: Any) -> str:
    return indented(str(each.description or ""), _INNER).lstrip()


def _defined(each: Any) -> str:
    return f"\n``{getattr(each, 'name', '') or 'value'}``\n{indented(str(each.description or '—'), _INNER)}"
