"""Where a page's content starts and ends, so that it can be reused when only its surroundings changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..content.markdown_html import Anchored
from ..content.render import Content

Span = tuple[int, int]


class Extent(NamedTuple):  # which the record of a site holds as it is
    """The byte ranges of the two parts of a page's content, and what the content was made from.

    ``headings`` holds the level, title and slug of each heading; for most pages nobody asks for them.
    """

    fingerprint: str
    head: Span
    body: Span
    headings: Sequence[tuple[int, str, str]]

    def content(self, page: bytes, summary: str) -> Content:
        """Return the content as it is in this page."""
        html = page[slice(*self.head)] + page[slice(*self.body)]
        has_title = self.head[1] > self.head[0]
        return Content(html.decode(), tuple(Anchored(*each) for each in self.headings), summary, has_title)


def extent_in(page: bytes, content: Content, fingerprint: str) -> Extent | None:
    """Return where the content is in the page, or nothing if an owner's template shows it in another way."""
    head, body = (part.encode() for part in content.parts)
    above = page.find(head)
    below = page.find(body, above + len(head))
    if above < 0 or below < 0:
        return None
    headings = tuple((each.level, each.title, each.slug) for each in content.headings)
    return Extent(fingerprint, (above, above + len(head)), (below, below + len(body)), headings)
