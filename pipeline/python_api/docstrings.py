"""Docstrings as markdown: their text as it is, and lists of parameters and the like as definition lists."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import griffe

from ..includes.fences import fences_of
from ..includes.parts import indented
from .signatures import description, unwrapped

_HEADING = re.compile(r"^[ ]{0,3}(#{1,6})(?=[ \t]+\S)", re.MULTILINE)
_CONSOLE = re.compile(r"^[ \t]*>>>")
_FIELD = re.compile(r"^[ \t]*:(?:param|raises|returns|rtype|type)\b[^:\n]{0,200}:", re.MULTILINE)
# Google's sections that Griffe takes for one only where there are several: a title with an item below it.
_GOOGLE = re.compile(
    r"^(?P<indent>[ \t]*)"
    r"(?:Args|Arguments|Params|Parameters|Attributes|Keyword (?:Args|Arguments)|Raises|Returns|Yields):"
    r"[ \t]*\n(?P=indent)[ \t]+\S",
    re.MULTILINE,
)
# Of the words in front of a definition list.
_TITLES: Mapping[str, str] = {
    "parameters": "Parameters",
    "other parameters": "Other parameters",
    "type parameters": "Type parameters",
    "attributes": "Attributes",
    "raises": "Raises",
    "warns": "Warns",
    "returns": "Returns",
    "yields": "Yields",
    "receives": "Receives",
    "functions": "Functions",
    "classes": "Classes",
    "modules": "Modules",
    "type aliases": "Type aliases",
}
_BOXES = {"note", "warning", "tip", "danger", "important", "info", "example", "caution", "hint", "see-also"}


def docstring_markdown(found: griffe.Object, style: str, level: int) -> str:
    """Return the object's docstring, whose headings are at this level or below it.

    Parameters that only their annotations describe follow it.
    """
    pieces = list(_sections(found, style)) if found.docstring is not None else []
    if isinstance(found, griffe.Function):
        pieces += _described_parameters(found, "\n".join(pieces))
    elif isinstance(found, griffe.Class) and isinstance(
        init := found.members.get("__init__"), griffe.Function
    ):
        pieces += _described_parameters(init, "\n".join(pieces))
    elif isinstance(found, griffe.Attribute) and (said := description(found.annotation)):
        pieces.append(inspect.cleandoc(said))
    return _lowered("\n\n".join(filter(None, pieces)), level) + "\n"


def _sections(found: griffe.Object, style: str) -> Iterator[str]:
    docstring = found.docstring
    if docstring is None:
        return
    if style == "auto" and _FIELD.search(docstring.value):
        style = "sphinx"  # which Griffe recognises only by several fields
    elif style == "auto" and _GOOGLE.search(docstring.value):
        style = "google"
    try:
        options: dict[str, Any] = {} if style == "auto" else {"warnings": False}
        sections = docstring.parse(style, **options)  # type: ignore[arg-type]
    except (ValueError, KeyError, AttributeError, TypeError, IndexError, RecursionError):
        yield docstring.value
        return
    for section in sections:
        yield _section(section)


def _section(section: griffe.DocstringSection) -> str:
    kind, value = section.kind.value, section.value
    if kind == "text":
        return _code_of_consoles(str(value))
    if kind == "examples":
        return "\n\n".join(("**Examples**", *(_example(*each) for each in value)))
    if kind == "admonition":
        return _box(value.kind, section.title or value.kind, _code_of_consoles(value.contents))
    if kind == "deprecated":
        return _box("warning", f"Deprecated since {value.version}".removesuffix(" since "), value.description)
    title = section.title or _TITLES.get(kind, kind.capitalize())
    return "\n\n".join((f"**{title.rstrip(':')}**", _definitions(map(_term, value))))


def _term(each: Any) -> tuple[str, str]:
    """Return a name with its type, and what is said of it."""
    name, annotation = getattr(each, "name", "") or "", getattr(each, "annotation", None)
    kind = unwrapped(annotation) if annotation is not None else ""
    shown = [f"`{_without_backticks(part)}`" for part in (name, kind) if part]
    default = getattr(each, "value", None) if hasattr(each, "default") else None
    if default:
        shown.append(f"default `{_without_backticks(str(default))}`")
    return " · ".join(shown) or "value", str(each.description or "")


def _without_backticks(code: str) -> str:
    return " ".join(code.replace("`", "'").split())[:200]


def _definitions(terms: Iterable[tuple[str, str]]) -> str:
    return "\n\n".join(
        f"{term}\n:   {indented(said.strip() or '—', '    ').lstrip()}" for term, said in terms
    )


def _described_parameters(found: griffe.Function, said: str) -> list[str]:
    """Return a list of the parameters whose annotations hold a text, as FastAPI's do."""
    terms = [
        (f"`{each.name}` · `{_without_backticks(unwrapped(each.annotation))}`", inspect.cleandoc(text))
        for each in found.parameters
        if (text := description(each.annotation)) and f"\n`{each.name}`" not in said
    ]
    return ["**Parameters**", _definitions(terms)] if terms else []


def _box(kind: str, title: str, text: str) -> str:
    known = kind if kind in _BOXES else "note"
    return f'!!! {known} "{title.replace(chr(34), chr(39))}"\n\n{indented(text, "    ")}'


def _example(kind: griffe.DocstringSectionKind, text: str) -> str:
    return _fenced(text) if kind is griffe.DocstringSectionKind.examples else _code_of_consoles(text)


def _fenced(code: str) -> str:
    ticks = max((len(run) for run in re.findall(r"`{3,}", code)), default=2) + 1
    return f"{'`' * ticks}pycon\n{code}\n{'`' * ticks}"


def _code_of_consoles(text: str) -> str:
    """Return the text with its doctests as code; without a fence they would be quotations."""
    if ">>>" not in text:
        return text
    fences, at, pieces = fences_of(text), 0, list[str]()
    for paragraph in re.split(r"(\n[ \t]*\n)", text):
        is_console = _CONSOLE.match(paragraph) and not fences.hold(at)
        pieces.append(_fenced(inspect.cleandoc(paragraph)) if is_console else paragraph)
        at += len(paragraph)
    return "".join(pieces)


def _lowered(text: str, level: int) -> str:
    """Return the text with its headings below this level, so that they are within the object's section."""
    if "#" not in text:
        return text
    fences = fences_of(text)

    def mark(found: re.Match[str]) -> str:
        return found[0] if fences.hold(found.start()) else "#" * min(len(found[1]) + level - 1, 6)

    return _HEADING.sub(mark, text)
