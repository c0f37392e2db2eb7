"""The page ``_report.html``, which tells what the last night's run did.

The site is built with an empty page, and a run puts its report into it. So a site depends on its snapshot and
settings alone, and only the report, which contains times, differs. The site's record knows the empty page; a
page with a report proves itself by a digest at its end, which covers the site's marker too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from .. import urls
from ..charts.figure import Figure
from ..charts.page import figures_html
from ..incremental.previous import file_digest
from ..incremental.staging_folders import replacing
from ..outline.plan import SitePage, SitePlan
from .frame import frame_of

PAGE = urls.REPORT
# As the template has them.
_BEGIN, _END = "<!-- report -->", "<!-- /report -->"
_PROOF = re.compile(rb"<!-- ([0-9a-f]{32}) -->\n\Z")
# How much of a long list a page shows.
MOST_ROWS = 200


@dataclass(frozen=True, slots=True)
class ReportSheet:
    """A part of the report: a sentence, figures, and rows under headings.

    With ``documents``, the first cell is a document's id.
    """

    heading: str
    sentence: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    documents: bool = False
    figures: tuple[Figure, ...] = ()


def report_pages(plan: SitePlan) -> Iterator[SitePage]:
    """Yield the page without a report, if the site is to have one."""
    if plan.settings.report:
        frame = frame_of(plan, PAGE, plan.theme.words.say("report_title"), "")
        yield SitePage(PAGE, plan.theme.render("report.html", {"frame": frame}))


def fill_report(site: Path, sheets: Sequence[ReportSheet]) -> bool:
    """Return whether the site's page shows the report; do nothing without such a page.

    Raises ``WriteFailed``.
    """
    path = site / PAGE
    try:
        old = path.read_bytes()
        marker = (site / urls.MARKER).read_bytes() if (site / urls.MARKER).is_file() else b""
        page = _PROOF.sub(b"", old).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    before, begin, rest = page.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not (begin and end):
        return False
    body = sheets_html(sheets, site)
    new = _proved(f"{before}{begin}\n{body}\n{end}{after}".encode(), marker)
    if new != old:
        with replacing(site) as put:
            put(path, new)
    return True


def sheets_html(sheets: Sequence[ReportSheet], site: Path | None = None) -> str:
    """Return the report's parts; documents are links where the site has their pages."""
    return "\n".join(_sheet(sheet, site) for sheet in sheets)


def is_as_filled(page: bytes, marker: bytes) -> bool:
    """Return whether the page is as ``fill_report`` wrote it into the site with this marker."""
    return page == _proved(_PROOF.sub(b"", page), marker)


def _proved(page: bytes, marker: bytes) -> bytes:
    return page + f"<!-- {file_digest(marker + page)} -->\n".encode()


def _sheet(sheet: ReportSheet, site: Path | None) -> str:
    parts = [
        f"<h2>{escape(sheet.heading)}</h2>",
        f"<p>{escape(sheet.sentence)}</p>" if sheet.sentence else "",
        figures_html(sheet.figures),
    ]
    if sheet.rows:
        head = "".join(f'<th scope="col">{escape(name)}</th>' for name in sheet.columns)
        rows = "\n".join(_row(row, sheet.documents, site) for row in sheet.rows[:MOST_ROWS])
        parts.append(
            f'<div class="table-scroll" tabindex="0" role="region" aria-label="{escape(sheet.heading)}">'
        )
        parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>\n{rows}\n</tbody></table></div>")
        if len(sheet.rows) > MOST_ROWS:
            parts.append(f"<p>and {len(sheet.rows) - MOST_ROWS:,} more: noctule report --json</p>")
    return "\n".join(part for part in parts if part)


def _row(cells: Sequence[str], documents: bool, site: Path | None) -> str:
    shown = [_link(cell, site) if documents and not at else escape(cell) for at, cell in enumerate(cells)]
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in shown)}</tr>"


def _link(doc_id: str, site: Path | None) -> str:
    """Return a document's id as a link if the site has its page."""
    collection, _, path = doc_id.partition(":")
    page = urls.page_path(path)
    for candidate in (f"{collection}/{page}", page):
        if site is not None and (site / candidate).is_file():
            return f'<a href="{urls.encoded(candidate)}">{escape(doc_id)}</a>'
    return escape(doc_id)
