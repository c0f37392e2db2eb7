"""The page ``_report.html``, which tells what the last night's run did.

The site is built with an empty page, and a run puts its report into it. So a site depends on its snapshot and
settings alone, and only the report, which contains times, differs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from ...artifacts.disk import durable
from .. import urls
from ..outline.plan import SitePage, SitePlan
from .frame import frame_of

PAGE = urls.REPORT
# As the template has them.
_BEGIN, _END = "<!-- report -->", "<!-- /report -->"
# How much of a long list a page shows.
MOST_ROWS = 200


@dataclass(frozen=True, slots=True)
class ReportSheet:
    """A part of the report: a sentence, and rows under headings.

    With ``documents``, the first cell is a document's id.
    """

    heading: str
    sentence: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    documents: bool = False


def report_pages(plan: SitePlan) -> Iterator[SitePage]:
    """Yield the page without a report, if the site is to have one."""
    if plan.settings.report:
        frame = frame_of(plan, PAGE, plan.theme.words.say("report_title"), "")
        yield SitePage(PAGE, plan.theme.render("report.html", {"frame": frame}))


def fill_report(site: Path, sheets: Sequence[ReportSheet]) -> bool:
    """Return whether the site's page took the report; do nothing without such a page.

    Raises ``WriteFailed``.
    """
    path = site / PAGE
    try:
        page = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    before, begin, rest = page.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not (begin and end):
        return False
    body = "\n".join(_sheet(sheet, site) for sheet in sheets)
    durable.replace_file(path, f"{before}{begin}\n{body}\n{end}{after}".encode())
    return True


def _sheet(sheet: ReportSheet, site: Path) -> str:
    parts = [
        f"<h2>{escape(sheet.heading)}</h2>",
        f"<p>{escape(sheet.sentence)}</p>" if sheet.sentence else "",
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


def _row(cells: Sequence[str], documents: bool, site: Path) -> str:
    shown = [_link(cell, site) if documents and not at else escape(cell) for at, cell in enumerate(cells)]
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in shown)}</tr>"


def _link(doc_id: str, site: Path) -> str:
    """Return a document's id as a link if the site has its page."""
    collection, _, path = doc_id.partition(":")
    page = urls.page_path(path)
    for candidate in (f"{collection}/{page}", page):
        if (site / candidate).is_file():
            return f'<a href="{urls.encoded(candidate)}">{escape(doc_id)}</a>'
    return escape(doc_id)
