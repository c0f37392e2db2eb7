"""Cross references of Quarto: ``@fig-owl`` is the figure that ``{#fig-owl}`` names, with its number.

A document numbers its own figures, tables, listings and formulas; a section is called by its title.
Captions, which stand below a table or in the brackets of an image, begin with the number. Options of cells
(``#| echo``) are no code, and cells that say so are not shown.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..fences import Fences, code_of, fences_of
from ..front_matter_blocks import text_start
from ..parts import Literal
from ..project import Context

MARKS = ("{#fig-", "{#tbl-", "{#sec-", "{#eq-", "{#lst-", "#| ", "label: fig-", "label: tbl-")

_KINDS = {"fig": "Figure", "tbl": "Table", "lst": "Listing", "eq": "Equation", "sec": "Section"}
_ID = rf"(?:{'|'.join(_KINDS)})-[\w-]{{1,80}}"
_NAMED = re.compile(
    rf"\{{\#(?P<id>{_ID})(?=[\s}}])|^[ \t]*\#\|[ \t]+label:[ \t]*[\"']?(?P<label>{_ID})[\"']?[ \t]*$",
    re.MULTILINE,
)
_TITLE = re.compile(
    r"^[ ]{0,3}#{1,6}[ \t]++(?P<title>(?:[^\n]*?\S)?)[ \t]*+\{#(?P<id>sec-[\w-]{1,80})[^{}\n]*\}[ \t]*$",
    re.MULTILINE,
)
_PLACE = re.compile(
    rf"(?m:^:[ \t]+(?P<caption>[^\n]*?)[ \t]*\{{\#(?P<table>tbl-[\w-]{{1,80}})[^{{}}\n]*\}}[ \t]*$)"
    r"|(?m:^[ \t]*(?P<image>!\[(?P<alt>[^\[\]\n]*)\]\([^()\n]*\))"
    r"\{\#(?P<figure>fig-[\w-]{1,80})(?P<rest>[ \t][^{}\n]*)?\}[ \t]*$)"
    rf"|\$\$[ \t]*\{{\#(?P<formula>eq-[\w-]{{1,80}})[^{{}}\n]*\}}"
    rf"|(?<!\\)\[(?P<before>[^\[\]\n@]{{0,80}})(?P<list>@{_ID}(?:[ \t]*;[ \t]*@{_ID}){{0,20}})\]"
    rf"|(?<![\w@./\\])@(?P<id>{_ID})"
)
_REFERENCE = re.compile(rf"@({_ID})")
_OPTION = re.compile(r"[ \t]*#\|[ \t]*(?:(?P<key>[\w-]+):[ \t]*(?P<value>[^\n]*)|(?P<more>[^\n]*))(?:\n|\Z)")
_FALSE = re.compile(r"(?i:false|no|off)(?:[ \t]+#.*)?")
_LINK = re.compile(r"\[\^[^\[\]]*\]|!?\[(?P<words>[^\[\]]*)\]\([^()]*\)")
_CELL = re.compile(r"\{(?:python|r|julia|ojs|bash|sql)\b", re.IGNORECASE)
_LISTING = re.compile(r"\{#(?P<id>lst-[\w-]{1,80})(?=[\s}])(?:[^{}\n]*?\slst-cap=\"(?P<caption>[^\"\n]*)\")?")
_INDENT = re.compile(r"[ \t]*")
_NOT_MADE = "what a cell makes is not shown: no program is run"


@dataclass(frozen=True, slots=True)
class _Numbers:
    """What references to the names of a document show; whether there is any tells Quarto's from others."""

    shown: Mapping[str, str]
    are_used: bool

    def link(self, name: str, before: str | None = None) -> str:
        """Return the link to what has the name; ``before`` stands for its kind, as in ``[Fig @x]``."""
        words = self.shown[name]
        if before is not None and not name.startswith("sec-"):
            words = f"{before} {words.rpartition(' ')[2]}".strip()
        return f"[{words}](#{name})"


def directives(text: str, context: Context) -> Iterator[Literal]:
    """Yield captions, references and options of cells; ``context`` is that of any document."""
    del context  # the names of a document say that they are Quarto's
    code = code_of(text)
    numbers = _numbers(text, code)
    for found in _PLACE.finditer(text, text_start(text)) if numbers.shown else ():
        if not code.hold(found.start()) and (each := _place(found, numbers)):
            yield each
    yield from _cells(text, fences_of(text), numbers)


def _numbers(text: str, code: Fences) -> _Numbers:
    titles = {found["id"]: _plain(found["title"]) for found in _TITLE.finditer(text)}
    counts, shown = Counter[str](), dict[str, str]()
    for found in _NAMED.finditer(text):
        name, info = found["id"] or found["label"], code.around(found.start())
        if (info is None) != (found["label"] is None) or (info is not None and not _CELL.match(info)):
            continue  # an example
        kind = name.partition("-")[0]
        if name not in shown:
            counts[kind] += 1
            shown[name] = titles.get(name) or f"{_KINDS[kind]} {counts[kind]}"
    return _Numbers(shown, any(name in shown for name in _REFERENCE.findall(text)))


