"""Pages that show no document: the overview, all pages, tags, topics, the 404 page and the sitemap."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlsplit

from markupsafe import Markup

from .. import urls
from ..fingerprints.topic_pages import map_fingerprint, topic_fingerprint
from ..incremental.previous import Reuse
from ..library import CommunityRow, Entry, by_title
from ..maps.topics import MAX_PAGE_MAPS, MAX_PAGES, pages_map, topics_map
from ..outline.navigation import Node
from ..outline.plan import SitePage, SitePlan
from ..outline.word_pages import letters
from .blog import blog_pages
from .documents import Crumb
from .frame import frame_of
from .redirects import redirect_files
from .report import report_pages
from .sitemap import sitemap_files

# What the overview and the index of topics show of a long list; all of it is a link away.
TOP_TOPICS = 12
TOP_TAGS = 60
TOP_PAGES = 6
_ADDRESS = re.compile(r' (href|src)="(?!#|//|[a-z][a-z0-9+.-]*:)([^"]*)"')


@dataclass(frozen=True, slots=True)
class Listed:
    """A named list of pages: ``page`` shows all ``size`` of them, ``entries`` are the first."""

    label: str
    page: str
    size: int
    entries: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True)
class CollectionCard:
    """A collection as the overview shows it: its number of pages, and what is at its top."""

    name: str
    page: str
    size: int
    nodes: tuple[Node, ...]


def list_pages(plan: SitePlan, reuse: Reuse) -> Iterator[SitePage]:
    """Yield every generated page, including the sitemap, in a fixed order."""
    yield from _overviews(plan)
    yield from _tree_pages(plan)
    if plan.tags:
        yield from _tag_pages(plan)
    yield from blog_pages(plan)
    if plan.topics:
        yield from _topic_pages(plan, reuse)
    if plan.settings.search:
        yield from _search_pages(plan)
    yield from report_pages(plan)
    yield _not_found(plan)
    yield from redirect_files(plan)
    yield from sitemap_files(plan)


def _page(plan: SitePlan, name: str, path: str, title: str, **context: object) -> SitePage:
    frame = frame_of(plan, path, title, plan.settings.description)
    return SitePage(path, plan.theme.render(name, {"frame": frame, **context}))


def _tree_pages(plan: SitePlan) -> Iterator[SitePage]:
    title, listing = plan.theme.words.say("all_pages"), plan.listing
    yield _page(
        plan, "tree.html", urls.PAGES_INDEX, title, roots=plan.tree.roots, upper=listing.upper, crumbs=()
    )
    crumbs = crumbs_to(plan, title, urls.PAGES_INDEX)
    for part in listing.parts:
        yield _page(plan, "tree.html", part.page, part.label, roots=part.nodes, upper=(), crumbs=crumbs)


def _overviews(plan: SitePlan) -> Iterator[SitePage]:
    cards = _collections(plan)
    if urls.HOME not in plan.by_page and plan.blogs.of(urls.HOME) is None:
        yield _overview(plan, urls.HOME, plan.title, cards)
    if len(cards) > 1:
        for card in cards:
            if card.page not in plan.by_page and plan.blogs.of(card.page) is None:
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
        if name in by_name
    )


def _top(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """Return the first level that offers a choice: a lone folder tells a reader nothing."""
    while len(nodes) == 1 and nodes[0].children:
        nodes = nodes[0].children
    return nodes


def _tags(plan: SitePlan) -> list[Listed]:
    return [Listed(name, plan.tag_pages[name], len(entries)) for name, entries in plan.tags.items()]


def _tag_pages(plan: SitePlan) -> Iterator[SitePage]:
    title = plan.theme.words.say("tags")
    yield _page(plan, "index_of.html", urls.TAGS_INDEX, title, lists=_tags(plan))
    for name, entries in plan.tags.items():
        listed = Listed(f"#{name}", plan.tag_pages[name], len(entries), entries)
        crumbs = crumbs_to(plan, title, urls.TAGS_INDEX)
        yield _page(
            plan,
            "listing.html",
            listed.page,
            listed.label,
            listed=listed,
            crumbs=crumbs,
            picture="",
            pictured=0,
        )


def crumbs_to(plan: SitePlan, label: str, page: str) -> tuple[Crumb, ...]:
    """Return the path to a list below the page ``page``."""
    return (Crumb(plan.title, urls.HOME), Crumb(label, page))


def _topics(plan: SitePlan) -> list[Listed]:
    return [
        Listed(
            plan.topic_label(community),
            plan.community_page(community.community_id),
            len(community.entries),
            community.entries[:TOP_PAGES],
        )
        for community in plan.topics
    ]


def _topic_pages(plan: SitePlan, reuse: Reuse) -> Iterator[SitePage]:
    title = plan.theme.words.say("topics")
    crumbs = crumbs_to(plan, title, urls.COMMUNITIES_INDEX)
    yield _page(plan, "index_of.html", urls.COMMUNITIES_INDEX, title, lists=_topics(plan))
    if plan.features.map:
        print_of_map = map_fingerprint(plan, urls.MAP, reuse.shared)
        yield reuse.page(urls.MAP, print_of_map, lambda: _map_page(plan, crumbs))
    for place, topic in enumerate(plan.topics):
        page, with_map = plan.community_page(topic.community_id), place < MAX_PAGE_MAPS
        fingerprint = topic_fingerprint(plan, topic, reuse.shared, with_map=with_map)
        yield reuse.page(page, fingerprint, partial(_topic_page, plan, topic, crumbs, with_map=with_map))


def _map_page(plan: SitePlan, crumbs: Sequence[Crumb]) -> SitePage:
    picture, name = topics_map(plan, urls.MAP), plan.theme.words.say("map_title")
    return _page(plan, "map.html", urls.MAP, name, picture=picture, crumbs=crumbs)


def _topic_page(plan: SitePlan, topic: CommunityRow, crumbs: Sequence[Crumb], *, with_map: bool) -> SitePage:
    entries = tuple(sorted(topic.entries, key=by_title))
    listed = Listed(plan.topic_label(topic), plan.community_page(topic.community_id), len(entries), entries)
    picture = pages_map(plan, listed.page, topic) if with_map else ""
    return _page(
        plan,
        "listing.html",
        listed.page,
        listed.label,
        listed=listed,
        crumbs=crumbs,
        picture=picture,
        pictured=min(len(entries), MAX_PAGES),
    )


def _search_pages(plan: SitePlan) -> Iterator[SitePage]:
    """Yield the word list, which needs no script, and the page that shows what the weights do."""
    say, found = plan.theme.words.say, tuple(letters(plan.words))
    sections = _top(plan.tree.roots)
    title = say("words_title")
    yield _page(
        plan,
        "words.html",
        urls.SEARCH_INDEX,
        title,
        letters=found,
        home=True,
        sections=sections,
        words=(),
        crumbs=(),
    )
    crumbs = crumbs_to(plan, title, urls.SEARCH_INDEX)
    for letter in found:
        name = say("words_letter", letter=letter.label)
        yield _page(
            plan,
            "words.html",
            letter.page,
            name,
            letters=found,
            home=False,
            words=letter.words,
            crumbs=crumbs,
        )
    yield _page(plan, "playground.html", urls.PLAYGROUND, say("playground_title"), crumbs=crumbs)


def _not_found(plan: SitePlan) -> SitePage:
    """Return the 404 page; as a server shows it at any address, its links are absolute paths or left out."""
    base = plan.settings.base_url
    root = urlsplit(base).path.rstrip("/") + "/" if base else ""
    own = plan.by_page.get(urls.NOT_FOUND)
    html = plan.renderer.render(own).html if own else ""
    context = {
        "content": Markup(_absolute(html, urls.encoded(root))),  # noqa: S704  # sanitised
        "site_title": plan.title,
        "language": plan.settings.language,
        "root": urls.encoded(root) if root else "",
        "icon": plan.features.icon,
    }
    return SitePage(urls.NOT_FOUND, plan.theme.render("404.html", context))


def _absolute(html: str, root: str) -> str:
    """Return the content with its relative addresses below the site's root; without a root, without them."""
    return _ADDRESS.sub(lambda found: f' {found[1]}="{root}{found[2]}"' if root else "", html)
