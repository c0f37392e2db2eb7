"""The markdown beside each page: the document as written, with its address and the way to all others."""

from __future__ import annotations

import yaml

from ...pipeline.marked_text import CodeMark, HeadingMark, document_markdown
from .. import urls
from ..features import DATE
from ..library import Entry, Library
from ..outline.plan import SitePage, SitePlan


def twin_file(plan: SitePlan, entry: Entry) -> SitePage:
    """Return the markdown file of this document, which must have one in this site."""
    path = plan.twins[entry.page]
    text = f"{_front_matter(plan, entry)}> All pages: [{urls.LLMS}]({_way_to_llms(plan, path)})\n\n"
    return SitePage(path, (text + page_text(plan.library, entry)).encode())


def _front_matter(plan: SitePlan, entry: Entry) -> str:
    """Return what a program that was given only this file must know; no snapshot, of which most files would
    change every night for no other reason.
    """
    known = {"title": " ".join(entry.title.split()), "url": site_address(plan, entry.page)}
    if DATE.match(entry.modified):
        known["updated"] = entry.modified
    written = yaml.safe_dump(known, allow_unicode=True, sort_keys=False, width=1 << 20)
    return f"---\n{written}---\n\n"


def _way_to_llms(plan: SitePlan, path: str) -> str:
    return site_address(plan, urls.LLMS) if plan.settings.base_url else urls.relative_href(path, urls.LLMS)


def site_address(plan: SitePlan, path: str) -> str:
    """Return the address of a file of the site, relative to its top if the site's own is not known."""
    base = f"{plan.settings.base_url.rstrip('/')}/" if plan.settings.base_url else ""
    return base + urls.encoded(path)


def page_text(library: Library, entry: Entry) -> str:
    """Return the document as markdown: as written, or the marked-up text of an HTML document."""
    headings = [HeadingMark(each.byte_start, each.level) for each in library.sections(entry)]
    code = [CodeMark(each.language, each.byte_start, each.byte_end) for each in library.code_spans(entry)]
    return document_markdown(library.text(entry), entry.syntax, entry.title, headings, code)
