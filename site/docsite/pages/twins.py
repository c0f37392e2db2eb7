"""Pages for programs: each page's text as markdown beside it, and ``llms.txt``, which lists them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...pipeline.document_markdown import document_markdown
from .. import urls
from ..library import Entry, Library
from ..outline.plan import SitePage, SitePlan

# A list that a program reads whole: of a larger site, the pages that most others link to.
MAX_LISTED = 1_000
SUMMARY_CHARS = 160


def twin_file(plan: SitePlan, entry: Entry) -> SitePage:
    """Return the markdown file of this document, which must have one in this site."""
    return SitePage(plan.twins[entry.page], _markdown(plan.library, entry).encode())


def _markdown(library: Library, entry: Entry) -> str:
    headings = [(each.byte_start, each.level) for each in library.sections(entry)]
    code = [(each.language, each.byte_start, each.byte_end) for each in library.code_spans(entry)]
    return document_markdown(library.text(entry), entry.syntax, entry.title, headings, code)


def llms_file(plan: SitePlan, summaries: Mapping[str, str]) -> Iterator[SitePage]:
    """Yield ``llms.txt``: title, description and pages by section, as https://llmstxt.org/ describes it."""
    if not plan.settings.markdown:
        return
    lines = [f"# {_line(plan.title)}", ""]
    if plan.settings.description:
        lines += [f"> {_line(plan.settings.description)}", ""]
    pages, left_out = _listed(plan)
    heading = ""
    for page in pages:
        top = plan.tree.trails[page][0]
        if top.key != heading or not lines[-1]:
            heading = top.key
            lines += ["", f"## {_line(top.label)}", ""] if lines[-1] else [f"## {_line(top.label)}", ""]
        lines.append(_item(plan, page, summaries.get(page, "")))
    if left_out:
        where = _address(plan, "sitemap.xml")
        lines += ["", "## Optional", "", f"- [Sitemap]({where}): {left_out:,} more pages"]
    yield SitePage(urls.LLMS, ("\n".join(lines) + "\n").encode())


def _listed(plan: SitePlan) -> tuple[list[str], int]:
    order = plan.tree.order
    if len(order) <= MAX_LISTED:
        return list(order), 0
    best = sorted(order, key=lambda page: (-plan.by_page[page].links_in, page))[:MAX_LISTED]
    return sorted(best, key=lambda page: plan.tree.place[page]), len(order) - MAX_LISTED


def _item(plan: SitePlan, page: str, summary: str) -> str:
    title = _line(plan.by_page[page].title).replace("[", "(").replace("]", ")")
    about = _line(summary)[:SUMMARY_CHARS].strip()
    return f"- [{title}]({_address(plan, plan.twins[page])})" + (f": {about}" if about else "")


def _address(plan: SitePlan, path: str) -> str:
    base = f"{plan.settings.base_url.rstrip('/')}/" if plan.settings.base_url else ""
    return base + urls.encoded(path)


def _line(text: str) -> str:
    return " ".join(text.split())