def _plain(title: str) -> str:
    """Return a title that can be the text of a link: without links and notes, and with brackets in pairs."""
    words = _LINK.sub(lambda found: found["words"] or "", title)
    return words if words.count("[") == words.count("]") else re.sub(r"[\[\]]", "", words)


def _place(found: re.Match[str], numbers: _Numbers) -> Literal | None:
    if found["table"]:
        return Literal(*found.span(), _captioned(found["table"], found["caption"], numbers))
    if found["figure"]:
        return _figure(found, numbers)
    if found["formula"]:
        return Literal(*found.span(), f"$$ ({found['formula']})")
    names = _REFERENCE.findall(found["list"]) if found["list"] else [found["id"]]
    if not all(name in numbers.shown for name in names):
        return None
    if found["list"] is None:
        return Literal(*found.span(), numbers.link(names[0]))
    before = found["before"].strip()
    first = numbers.link(names[0], "" if before == "-" else before) if before else numbers.link(names[0])
    return Literal(*found.span(), ", ".join([first, *map(numbers.link, names[1:])]))


def _figure(found: re.Match[str], numbers: _Numbers) -> Literal | None:
    """Return the caption below an image; its name stands before it where it has other attributes too."""
    text, name = found["alt"].strip(), found["figure"]
    if not numbers.are_used or not (text or found["rest"]):
        return None
    mark = "" if "*" in text else "*"
    caption = f"\n\n{mark}{numbers.shown[name]}: {text}{mark}" if text else ""
    if not found["rest"]:
        return Literal(found.end(), found.end(), caption)
    image = f"{_anchor(name)}{found['image']}{{{found['rest'].strip()}}}"
    return Literal(found.start("image"), found.end(), f"{image}{caption}")


def _anchor(name: str) -> str:
    return f"[](){{ #{name} }}"


def _captioned(name: str, caption: str, numbers: _Numbers) -> str:
    """Return the caption of a table with its number, and the name of the place."""
    said = f": {caption}" if caption else ""
    return f"{_anchor(name)}{numbers.shown[name]}{said}"


def _cells(text: str, fences: Fences, numbers: _Numbers) -> Iterator[Literal]:
    """Yield the names of listings, the options of cells, and whole cells that are not to be shown."""
    for start, end, info in fences.spans:
        if (listing := _LISTING.match(info)) and numbers.are_used and listing["id"] in numbers.shown:
            line = _lines_around(text, start, end)[0]
            place = _captioned(listing["id"], listing["caption"] or "", numbers)
            yield Literal(line, line, f"{_indent(text, line)}{place}\n\n")
        if not _CELL.match(info):
            continue
        at, options = _options(text, start, end)
        around = _lines_around(text, start, end)
        if any(_FALSE.fullmatch(options.get(key, "")) for key in ("echo", "include")):
            yield _hidden(text, around, options, numbers)
        elif at > start:
            yield Literal(start, at, "")
            if said := _said(options, numbers):
                place = f"\n\n{_indent(text, around[0])}{said}"
                yield Literal(around[1], around[1], place, _NOT_MADE)


def _options(text: str, start: int, end: int) -> tuple[int, dict[str, str]]:
    """Return where the code of a cell begins, and its options; values may go on on further lines."""
    at, key, options = start, "", dict[str, str]()
    while at < end and (found := _OPTION.match(text, at)):
        at, key = found.end(), found["key"] or key
        if found["key"]:
            options[key] = found["value"].strip()
        elif key:
            options[key] = f"{options[key]} {found['more'].strip().removeprefix('- ')}".strip()
    return at, options


def _lines_around(text: str, start: int, end: int) -> tuple[int, int]:
    """Return where the line of the opening fence begins, and where that of the closing one ends."""
    closing = text.find("\n", end)
    return text.rfind("\n", 0, max(0, start - 1)) + 1, len(text) if closing < 0 else closing


def _indent(text: str, line: int) -> str:
    found = _INDENT.match(text, line)
    return found[0] if found else ""


def _hidden(text: str, around: tuple[int, int], options: Mapping[str, str], numbers: _Numbers) -> Literal:
    """Return what stands for a cell that is not shown: the place and the caption of what it makes."""
    if _FALSE.fullmatch(options.get("include", "")):
        return Literal(*around, "")
    said = _said(options, numbers)
    return Literal(*around, f"{_indent(text, around[0])}{said}" if said else "", _NOT_MADE)


def _said(options: Mapping[str, str], numbers: _Numbers) -> str:
    """Return the place and the caption of what a cell makes."""
    label, caption = (_unquoted(options.get(key, "")) for key in ("label", "fig-cap"))
    caption = caption or _unquoted(options.get("tbl-cap", ""))
    return _captioned(label, caption, numbers) if label in numbers.shown else caption


def _unquoted(value: str) -> str:
    return re.sub(r"\A[>|][+-]?(?:\s+|\Z)", "", value.strip()).strip("\"'")
