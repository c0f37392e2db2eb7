"""Where in a page its content stands: where only what is around it changed, it is taken from the page before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..content.markdown_html import Anchored
from ..content.render import Content

Span = tuple[int, int]


class Extent(NamedTuple):  # which the record of a site holds as it is
    """The bytes of a page from and to which the two parts of its content go, and what it was made from.

    ``headings`` are the level, title and slug of each: of most pages nobody asks for them.
    """

    fingerprint: str
    head: Span
    body: Span
    headings: Sequence[tuple[int, str, str]]

    def content(self, page: bytes, summary: str) -> Content:
        """The content as it stands in this page."""
        html = page[slice(*self.head)] + page[slice(*self.body)]
        return Content(html.decode(), tuple(Anchored(*each) for each in self.headings), summary)


def extent_in(page: bytes, content: Content, fingerprint: str) -> Extent | None:
    """Where the content stands in the page; nothing where an owner's template shows it in another way."""
    head, body = (part.encode() for part in content.parts)
    above = page.find(head)
    below = page.find(body, above + len(head))
    if above < 0 or below < 0:
        return None
    headings = tuple((each.level, each.title, each.slug) for each in content.headings)
    return Extent(fingerprint, (above, above + len(head)), (below, below + len(body)), headings)
