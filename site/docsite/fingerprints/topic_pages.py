"""Fingerprints of topic pages, because laying out their maps takes longer than all other lists together."""

from __future__ import annotations

from collections.abc import Sequence

from ..incremental.columns import digest, digest_of_texts
from ..library import CommunityRow, Entry, by_title
from ..maps.topics import MAX_PAGES, MAX_TOPICS, TOP_PAGES, weights
from ..outline import navigation
from ..outline.plan import SitePlan
from .branches import navigation_digest


def topic_fingerprint(plan: SitePlan, topic: CommunityRow, code: bytes, *, with_map: bool) -> str:
    """Return what one topic's page is made from: its pages, and the links among those in its map."""
    page = plan.community_page(topic.community_id)
    pictured = topic.entries[:MAX_PAGES]
    links = weights([[entry.row] for entry in pictured], plan).tobytes() if with_map else b""
    return digest(
        code,
        _around(plan, page),
        digest_of_texts(page, plan.topic_label(topic)),
        _entries(sorted(topic.entries, key=by_title)),
        _entries(pictured) if with_map else b"",
        links,
    ).hex()


def map_fingerprint(plan: SitePlan, page: str, code: bytes) -> str:
    """Return what the map of all topics is made from."""
    topics = plan.topics[:MAX_TOPICS]
    links = weights([[entry.row for entry in topic.entries] for topic in topics], plan)
    described = (
        digest_of_texts(str(topic.community_id), plan.topic_label(topic), str(len(topic.entries)))
        + _entries(topic.entries[:TOP_PAGES])
        for topic in topics
    )
    return digest(code, _around(plan, page), links.tobytes(), *described).hex()


def _around(plan: SitePlan, page: str) -> bytes:
    return navigation_digest(navigation.items_for(plan.tree, page), plan.listing)


def _entries(entries: Sequence[Entry]) -> bytes:
    return digest_of_texts(*(f"{e.page}\n{e.title}\n{e.apart}\n{e.description}" for e in entries))
