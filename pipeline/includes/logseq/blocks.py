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
    rf"|(?P<embedded>\{{\{{embed[ \t]+)?\(\((?P<block>{_UUID})\)\)(?(embedded)[ \t]*\}}\}})"
    r"|\{\{embed[ \t]+(?P<page>\[\[[^\[\]\n]{1,200}\]\])[ \t]*\}\}"
    # Of other tools that write macros so, none begins their arguments like this.
    r"|(?P<macro>\{\{(?:query[ \t]+[(\[#\"]|renderer[ \t]+:)[^{}\n]{0,500}\}\})"
    r"|!\[[^\[\]\n]{0,300}\]\([^()\n]{0,500}\)(?P<size>\{:(?:height|width)[ \t]+\d[^{}\n]{0,60}\})"
)
_NAMED = re.compile(
    r"^[ \t]*+(?:[-*+][ \t]++)?(?P<text>\S[^\n]*)\n(?:[ \t]*+[\w-]{1,40}::[ \t][^\n]*\n){0,9}"
    rf"[ \t]*+id::[ \t]+(?P<name>{_UUID})[ \t]*$",
    re.MULTILINE,
)
# Times, and what became of a task: any other line is text.
_DRAWER = re.compile(
    r"(?:\n[ \t]*+(?:CLOCK:|(?:[-*+][ \t]+)?State[ \t]+\")[^\n]*+){0,500}+\n[ \t]*+:END:[ \t]*+(?:\n|\Z)"
)
_COMMENT = re.compile(r"<!--(?:[^-]|-(?!->))*+(?:-->|\Z)|%%(?:[^%]|%(?!%))*+%%")
# A line that a name below it can end, as it cannot a table, code or a heading.
_ENDS_WITH_NAME = re.compile(r"[ \t]*(?:[-*+][ \t]+)?(?![|`~#>])\S")
_WIDTH = re.compile(r":width[ \t]+(\d{1,4})\b")
_MARKUP = re.compile(r"[\[\]|{}<>`]|\(\([^()\n]*\)\)")
_MAX_TEXT = 200


def directives(text: str, context: Context) -> Iterator[Literal]:
    """Yield what the blocks of a note hold for Logseq; ``context`` is that of any note."""
    del context  # a note says itself that it is Logseq's
    code, at = code_of(text), 0
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
            yield Literal(found.start() - 1, found.end(), f" ^{found['name']}\n")
        else:
            yield _shown(found, texts)


def _blank(comment: re.Match[str]) -> str:
    return "\n" * comment[0].count("\n")


def _after_drawer(text: str, start: int) -> int:
    """Return where the text goes on after a log of time, 0 if it holds anything else or has no end."""
    end = _DRAWER.match(text, start)
    return end.end() if end else 0


def _shown(found: re.Match[str], texts: dict[str, str]) -> Literal:
    if found["name"] or found["hidden"]:
        return Literal(*found.span(), f"{found['indent']}^{found['name']}\n" if found["name"] else "")
    if found["page"]:
        return Literal(*found.span(), f"!{found['page']}")
    if found["size"]:
        width = _WIDTH.search(found["size"])
        return Literal(*found.span("size"), f"{{width={width[1]}}}" if width else "")
    if found["macro"]:
        return Literal(*found.span(), "", f"{found['macro']:.80} is Logseq's to answer and is left out")
    words = " ".join(_MARKUP.sub("", texts.get(found["block"], ""))[:_MAX_TEXT].split())
    if words:
        return Literal(*found.span(), f"[[#^{found['block']}|{words}]]")
    return Literal(*found.span(), "", f"{found[0]:.80} is a block of another page and is left out")
