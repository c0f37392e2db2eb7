"""The pages that no document is: the overview, all pages, tags, topics, the 404 page and the sitemap."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit
from xml.sax.saxutils import escape

from docsite import urls
from docsite.library import CommunityRow, Entry, by_title
from docsite.navigation import Node
from docsite.pages import frame_of
from docsite.plan import SitePage, SitePlan
from docsite.templates import template

# What the overview and the index of topics show of a long list; all of it is a link away.
TOP_TOPICS = 12
TOP_TAGS = 60
TOP_PAGES = 6
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")


@dataclass(frozen=True, slots=True)
class Listed:
    """A named list of pages: ``page`` shows all ``size`` of them, ``entries`` are the first."""

    label: str
    page: str
    size: int
    entries: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True)
class CollectionCard:
    """A collection as the overview shows it: how many pages it has, and what lies at its top."""

    name: str
    page: str
    size: int
    nodes: tuple[Node, ...]


def list_pages(plan: SitePlan) -> Iterator[SitePage]:
    """Every generated page, the sitemap included, in a fixed order."""
    yield from _overviews(plan)
    yield _page(plan, "tree.html", urls.PAGES_INDEX, "All pages", roots=plan.tree.roots)
    if plan.tags:
        yield from _tag_pages(plan)
    if plan.topics:
        yield from _topic_pages(plan)
    yield _not_found(plan)
    yield SitePage("sitemap.xml", _sitemap(plan).encode())


def _page(plan: SitePlan, name: str, path: str, title: str, **context: object) -> SitePage:
    frame = frame_of(plan, path, title, plan.settings.description)
    return SitePage(path, template(name).render(frame=frame, **context).encode())


def _overviews(plan: SitePlan) -> Iterator[SitePage]:
    cards = _collections(plan)
    if urls.HOME not in plan.by_page:
        yield _overview(plan, urls.HOME, plan.title, cards)
    if len(cards) > 1:
        for card in cards:
            if card.page not in plan.by_page:
                yield _overview(plan, card.page, card.name, (card,))


def _overview(plan: SitePlan, path: str, title: str, cards: Sequence[CollectionCard]) -> SitePage:
    home = path == urls.HOME
    return _page(
        plan,
        "overview.html",
        path,
        title,
        summary=plan.settings.description if home else "",
        cards=cards,
        topics=_topics(plan)[:TOP_TOPICS] if home else (),
        tags=sorted(_tags(plan), key=lambda tag: -tag.size)[:TOP_TAGS] if home else (),
    )


def _collections(plan: SitePlan) -> tuple[CollectionCard, ...]:
    names = plan.library.collections
    if len(names) == 1:
        return (CollectionCard(names[0], urls.HOME, len(plan.by_page), _top(plan.tree.roots)),)
    by_name = {node.key: node for node in plan.tree.roots}
    return tuple(
        CollectionCard(name, f"{name}/index.html", by_name[name].size, _top(by_name[name].children))
        for name in names
    )


def _top(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """The first level with a choice: a lone folder tells a reader nothing."""
    while len(nodes) == 1 and nodes[0].children:
        nodes = nodes[0].children
    return nodes


def _tags(plan: SitePlan) -> list[Listed]:
    return [Listed(name, plan.tag_pages[name], len(entries)) for name, entries in plan.tags.items()]


def _tag_pages(plan: SitePlan) -> Iterator[SitePage]:
    yield _page(plan, "index_of.html", urls.TAGS_INDEX, "Tags", lists=_tags(plan), above=None)
    for name, entries in plan.tags.items():
        listed = Listed(f"#{name}", plan.tag_pages[name], len(entries), entries)
        yield _page(
            plan, "listing.html", listed.page, listed.label, listed=listed, above="Tags", up=urls.TAGS_INDEX
        )


def _label(community: CommunityRow) -> str:
    return community.label or f"Topic {community.community_id}"


def _topics(plan: SitePlan) -> list[Listed]:
    return [
        Listed(
            _label(community),
            plan.community_page(community.community_id),
            len(community.entries),
            community.entries[:TOP_PAGES],
        )
        for community in plan.topics
    ]


def _topic_pages(plan: SitePlan) -> Iterator[SitePage]:
    yield _page(plan, "index_of.html", urls.COMMUNITIES_INDEX, "Topics", lists=_topics(plan), above=None)
    for community in plan.topics:
        entries = tuple(sorted(community.entries, key=by_title))
        listed = Listed(_label(community), plan.community_page(community.community_id), len(entries), entries)
        up = urls.COMMUNITIES_INDEX
        yield _page(plan, "listing.html", listed.page, listed.label, listed=listed, above="Topics", up=up)


def _not_found(plan: SitePlan) -> SitePage:
    """A server shows this page at any address: its links are absolute paths, or there are none."""
    base = plan.settings.base_url
    root = urlsplit(base).path.rstrip("/") + "/" if base else ""
    html = template("404.html").render(
        site_title=plan.title, language=plan.settings.language, root=urls.encoded(root) if root else ""
    )
    return SitePage(urls.NOT_FOUND, html.encode())


def _sitemap(plan: SitePlan) -> str:
    """Addresses are absolute where the settings give a base, as the protocol wants; else relative to the site."""
    base = f"{plan.settings.base_url.rstrip('/')}/" if plan.settings.base_url else ""
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">',
    ]
    if urls.HOME not in plan.by_page:
        lines.append(f"<url><loc>{escape(base + urls.HOME)}</loc></url>")
    for page in plan.tree.order:
        modified = plan.by_page[page].modified
        changed = f"<lastmod>{modified}</lastmod>" if _DATE.match(modified) else ""
        lines.append(f"<url><loc>{escape(base + urls.encoded(page))}</loc>{changed}</url>")
    return "\n".join([*lines, "</urlset>", ""])
