"""What notes hold for their own tool: queries of Obsidian's plugins, fields of Dataview, links of Dendron.

A query, which only Obsidian can answer, is left out, and so is the data of a drawing of Excalidraw, whose
texts stay. A field, ``key:: value``, is shown as its key and its
value; Logseq writes properties so too. A link of Dendron has its text first, where others have it last.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ..fences import Fences, IndentedCode, code_of, fences_of
from ..front_matter_blocks import text_start
from ..parts import Literal
from ..project import Context

_DRAWING_MARK = "excalidraw-plugin"
_BLOCKS = ("```dataview", "```datacore", "```tasks", "```query", "```base")
MARKS = (_DRAWING_MARK, *_BLOCKS, "`= ", "`$= ", "<%", ":: ")

_QUERIES = frozenset({"dataview", "dataviewjs"})
# Elsewhere these may be languages of examples.
_IN_VAULTS = frozenset(
    {"tasks", "query", "base", *(f"datacore{kind}" for kind in ("", "js", "jsx", "ts", "tsx"))}
)
_INLINE = re.compile(r"(?<!`)`(?P<js>\$?)=[ \t]*(?P<query>[^`\n]{1,500})`(?!`)")
_OF_NOTES = re.compile(r"(?:\w+\(.{0,100}?)?\b(?:this|dv)\.")
_TEMPLATE = re.compile(r"<%(?:[-_*~+][^%\n]|[^%\n])[^\n]{0,500}?%>")
_LINE = re.compile(
    r"^(?P<before>[ \t]*(?:>[ \t]?)*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[.\][ \t]+)?)?)"
    r"(?P<key>(?P<strong>\*\*|__|)[^\W_](?:[\w /-]{0,58}\w)?(?P=strong))::[ \t]+(?=\S)(?P<value>[^\n]*)$",
    re.MULTILINE,
)
_BRACKETED = re.compile(
    r"(?P<open>[\[(])(?P<key>[^\W_](?:[\w /-]{0,58}\w)?)::[ \t]+"
    r"(?P<value>(?:\[\[[^\[\]\n]{1,200}\]\]|[^\[\]()\n]){1,300})(?P<close>[\])])"
)


_IS_DRAWING = re.compile(rf"^{_DRAWING_MARK}:", re.MULTILINE)
# What tells the reader of the file to open it otherwise, and the headings around its texts.
_OF_EXCALIDRAW = re.compile(
    r"^(?:==[^\n=]{0,20}Switch to EXCALIDRAW VIEW[^\n]*|#{1,6} (?:Excalidraw Data|Text Elements)[ \t]*)$",
    re.MULTILINE,
)
_DRAWING = re.compile(
    r"^(?:%%[ \t]*\n+)?#{1,6} (?:Element Links|Embedded Files|Drawing)[ \t]*$", re.MULTILINE
)

_TEXT_FIRST = re.compile(r"(?<=\[\[)(?P<text>[^\[\]\n|\\]*)(?P<bar>\\?\|)(?P<note>[^\[\]\n|]+)(?=\]\])")


def directives(text: str, context: Context) -> Iterator[Literal]:
    """Yield the queries of a note, which are left out with a remark, its fields, and links of Dendron."""
    if context.is_of("dendron"):
        yield from _links_of_dendron(text)
    yield from _of_obsidian(text, context)
    if _IS_DRAWING.search(text, 0, text_start(text)):
        yield from _of_drawing(text)


def _of_drawing(text: str) -> Iterator[Literal]:
    """Yield what stands in the file of a drawing besides its texts."""
    around = [*_OF_EXCALIDRAW.finditer(text, text_start(text))]
    # Above them the author may write a note.
    data = _DRAWING.search(text, around[-1].end() if around else text_start(text))
    end = data.start() if data else len(text)
    yield from (Literal(*found.span(), "") for found in around)
    if data:
        yield Literal(end, len(text), "", "the drawing is Excalidraw's and only its texts are shown")


def _links_of_dendron(text: str) -> Iterator[Literal]:
    code = code_of(text)
    for found in _TEXT_FIRST.finditer(text):
        if not code.hold(found.start()):
            yield Literal(*found.span(), f"{found['note']}{found['bar']}{found['text']}")


def _of_obsidian(text: str, context: Context) -> Iterator[Literal]:
    is_vault, fences, code = context.is_of("obsidian"), fences_of(text), code_of(text)
    start = text_start(text)
    indented = IndentedCode(text, start)

    def in_code(at: int) -> bool:
        return code.hold(at) or indented.hold(at)

    yield from (each for each in _blocks(text, fences, is_vault) if not indented.hold(each.start))
    for found in _INLINE.finditer(text, start):
        is_query = is_vault or _OF_NOTES.match(found["query"])
        if is_query and not fences.hold(found.start()) and not indented.hold(found.start()):
            yield _unanswered(*found.span(), found[0].strip("`"))
    for found in _TEMPLATE.finditer(text, start) if is_vault else ():
        if not in_code(found.start()):
            yield _unanswered(*found.span(), found[0])
    yield from _fields(text, in_code, start)


def _blocks(text: str, fences: Fences, is_vault: bool) -> Iterator[Literal]:
    for start, end, info in fences.spans:
        kind = info.split(maxsplit=1)[0].lower() if info else ""
        if kind in _QUERIES or (is_vault and kind in _IN_VAULTS):
            opening = text.rfind("\n", 0, max(0, start - 1)) + 1
            closing = text.find("\n", end)
            yield _unanswered(opening, len(text) if closing < 0 else closing, f"the block {kind}")


def _unanswered(start: int, end: int, query: str) -> Literal:
    return Literal(start, end, "", f"{query:.80} is a query that only Obsidian can answer: it is left out")


def _fields(text: str, in_code: Callable[[int], bool], start: int) -> Iterator[Literal]:
    for found in _LINE.finditer(text, start):
        if not in_code(found.start("key")):
            yield Literal(found.start("key"), found.start("value"), f"**{found['key'].strip('*_')}:** ")
            # Obsidian shows each on a line of its own.
            yield Literal(found.end(), found.end(), "  ")
    for found in _BRACKETED.finditer(text, start):
        is_pair = found["open"] + found["close"] in ("[]", "()")
        if is_pair and not in_code(found.start()) and text[found.end() : found.end() + 1] not in ("(", "["):
            # In round brackets the key is not shown.
            key = f"**{found['key']}:** " if found["open"] == "[" else ""
            yield Literal(*found.span(), f"{key}{found['value'].strip()}")
