"""Renders a document as the content of its page: sanitised, then completed from the snapshot."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from html import escape

from ...pipeline.errors import RejectedDocument
from ...pipeline.model import PERSON_NOTES, TAG_NOTES
from ...pipeline.navigation.toctree import without_hidden
from ...pipeline.parse.front_matter import read_front_matter
from ...pipeline.parse.markdown.authoring import MORE
from ...pipeline.sanitize import sanitize
from ..document_rows import LinkRow
from ..library import Entry, Library
from .decorate import Decorator, html_headings, plain_text
from .embedded import embedded
from .linking import Anchors, Destination, PageLinks
from .markdown_html import Anchored, Reference, Sheet, link_html, markdown_html
from .marks import Marks
from .transcluded import transcluded_part

MAX_TRANSCLUSION_DEPTH = 3
# Limits a page that transcludes many notes, each of which transcludes many others.
MAX_TRANSCLUSIONS = 100
_PARAGRAPH = re.compile(r"<p>(.*?)</p>", re.DOTALL)
SUMMARY_CHARS = 160
# Places with older names may stand before it.
_FIRST_HEADING = re.compile(r"(?:\s|</?p>|<(a|span)\b[^<>]{0,300}></\1>){0,100}<h(?P<level>[2-6])\b")
_TITLE = re.compile(r"\A\s*<h1\b.*?</h1>", re.DOTALL)
_HEADING_TAG = re.compile(r"(</?h)([1-6])\b")


@dataclass(frozen=True, slots=True)
class Content:
    """A page's content as safe HTML, its headings in order, the start of its text, and whether it begins with
    a title of its own.
    """

    html: str
    headings: tuple[Anchored, ...]
    summary: str
    has_title: bool

    @property
    def parts(self) -> tuple[str, str]:
        """Return the title, if the content begins with one, and the rest."""
        head, end, body = self.html.partition("</h1>") if self.has_title else ("", "", self.html)
        return head + end, body


class Renderer:
    """A renderer of one library's documents; ``tag_pages`` are the pages of tags by name."""

    def __init__(
        self, library: Library, tag_pages: Mapping[str, str], *, remote_images: bool = False
    ) -> None:
        self._library, self._tag_pages, self._remote_images = library, tag_pages, remote_images
        self._anchors = Anchors(library)

    def render(self, entry: Entry) -> Content:
        """Render the content of the document's page."""
        rendering = _Rendering(self._library, self._anchors, self._tag_pages, entry.page)
        rendering.remote_images = self._remote_images
        html, headings = rendering.document(entry, "", (entry.doc_id,))
        html, headings = _titled(html, headings, entry.title)
        return Content(html, tuple(headings), _summary(html), _has_title(headings, entry))

    def excerpt(self, entry: Entry, page: str) -> str:
        """Return what stands before the mark of an excerpt, as ``page`` shows it; nothing without a mark."""
        if entry.syntax != "markdown" or MORE not in self._library.text(entry):
            return ""
        rendering = _Rendering(self._library, self._anchors, self._tag_pages, page)
        rendering.remote_images = self._remote_images
        html, _ = rendering.document(entry, "", ("", entry.doc_id), until=MORE)
        return _TITLE.sub("", html, count=1).strip()

    def summary(self, entry: Entry) -> str:
        """Return the beginning of the document's text."""
        return self.render(entry).summary


