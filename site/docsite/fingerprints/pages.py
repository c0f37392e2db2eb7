"""The fingerprint of every document's page: two builds that agree on it make the same bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from ..incremental.columns import Digests, digest, digest_of_texts
from ..outline.pages_below import asks_for_pages, pages_below
from ..outline.plan import SitePlan
from .around import backlink_digests, drawing_digests, ranks_of, related_digests, shown_digests
from .branches import navigation_digests
from .document_contents import content_digests
from .shared import content_digest


@dataclass(frozen=True, slots=True)
class PageFingerprint:
    """Fingerprints of a document's page, of its content, and of the markdown beside it."""

    page: str
    content: str


def page_fingerprints(plan: SitePlan, shared: bytes) -> list[PageFingerprint]:
    """Return for each document, by row, texts that change whenever its page or its content may.

    ``shared`` stands for everything the pages of a site share: settings, templates, interface texts, and this
    program.
    """
    edges, shown, ranks = plan.library.edges, shown_digests(plan), ranks_of(plan)
    with_what, content = content_digest(plan), content_digests(plan)
    around = navigation_digests(plan.tree, plan.listing)
    parts = (
        content,
        [around.get(entry.page, b"") for entry in plan.library.entries],
        _neighbours(plan, shown),
        backlink_digests(edges, shown, ranks),
        drawing_digests(edges, shown, ranks),
        related_digests(plan, shown),
        _topics(plan),
        _blogs(plan, content),
        _below(plan, content),
        [digest_of_texts(*map(repr, plan.languages.translations(e.page))) for e in plan.library.entries],
    )
    found = [
        PageFingerprint(digest(shared, *each).hex(), digest(with_what, each[0]).hex())
        for each in zip(*parts, strict=True)
    ]
    pa.default_memory_pool().release_unused()  # what the plan has left there, too
    return found


def _neighbours(plan: SitePlan, shown: Digests) -> list[bytes]:
    """Return the pages before and after each page."""
    found: list[bytes] = []
    for entry in plan.library.entries:
        names = plan.neighbours(entry.page)
        labels = digest_of_texts(*(plan.label(name) if name else "" for name in names))
        entries = (shown[plan.by_page[name].row].tobytes() if name else b"" for name in names)
        found.append(digest(labels, *entries))
    return found


def _below(plan: SitePlan, content: Sequence[bytes]) -> list[bytes]:
    """Return what each page may show of the pages below it, which begins their texts where it asks for it."""
    found: list[bytes] = []
    for entry, asks in zip(plan.library.entries, asks_for_pages(plan.library), strict=True):
        below = pages_below(plan.tree, entry.page, plan.by_page)
        shown = [plan.by_page[each.page].row for each in below if each.page] if asks else []
        texts = digest_of_texts(*map(repr, below)) if below else b""
        found.append(digest(texts, *(content[row] for row in shown)))
    return found


def _blogs(plan: SitePlan, content: Sequence[bytes]) -> list[bytes]:
    """Return what is shown above each post, and of a blog's first page the posts that it lists."""
    found = [b""] * len(content)
    for blog in plan.blogs.all:
        for post in blog.posts:
            found[post.entry.row] = digest_of_texts(blog.title, blog.page, post.day, *post.authors)
        if (own := plan.by_page.get(blog.page)) is not None:
            shown = [content[post.entry.row] + found[post.entry.row] for post in blog.lists[0].posts]
            years = (f"{each.year} {each.page} {len(each.posts)}" for each in blog.archives)
            found[own.row] = digest(*shown, digest_of_texts(*years, *blog.around(blog.page)))
    return found


def _topics(plan: SitePlan) -> list[bytes]:
    """Return the name of each document's topic and the page that lists it."""
    names = {
        topic.community_id: digest_of_texts(plan.topic_label(topic), plan.community_page(topic.community_id))
        for topic in plan.topics
    }
    return [names.get(entry.community, b"") for entry in plan.library.entries]
