"""Blocks of Logseq: their names and properties, references to them, logs of time, and macros.

The name of a block, ``id:: 64b8…``, becomes one that links know (``^64b8…``); a reference, ``((64b8…))``, the
words of the block, which lead there if it is on the page. What only Logseq can answer is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..fences import code_of
from ..front_matter_blocks import text_start
from ..parts import Literal
from ..project import Context
from .org_blocks import org_directives

MARKS = (
    "id:: ",
    "collapsed:: ",
    ":LOGBOOK:",
    "((",
    "{{embed ",
    "{{query ",
    "{{renderer ",
    "{:height",
    "{:width",
)

_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_TOKEN = re.compile(
    r"(?m:^(?P<indent>[ \t]*(?:[-*+][ \t]+)?)"
    rf"(?:id::[ \t]+(?P<name>{_UUID})|(?P<hidden>collapsed::[ \t]+(?:true|false)))[ \t]*$\n?)"
    r"|(?m:^[ \t]*(?P<drawer>:LOGBOOK:)[ \t]*$)"
    rf"|\[(?P<label>[^\[\]\n]{{1,300}})\]\(\(\((?P<named>{_UUID})\)\)\)"
    rf"|(?P<embedded>\{{\{{embed[ \t]+)?\(\((?P<block>{_UUID})\)\)(?(embedded)[ \t]*\}}\}})"
    r"|\{\{embed[ \t]+(?P<page>\[\[[^\[\]\n]{1,200}\]\])[ \t]*\}\}"
    # Of other tools that write macros so, none begins their arguments like this.
    r"|(?P<macro>\{\{(?:query[ \t]+[(\[#\"]|renderer[ \t]+:)[^{}\n]{0,500}\}\})"
    r"|!\[[^\[\]\n]{0,300}\]\([^()\n]{0,500}\)(?P<size>\{:(?:height|width)[ \t]+\d[^{}\n]{0,60}\})"
)
_NAMED = re.compile(
    r"^[ \t]*+(?:[-*+][ \t]++)?(?P<text>\S[^\n]*)\n"
    r"(?:[ \t]*+(?:[\w-]{1,40}::[ \t]|(?:SCHEDULED|DEADLINE):)[^\n]*\n){0,9}"
    rf"[ \t]*+id::[ \t]+(?P<name>{_UUID})[ \t]*$",
    re.MULTILINE,
)
# Times, and what became of a task: any other line is text.
_DRAWER = re.compile(
    r"(?:\n[ \t]*+(?:CLOCK:|(?:[-*+][ \t]+)?State[ \t]+\")[^\n]*+){0,500}+\n[ \t]*+:END:[ \t]*+(?:\n|\Z)"
)
# What is on no page, so that no reference may show it; what is never closed goes on to the end.
_COMMENT = re.compile(
    r"<!--(?:[^-]|-(?!->))*+(?:-->|\Z)|%%(?:[^%]|%(?!%))*+%%"
    r"|\{::comment[ \t]*\}[\s\S]*?(?:\{:/(?:comment)?[ \t]*\}|\Z)"
    r"|\{%-?[ \t]*comment\b[\s\S]*?(?:\bendcomment\b|\Z)"
    r"|#\+BEGIN_COMMENT\b[\s\S]*?(?:#\+END_COMMENT\b|\Z)",
    re.IGNORECASE,
)
# A line that a name below it can end, as it cannot a table, code or a heading.
_ENDS_WITH_NAME = re.compile(r"[ \t]*(?:[-*+][ \t]+)?(?![|`~#>])\S")
_WIDTH = re.compile(r":width[ \t]+(\d{1,4})\b")
_MARKUP = re.compile(r"\[#[ABC]\]|[\[\]|{}<>`]|\(\([^()\n]*\)\)")
_MAX_TEXT, _MAX_MARKS = 200, 100
_BULLET = re.compile(r"[ \t]*(?:[-*+][ \t]+)?")
_LINE_END = re.compile(r"[ \t]*(?:\n|\Z)")


def directives(text: str, context: Context) -> Iterator[Literal]:
    """Yield what the blocks of a note hold for Logseq; ``context`` is that of any note."""
    code, at, is_graph = code_of(text), 0, context.is_of("logseq")
    if is_graph:
        yield from org_directives(text, code, text_start(text))
    texts = {found["name"]: found["text"] for found in _NAMED.finditer(_COMMENT.sub(_blank, text))}
    for found in _TOKEN.finditer(text, text_start(text)):
        if found.start() < at or code.hold(found.start()):
            continue
        if found["drawer"]:
            at = _after_drawer(text, found.end())
            yield from [Literal(found.start(), at, "")] if at else []
        elif found["name"] and _ENDS_WITH_NAME.match(
            text, text.rfind("\n", 0, max(0, found.start() - 1)) + 1
        ):
            end = found.end() - text.endswith("\n", found.start(), found.end())
            yield Literal(found.start() - 1, end, f" ^{found['name']}")
        else:
            shown = _shown(found, texts, is_graph=is_graph)
            yield from [shown or _of_another_page(text, found)] if shown or is_graph else []


def _blank(comment: re.Match[str]) -> str:
    return "\n" * comment[0].count("\n")


def _after_drawer(text: str, start: int) -> int:
    """Return where the text goes on after a log of time, 0 if it holds anything else or has no end."""
    end = _DRAWER.match(text, start)
    return end.end() if end else 0


def _shown(found: re.Match[str], texts: dict[str, str], *, is_graph: bool) -> Literal | None:
    """Return what stands for a mark of Logseq; None for a reference to a block that is not on the page."""
    if found["name"] or found["hidden"]:
        return Literal(*found.span(), f"{found['indent']}^{found['name']}\n" if found["name"] else "")
    if found["page"]:
        return Literal(*found.span(), f"!{found['page']}")
    if found["size"]:
        width = _WIDTH.search(found["size"])
        return Literal(*found.span("size"), f"{{width={width[1]}}}" if width else "")
    if found["macro"]:
        return Literal(*found.span(), "", f"{found['macro']:.80} is Logseq's to answer and is left out")
    name = found["block"] or found["named"]
    words = " ".join(_MARKUP.sub("", texts.get(name, ""))[:_MAX_TEXT].split())
    if words:
        return Literal(*found.span(), f"[[#^{name}|{_label(found) or words}]]")
    left = f"{found[0]:.80} is a block of another page and is left out"
    return Literal(*found.span(), "", left) if found["embedded"] and not is_graph else None


def _label(found: re.Match[str]) -> str:
    return " ".join(_MARKUP.sub("", found["label"] or "").split())


def _of_another_page(text: str, found: re.Match[str]) -> Literal:
    """Return a reference that shows the block's words, or all of it where nothing else stands there."""
    target, label = f"#^{found['block'] or found['named']}", _label(found)
    if label:
        return Literal(*found.span(), f"[[{target}|{label}]]")
    line = text[text.rfind("\n", max(0, found.start() - _MAX_MARKS), found.start()) + 1 : found.start()]
    is_alone = _BULLET.fullmatch(line) and _LINE_END.match(text, found.end())
    return Literal(*found.span(), f"![[{target}]]" if is_alone else f"[[{target}]]")
