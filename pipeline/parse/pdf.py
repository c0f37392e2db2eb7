"""The text of a PDF, a section for each page, whose heading leads to that page of the file."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from html import escape
from importlib.util import find_spec
from typing import Any
from urllib.parse import quote

from ..errors import RejectedDocument
from .content import ParsedContent
from .dates import day_of
from .front_matter import one_line

MAX_PAGES = 5_000
MAX_CHARS = 10_000_000
_MAX_TITLE = 120
# pdfium writes U+FFFE for a hyphen at the end of a line.
_BROKEN_WORD = re.compile("\ufffe[ \t]*\r?\n?[ \t]*|(?<=[a-z])-\r?\n(?=[a-z])")
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff\ud800-\udfff]")
_ENDS = re.compile(r"[.!?:;]['\")\]]*$")
# Lines at the head and at the foot of a page that may be on every page, and how many pages tell so.
_EDGE, _MIN_RUNNING = 2, 3
_PAGE_NUMBER = re.compile(
    r"(?:(?:page|seite|página|pagina|p\.|s\.) ?)?\d{1,4}(?: ?(?:/|of|von|de|sur|di) ?\d{1,4})?", re.I
)
_PROGRAM = re.compile(r"\AMicrosoft (?:Word|PowerPoint|Excel)(?: -|:)? ")
_FILE_ENDING = re.compile(r"\.(?:docx?|pptx?|xlsx?|od[tps]|rtf|tex|dvi|indd|qxd|pages|key|pdf)\Z", re.I)
_NO_TITLE = re.compile(
    r"\W*(?:untitled|unbenannt|sans titre|anonymous|unspecified|no title|title|document|dokument|presentation"
    r"|powerpoint[ -]pr[aä]sentation|powerpoint presentation|slide)?[\W\d_]*",
    re.I,
)
_DATE = re.compile(r"D?:?(\d{4})(\d{2})(\d{2})")


def read_pdf(content: bytes, path: str, where: str) -> ParsedContent:
    """Return the text of a PDF; raise ``RejectedDocument`` if it is broken, encrypted or without text."""
    if find_spec("pypdfium2") is None:
        raise RejectedDocument(
            "reading a PDF needs pypdfium2, which is not installed: install noctule[pdf]",
            where=where,
            hint="pip install 'noctule[pdf]', or leave PDFs out of include.",
        )
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(content)
        try:
            return _read(document, path, where)
        finally:
            document.close()
    except pypdfium2.PdfiumError as error:
        is_locked = "assword" in str(error)
        what = "the PDF is encrypted" if is_locked else f"the PDF cannot be read: {one_line(str(error)):.200}"
        hint = "Save it without a password." if is_locked else "Does a viewer open it?"
        raise RejectedDocument(what, where=where, hint=hint) from None


def _read(document: Any, path: str, where: str) -> ParsedContent:
    from .html.parser import read_html

    if len(document) > MAX_PAGES:
        raise RejectedDocument(
            f"the PDF has {len(document):,} pages, more than {MAX_PAGES:,}", where=where, hint="Split it."
        )
    pages = _without_running_lines(list(_pages(document, where)))
    if not any(pages):
        raise RejectedDocument(
            "the PDF has no text layer: its pages are pictures", where=where, hint="Run OCR over it first."
        )
    known = document.get_metadata_dict()
    name = posixpath.basename(path)
    read = read_html("".join(_page(name, number, lines) for number, lines in enumerate(pages, 1)), where)
    return replace(
        read,
        title=_title(known.get("Title", "")) or _first_line(pages),
        author=_clean(known.get("Author", "")),
        keywords=tuple(filter(None, map(_clean, re.split("[,;]", known.get("Keywords", ""))))),
        modified=_day(known.get("ModDate", "")),
    )


def _pages(document: Any, where: str) -> Iterator[list[str]]:
    """Yield the lines of each page."""
    room = MAX_CHARS
    for page in document:
        text_page = page.get_textpage()
        text = _UNPRINTABLE.sub("", _BROKEN_WORD.sub("", text_page.get_text_range()))
        text_page.close()
        page.close()
        room -= len(text)
        if room < 0:
            raise RejectedDocument(
                f"the PDF has more than {MAX_CHARS:,} characters", where=where, hint="Split it."
            )
        yield [line for line in (" ".join(each.split()) for each in text.splitlines()) if line]


def _without_running_lines(pages: list[list[str]]) -> list[list[str]]:
    """Return the pages without their numbers, and with a running head or foot only where it stands first."""
    edges = [{*lines[:_EDGE], *lines[-_EDGE:]} for lines in pages]
    counts = Counter(line for edge in edges for line in edge)
    least = max(_MIN_RUNNING, len(pages) // 2 + 1)
    kept, seen = list[list[str]](), set[str]()
    for lines, edge in zip(pages, edges, strict=True):
        running = {line for line in edge if counts[line] >= least}
        numbers = {line for line in edge if len(pages) >= _MIN_RUNNING and _PAGE_NUMBER.fullmatch(line)}
        kept.append([line for line in lines if line not in numbers | (running & seen)])
        seen |= running
    return kept


def _page(name: str, number: int, lines: list[str]) -> str:
    if not lines:
        return ""
    href = f"{quote(name)}#page={number}"
    paragraphs = "".join(f"<p>{escape(each, quote=False)}</p>" for each in _paragraphs(lines))
    return f'<h2 id="page={number}"><a href="{href}">Page {number}</a></h2>{paragraphs}'


def _paragraphs(lines: list[str]) -> Iterator[str]:
    """Yield lines joined into paragraphs, which end with a short line or before a bullet."""
    longest = max(map(len, lines))
    waiting: list[str] = []
    for line in lines:
        if waiting and line.startswith(("•", "◦", "▪", "– ")):
            yield " ".join(waiting)
            waiting = []
        waiting.append(line)
        if len(line) < longest * (0.85 if _ENDS.search(line) else 0.5):
            yield " ".join(waiting)
            waiting = []
    if waiting:
        yield " ".join(waiting)


def _title(given: str) -> str:
    """Return the title in the metadata, without what programs put there; empty for one that says nothing."""
    title = _FILE_ENDING.sub("", _PROGRAM.sub("", _clean(given)))
    return "" if _NO_TITLE.fullmatch(title) else title


def _first_line(pages: list[list[str]]) -> str:
    """Return the first line of the text if it is as short as a title, else nothing."""
    first = next((lines[0] for lines in pages if lines), "")
    return first if len(first) <= _MAX_TITLE else ""


def _clean(text: str) -> str:
    return one_line(_UNPRINTABLE.sub("", text))[:300]


def _day(date: str) -> str | None:
    found = _DATE.match(date)
    return day_of("-".join(found.groups())) if found else None
