"""What pages of a Logseq graph hold in the syntax of Org mode, and marks of tasks: as markdown.

``#+BEGIN_NOTE`` … ``#+END_NOTE`` is a box, ``TODO`` a task, and ``[#A]`` a priority, which is no tag.
Comments and queries are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..fences import Fences
from ..parts import Literal
from .page_heads import HIDDEN_PROPERTIES

_LINE = re.compile(
    r"^(?P<before>[ \t]*+(?:[-*+][ \t]++)?)#\+(?P<mark>BEGIN|END)_(?P<name>[A-Za-z]{1,20})\b"
    r"(?P<rest>[^\n]*)(?:\n|\Z)",
    re.IGNORECASE | re.MULTILINE,
)
_BOXES = {"note": "note", "tip": "tip", "important": "important", "caution": "caution", "warning": "warning"}
_BOXES |= {"pinned": "note"}
_CODE = frozenset({"src", "example", "export"})
_UNSEEN = frozenset({"comment", "query"})
_INDENT = re.compile(r"[ \t]*")
_STATES = {"TODO": "[ ]", "DOING": "[/]", "NOW": "[/]", "IN-PROGRESS": "[/]", "DONE": "[x]"}
_STATES |= {"CANCELED": "[-]", "CANCELLED": "[-]"}
# Their words say more than a box.
_WORDS = ("LATER", "WAITING", "WAIT")
_TASK = re.compile(
    rf"^[ \t]*+[-*+][ \t]++(?:\#{{1,6}}[ \t]++)?(?P<state>{'|'.join([*_STATES, *_WORDS])})(?=[ \t]++\S)",
    re.MULTILINE,
)
_PRIORITY = re.compile(r"(?<![^\s\[])\[#(?P<level>[ABC])\](?=\s)")
_DATE = re.compile(
    r"^[ \t]*+(?:SCHEDULED|DEADLINE):[ \t]++(?P<date><(?P<day>\d{4}-[^<>\n]{1,60})>)", re.MULTILINE
)
_PROPERTY = re.compile(
    rf"^[ \t]*+(?:[-*+][ \t]++)?(?P<line>(?:{HIDDEN_PROPERTIES})::(?:[ \t][^\n]*)?)$", re.MULTILINE
)
_VIDEO = re.compile(
    r"\{\{(?:video|youtube|vimeo|bilibili|tweet|twitter|pdf)[ \t]+"
    r"(?P<address>https?://[^\s{}<>\"()]{1,500})[ \t]*\}\}"
)
_CLOZE = re.compile(r"\{\{cloze[ \t]+(?P<text>[^{}\n]{1,1000}?)(?:[ \t]*\\\\[^{}\n]{0,300})?\}\}")

_LABELLED = re.compile(r"(?<!!)\[(?P<label>[^\[\]\n|]{1,300})\]\(\[\[(?P<page>[^\[\]\n]{1,200})\]\]\)")


def org_directives(text: str, code: Fences, start: int) -> Iterator[Literal]:
    """Yield what is written as in Org mode, and properties and macros that a graph alone has."""
    yield from _blocks(text, code, start)
    for found in _outside(code, _TASK, text, start):
        state = found["state"]
        yield Literal(*found.span("state"), _STATES.get(state) or f"[ ] {state}")
    for found in _outside(code, _PRIORITY, text, start):
        yield Literal(*found.span(), f"\\[{found['level']}\\]")
    for found in _outside(code, _DATE, text, start, "date"):
        yield Literal(*found.span("date"), found["day"])
    for found in _outside(code, _PROPERTY, text, start, "line"):
        if not found["line"].startswith("id::"):  # the name of a block is an anchor
            is_own = not text[found.start() : found.start("line")].strip()
            begin = max(found.start() - 1, start) if is_own else found.start("line") - 1
            yield Literal(begin, found.end(), "")
    yield from _macros(text, code, start)


def _outside(
    code: Fences, pattern: re.Pattern[str], text: str, start: int, group: str | int = 0
) -> Iterator[re.Match[str]]:
    """Yield what matches and has its ``group``, which is all of it if none is named, outside of code."""
    return (found for found in pattern.finditer(text, start) if not code.hold(found.start(group)))


def _macros(text: str, code: Fences, start: int) -> Iterator[Literal]:
    for found in _outside(code, _VIDEO, text, start):
        address = found["address"]
        yield Literal(*found.span(), f"![]({address})" if "youtu" in found[0] else f"<{address}>")
    for found in _outside(code, _CLOZE, text, start):
        yield Literal(*found.span(), found["text"])
    for found in _outside(code, _LABELLED, text, start):
        yield Literal(*found.span(), f"[[{found['page']}|{found['label']}]]")


def _blocks(text: str, code: Fences, start: int) -> Iterator[Literal]:
    """Yield what stands for the first and last lines of blocks; in others only of what is left out."""
    opened: re.Match[str] | None = None
    unseen: re.Match[str] | None = None
    for found in _outside(code, _LINE, text, start, "mark"):
        name = found["name"].lower()
        if unseen:
            if _ends(found, unseen):
                yield from _block(text, unseen, found)
                unseen = None
        elif found["mark"].upper() == "BEGIN" and name in _UNSEEN and not _is_code(opened):
            unseen = found
        elif found["mark"].upper() == "BEGIN":
            opened = opened or found
        elif opened and _ends(found, opened):
            yield from _block(text, opened, found)
            opened = None


def _ends(found: re.Match[str], opened: re.Match[str]) -> bool:
    return found["mark"].upper() == "END" and found["name"].lower() == opened["name"].lower()


def _is_code(opened: re.Match[str] | None) -> bool:
    return opened is not None and opened["name"].lower() in _CODE


def _block(text: str, opened: re.Match[str], closed: re.Match[str]) -> Iterator[Literal]:
    name, begin = opened["name"].lower(), opened.end("before")
    before, end = opened["before"], closed.end("rest")
    if name in _UNSEEN:
        note = "the query is Logseq's to answer and is left out" if name == "query" else ""
        yield Literal(begin, end, "", note)
    elif name in _CODE:
        language = opened["rest"].split()[0] if opened["rest"].split() else ""
        inside = text[opened.end() : closed.start()]
        indent = re.sub(r"\S", " ", before)
        fence = "~" * (3 + max(map(len, re.findall("~{3,}", inside)), default=0))
        yield Literal(begin, end, f"{fence}{language}\n{inside}{indent}{fence}")
    elif name in _BOXES or name == "quote":
        yield Literal(begin, opened.end(), f"> [!{_BOXES[name]}]\n" if name in _BOXES else ">\n")
        yield from _quoted(text, opened.end(), closed.start(), re.sub(r"\S", " ", before))
        yield Literal(closed.start(), closed.end(), "\n" if closed.end() < len(text) else "")
    else:
        yield Literal(begin, opened.end(), "\n" if begin == opened.start() else "")
        yield Literal(closed.start(), closed.end(), "")


def _quoted(text: str, start: int, end: int, indent: str) -> Iterator[Literal]:
    """Yield the mark of a quote at the beginning of each line."""
    while start < end:
        line_end = text.find("\n", start, end)
        line_end = end if line_end < 0 else line_end
        own = _INDENT.match(text, start, line_end)
        written = own.end() - start if own else 0
        if start + written == line_end:
            yield Literal(start, line_end, f"{indent}>")
        else:
            at = start + min(written, len(indent))
            yield Literal(at, at, "> ")
        start = line_end + 1
