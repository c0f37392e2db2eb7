"""An RSS 2.0 feed of recent changes; dates come from the documents, never from the clock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from email.utils import format_datetime
from xml.sax.saxutils import escape

from .. import urls
from ..features import DATE
from ..library import Entry
from ..outline.plan import SitePage, SitePlan


def feed_file(plan: SitePlan, summaries: Mapping[str, str]) -> Iterator[SitePage]:
    """Yield ``feed.xml`` with the pages changed last; nothing if the site has no address or its pages no
    dates.
    """
    if not plan.features.feed:
        return
    dated = [entry for entry in plan.library.listed if _day(entry) and entry.page != urls.NOT_FOUND]
    latest = sorted(dated, key=lambda entry: entry.doc_id)
    latest = sorted(latest, key=lambda entry: entry.modified, reverse=True)[: plan.settings.feed]
    if not latest:
        return
    base = plan.settings.base_url.rstrip("/")
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">',
        "<channel>",
        f"<title>{xml_text(plan.title)}</title>",
        f"<link>{xml_text(base)}/</link>",
        f"<description>{xml_text(plan.settings.description or plan.title)}</description>",
        f"<language>{xml_text(plan.settings.language)}</language>",
        f'<atom:link href="{xml_text(base)}/{urls.FEED}" rel="self" type="application/rss+xml"/>',
        f"<lastBuildDate>{_moment(latest[0])}</lastBuildDate>",
        *_items(plan, base, latest, summaries),
        "</channel>",
        "</rss>",
    ]
    yield SitePage(urls.FEED, ("\n".join(lines) + "\n").encode())


def _items(
    plan: SitePlan, base: str, entries: Sequence[Entry], summaries: Mapping[str, str]
) -> Iterator[str]:
    for entry in entries:
        yield from _item(base, plan.library.address(entry.page), entry, summaries.get(entry.page, ""))


def _item(base: str, place: str, entry: Entry, summary: str) -> Iterator[str]:
    address = f"{base}/{place}"
    yield "<item>"
    yield f"<title>{xml_text(entry.title)}</title>"
    yield f"<link>{xml_text(address)}</link>"
    # The date is part of the name: a page that changes again is news again.
    yield f'<guid isPermaLink="false">{xml_text(address)}@{entry.modified}</guid>'
    if summary:
        yield f"<description>{xml_text(summary)}</description>"
    yield f"<pubDate>{_moment(entry)}</pubDate>"
    yield "</item>"


def _day(entry: Entry) -> date | None:
    if not DATE.match(entry.modified):
        return None
    try:
        return date.fromisoformat(entry.modified)
    except ValueError:
        return None


def _moment(entry: Entry) -> str:
    day = date.fromisoformat(entry.modified)
    return format_datetime(datetime(day.year, day.month, day.day, tzinfo=UTC))


def xml_text(text: str) -> str:
    """Return a text as XML 1.0 may hold it, in an element or an attribute."""
    return escape("".join(c for c in text if c >= " " or c in "\t\n"), {'"': "&quot;"})
