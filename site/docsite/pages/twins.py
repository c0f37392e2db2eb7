"""Pages for programs: each page's text as markdown beside it, and ``llms.txt``, which lists them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress

from ...pipeline.errors import RejectedDocument
from ...pipeline.parse.front_matter import read_front_matter
from .. import urls
from ..library import Entry, Library
from ..outline.plan import SitePage, SitePlan

# A list that a program reads whole: of a larger site, the pages that most others link to.
MAX_LISTED = 1_000
SUMMARY_CHARS = 160
_TITLE = re.compile(r"\s*(#\s|[^\n]+\n=+\s*\n)")


def twin_file(plan: SitePlan, entry: Entry) -> SitePage:
    """Return the markdown file of this document, which must have one in this site."""
    return SitePage(plan.twins[entry.page], _markdown(plan.library, entry).encode())


def _markdown(library: Library, entry: Entry) -> str:
    """Return the document as written, without front matter, or an HTML document's marked-up text."""
    if entry.syntax == "markdown":
        text = library.text(entry)
        with suppress(RejectedDocument):  # then its page shows all of it as well
            text = text[read_front_matter(text, entry.doc_id).end :]
    else:
        text = _marked(library, entry) if entry.syntax == "html" else library.text(entry)
    title = "" if _TITLE.match(text) else f"# {' '.join(entry.title.split())}\n\n"
    return f"{title}{text.strip()}\n"


def _marked(library: Library, entry: Entry) -> str:
    content = library.text(entry).encode()
    marks: list[tuple[int, str]] = []
    for section in library.sections(entry):
        line = content.rfind(b"\n", 0, max(section.byte_start - 1, 0)) + 1
        marks.append((line, "#" * max(section.level, 1) + " "))
    for block in library.code_spans(entry):
        ending = "```\n" if content[block.byte_end - 1 : block.byte_end] == b"\n" else "\n```\n"
        marks += [(block.byte_start, f"```{block.language}\n"), (block.byte_end, ending)]
    pieces, at = [], 0
    for place, mark in sorted(marks, key=lambda each: each[0]):
        pieces += [content[at:place].decode(errors="replace"), mark]
        at = max(at, place)
    return "".join([*pieces, content[at:].decode(errors="replace")])


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