class _Rendering:
    """A page in progress: the documents on it, from its own to the most deeply transcluded."""

    def __init__(self, library: Library, anchors: Anchors, tag_pages: Mapping[str, str], page: str) -> None:
        self._library, self._anchors, self._tag_pages, self._page = library, anchors, tag_pages, page
        self._transclusions = 0
        self.remote_images = False

    def document(
        self, entry: Entry, fragment: str, stack: tuple[str, ...], until: str = ""
    ) -> tuple[str, list[Anchored]]:
        """Return the HTML of the document, or of the part that a fragment names, on this page.

        ``stack`` names the documents that contain it, or parts of them. Of the text only what is before
        ``until`` is shown.
        """
        links = PageLinks(self._library, self._anchors, entry, self._page)
        if entry.syntax == "markdown":
            return self._markdown(entry, fragment, stack, links, until)
        if entry.syntax == "html":
            return self._html(entry, stack, links)
        return f'<pre class="plain-text">{escape(self._library.text(entry))}</pre>', []

    def _html(self, entry: Entry, stack: tuple[str, ...], links: PageLinks) -> tuple[str, list[Anchored]]:
        html = without_hidden(self._library.html(entry))
        clean = sanitize(html, remote_images=self.remote_images)
        headings = html_headings(clean, self._library.anchors(entry))
        decorator = Decorator(
            links,
            Marks(html),
            languages=self._library.code_languages(entry),
            headings=headings,
            transcluded=len(stack) > 1,
        )
        return decorator.decorate(clean), headings

    def _markdown(
        self, entry: Entry, fragment: str, stack: tuple[str, ...], links: PageLinks, until: str
    ) -> tuple[str, list[Anchored]]:
        text = self._text(entry, fragment)
        text = text[: text.find(until)] if until and until in text else text
        transcluded = len(stack) > 1
        sheet = Sheet(
            marks=Marks(text),
            wikilink=lambda reference: self._wikilink(links, reference),
            transclusion=lambda reference, is_block: self._transclusion(links, reference, stack, is_block),
            tag=lambda reference: self._tag(links, reference),
            tag_list=lambda: self._tag_list(links),
            person=lambda reference: self._person(links, reference),
            anchors=not transcluded,
            footnotes=f"t{self._transclusions}" if transcluded else "",
        )
        clean = sanitize(markdown_html(text, sheet), remote_images=self.remote_images)
        return Decorator(links, sheet.marks, transcluded=transcluded).decorate(clean), sheet.headings

    def _text(self, entry: Entry, fragment: str) -> str:
        text, body = self._library.text(entry), 0
        # A text that was not parsed as markdown with front matter is shown whole.
        with suppress(RejectedDocument):
            body = read_front_matter(text, entry.doc_id).end
        if not fragment:
            return text[body:]
        return transcluded_part(text, body, self._library.sections(entry), fragment)

    def _wikilink(self, links: PageLinks, reference: Reference) -> str:
        text = links.label(reference.target, reference.fragment, reference.text)
        return link_html(links.reference(reference.target, reference.fragment), text)

    def _person(self, links: PageLinks, reference: Reference) -> str:
        note = links.reference(f"{PERSON_NOTES}{reference.target}", "")
        return escape(reference.text) if note.kind == "missing" else link_html(note, reference.text)

    def _tag(self, links: PageLinks, reference: Reference) -> str:
        note = links.reference(f"{TAG_NOTES}{reference.target}", "")
        if note.kind == "internal":
            return link_html(note, reference.text, "tag")
        page = self._tag_pages.get(reference.target)
        if page is None:
            return f'<span class="tag">{escape(reference.text)}</span>'
        href = self._library.href(self._page, page)
        return link_html(Destination("internal", href), reference.text, "tag")

    def _tag_list(self, links: PageLinks) -> str:
        """Return every tag with the pages that have it."""
        lists = []
        for name, entries in self._library.tags().items():
            hrefs = ((self._library.href(self._page, entry.page), entry.title) for entry in entries)
            shown = (link_html(Destination("internal", href), title) for href, title in hrefs)
            pages = "".join(f"<li>{link}</li>" for link in shown)
            tag = self._tag(links, Reference(name, "", f"#{name}"))
            lists.append(f'<dt id="tag:{escape(name)}">{tag}</dt><dd><ul>{pages}</ul></dd>')
        return f'<dl class="tag-list">{"".join(lists)}</dl>'

    def _transclusion(
        self, links: PageLinks, reference: Reference, stack: tuple[str, ...], is_block: bool
    ) -> str:
        row = links.reference_row(reference.target, reference.fragment)
        if row is not None and row.status in ("asset", "missing-asset"):
            shown = embedded(links, row, reference.text)
            return f"<p>{shown}</p>" if is_block else shown
        entry = self._library.by_id.get(row.target_id or "") if row else None
        link = self._wikilink(links, reference)
        if not is_block:
            return link
        if row is None or entry is None or not self._may_go_deeper(entry, row, stack):
            return f"<p>{link}</p>"
        self._transclusions += 1
        html, _ = self.document(entry, row.fragment, (*stack, _shown(entry, row.fragment)))
        source = f'<p class="transclusion-source">From {link}</p>' if reference.target else ""
        return f'<div class="transclusion">{source}{html}</div>'

    def _may_go_deeper(self, entry: Entry, row: LinkRow, stack: tuple[str, ...]) -> bool:
        """Return whether one more document may be shown: of those that contain it only another part."""
        first = row.fragment.partition(":#")[0].partition(",")[0]
        is_part = bool(first) and bool(self._anchors.find(entry, first))
        is_again = _shown(entry, row.fragment) in stack if is_part else _holds(stack, entry)
        is_bounded = len(stack) <= MAX_TRANSCLUSION_DEPTH and self._transclusions < MAX_TRANSCLUSIONS
        return is_bounded and not is_again


def _shown(entry: Entry, fragment: str) -> str:
    return f"{entry.doc_id}#{fragment}" if fragment else entry.doc_id


def _holds(stack: tuple[str, ...], entry: Entry) -> bool:
    return any(each == entry.doc_id or each.startswith(f"{entry.doc_id}#") for each in stack)


def _has_title(headings: Sequence[Anchored], entry: Entry) -> bool:
    """Return whether the first heading is the title, and not one of several in a note called by its file."""
    tops = [each.title for each in headings if each.level == 1]
    if not tops or headings[0].level != 1:
        return False
    is_named = entry.title == posixpath.splitext(posixpath.basename(entry.path))[0]
    return len(tops) == 1 or not is_named or tops[0] == entry.title


def _titled(html: str, headings: list[Anchored], title: str) -> tuple[str, list[Anchored]]:
    """Make the title of a lower heading that the content begins with and that names the document.

    Chapters of books often begin so. All headings below it move up with it.
    """
    found = _FIRST_HEADING.match(html)
    if found is None or not headings or headings[0].level == 1 or headings[0].title != title:
        return html, headings
    up = headings[0].level - 1
    if any(heading.level <= headings[0].level for heading in headings[1:]):
        head, end, body = html.partition(f"</h{found['level']}>")
        return _moved_up(head + end, up) + body, [replace(headings[0], level=1), *headings[1:]]
    return _moved_up(html, up), [replace(heading, level=heading.level - up) for heading in headings]


def _moved_up(html: str, up: int) -> str:
    return _HEADING_TAG.sub(lambda found: f"{found[1]}{max(1, int(found[2]) - up)}", html)


def _summary(html: str) -> str:
    # The first one that is not only an image.
    text = next(filter(None, (plain_text(found[1]) for found in _PARAGRAPH.finditer(html))), "")
    if len(text) <= SUMMARY_CHARS:
        return text
    return text[:SUMMARY_CHARS].rsplit(" ", 1)[0].rstrip(" ,;:") + " …"
