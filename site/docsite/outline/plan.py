"""Everything that must be known about a whole site before any of its pages can be made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from ...pipeline.settings.site import Site
from .. import urls
from ..appearance import Appearance, appearance_of
from ..content.render import Renderer
from ..features import Features, features_of
from ..interface_words import Words, is_translated, load_words
from ..library import CommunityRow, Entry, Library, SnapshotTables
from ..templates import Theme, content_security_policy
from . import navigation
from .all_pages import AllPages, all_pages
from .blogs import Blogs, blogs_of
from .cards import Cards, cards_of
from .contents import SiteContents, contents_of
from .declared import declared_contents
from .extent import Extent
from .hierarchy import build_tree
from .languages import Languages
from .word_pages import Word, read_words

if TYPE_CHECKING:
    from .related import Relations

# A page that thousands link to names the most linked of them.
MAX_BACKLINKS = 40
PAGES_PER_FILE = 64


@dataclass(frozen=True, slots=True)
class SitePage:
    """One file of the site: its path below the site's folder, its bytes and, for a document, the summary.

    ``fingerprint`` stands for everything it is made from, if that is known; a file that is ``kept`` is the
    previous site's, and has no bytes here. ``extent`` tells where a document's content is in its page.
    """

    path: str
    content: bytes
    summary: str = ""
    fingerprint: str = ""
    kept: bool = False
    extent: Extent | None = None


@dataclass(frozen=True, slots=True)
class SitePlan:
    """The documents, where each page goes, how pages are connected, and what renders their content.

    ``topics`` are the communities worth showing, and ``topic_of`` gives them by number; a page without links
    is not a topic.
    """

    library: Library
    blogs: Blogs
    cards: Cards | None
    settings: Site
    tree: navigation.Tree
    listing: AllPages
    by_page: Mapping[str, Entry]
    tags: Mapping[str, tuple[Entry, ...]]
    tag_pages: Mapping[str, str]
    communities: tuple[CommunityRow, ...]
    relations: Relations
    renderer: Renderer
    theme: Theme
    twins: Mapping[str, str]
    topics: tuple[CommunityRow, ...]
    topic_of: Mapping[int, CommunityRow]
    features: Features
    appearance: Appearance
    languages: Languages
    words: tuple[Word, ...]
    contents: SiteContents

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return what was wrong with tables of contents."""
        return self.contents.remarks

    @property
    def title(self) -> str:
        """Return the site's title: the configured one, or the collection's name."""
        return site_title(self.settings, self.library)

    def community_page(self, community_id: int) -> str:
        """Return the page that lists a community."""
        return f"_communities/{community_id}.html"

    def label(self, page: str) -> str:
        """Return what the navigation calls a page; a post, and a page outside the tree, by its title."""
        trail = () if self.blogs.post(page) else self.tree.trail(page)
        return trail[-1].label if trail else self.by_page[page].title

    def neighbours(self, page: str) -> tuple[str | None, str | None]:
        """Return the pages before and after this one in reading order, as far as they are in its language.

        Of a post these are the newer one and the older one.
        """
        by_date = self.blogs.newer_and_older(page)
        before, after = by_date or (self.tree.previous(page), self.tree.next(page))
        if by_date is None:  # reading goes on before and after a blog, not into it
            before, after = (None if each and self.blogs.post(each) else each for each in (before, after))
        language = self.languages.of
        return (
            before if before and language(before) == language(page) else None,
            after if after and language(after) == language(page) else None,
        )

    def topic_label(self, topic: CommunityRow) -> str:
        """Return the name of a topic, or its number if it has none."""
        return topic.label or self.theme.words.say("topic_number", number=topic.community_id)


def plan_site(
    snapshot: SnapshotTables, settings: Site, *, originals: bool = False, before: SitePlan | None = None
) -> SitePlan:
    """Plan the site that shows this snapshot; ``originals`` are documents that are their own pages.

    ``before`` is the plan of the same settings from which little has changed, as in a preview.
    """
    from . import related  # SciPy comes with it

    appearance = appearance_of(settings)
    library = Library(snapshot, originals=originals, settings=settings)
    tags = library.tags()
    tag_pages = urls.slug_pages(tags, "_tags")
    contents = contents_of(library, declared_contents(settings), settings.blogs)
    cards = cards_of(settings, site_title(settings, library))
    blogs = blogs_of(library, settings)
    tree, listing, twins = _outline(library, contents, blogs, settings, before)
    _entitle(library, _titles(tree, library.entries))
    communities = library.communities()
    # A community has no name if none was good enough.
    topics = tuple(each for each in communities if each.label and len(each.entries) > 1)
    drawn = cards.fingerprint if cards else ""
    features = features_of(settings, library.entries, bool(tags), topics, appearance, blogs.links, drawn)
    return SitePlan(
        library=library,
        blogs=blogs,
        cards=cards,
        settings=settings,
        tree=tree,
        listing=listing,
        by_page={entry.page: entry for entry in library.entries},
        tags=tags,
        tag_pages=tag_pages,
        communities=communities,
        relations=related.Relations(library.entries, library.edges, settings.related),
        renderer=Renderer(library, tag_pages, remote_images=settings.remote_images),
        theme=_theme(settings),
        twins=twins,
        topics=topics,
        topic_of={topic.community_id: topic for topic in topics},
        features=features,
        appearance=appearance,
        languages=Languages(settings, {entry.page for entry in library.listed}),
        words=read_words(snapshot, library) if settings.search else (),
        contents=contents,
    )


def _theme(settings: Site) -> Theme:
    policy = content_security_policy(remote_images=settings.remote_images, events=settings.events)
    words = load_words(settings.words, settings.language)
    return Theme(words, settings.templates, policy, _other_words(settings))


def _outline(
    library: Library, contents: SiteContents, blogs: Blogs, settings: Site, before: SitePlan | None
) -> tuple[navigation.Tree, AllPages, Mapping[str, str]]:
    """Return the tree of pages, its listing and the markdown beside pages: those of before, if they hold."""
    if (
        before is not None
        and not (blogs.places or before.blogs.places)
        and contents == before.contents
        and _stand_alike(library.entries, before.library.entries)
    ):
        return before.tree, before.listing, before.twins
    tree = build_tree(library.entries, contents, blogs)
    return tree, all_pages(tree), urls.twin_paths(tree.pages) if settings.markdown else {}


def _entitle(library: Library, titles: Mapping[int, str]) -> None:
    """Give documents, by row, these titles."""
    library.entries = tuple(replace(each, title=titles.get(each.row, each.title)) for each in library.entries)
    library.by_id = {entry.doc_id: entry for entry in library.entries}
    library.listed = tuple(entry for entry in library.entries if entry.shown.listed)


def _titles(tree: navigation.Tree, entries: Sequence[Entry]) -> Mapping[int, str]:
    """Return the titles, by row, that a table of contents gives to pages whose own is their file's name."""
    names = ((entry, PurePosixPath(entry.path).stem) for entry in entries)
    nameless = [(entry, name) for entry, name in names if entry.title == name]
    trails = ((entry.row, name, tree.trail(entry.page)) for entry, name in nameless)
    labels = ((row, name, trail[-1].label) for row, name, trail in trails if trail)
    return {row: label for row, name, label in labels if _spaced(label) != _spaced(name)}


def _spaced(name: str) -> str:
    return name.replace("-", " ").replace("_", " ")


def _stand_alike(entries: Sequence[Entry], others: Sequence[Entry]) -> bool:
    """Return whether these pages make the same tree as the others: they differ in what no tree shows."""
    return len(entries) == len(others) and all(map(_stands_like, entries, others))


def _stands_like(entry: Entry, other: Entry) -> bool:
    return (
        entry.page == other.page
        and entry.title == other.title
        and entry.placement == other.placement
        and entry.path == other.path
        and entry.place == other.place
        and entry.shown == other.shown
        and entry.collection == other.collection
    )


def site_title(settings: Site, library: Library) -> str:
    """Return the configured title, or the name of the only collection."""
    names = library.collections
    return settings.title or (names[0] if len(names) == 1 else "Documents")


def _other_words(settings: Site) -> Mapping[str, Words]:
    """Return the interface texts of the site's languages, besides its own, that the theme has."""
    codes = [code for code in settings.languages if code != settings.language and is_translated(code)]
    return {code: load_words(language=code) for code in codes}


def shard_count(pages: int) -> int:
    """Return the number of preview files, a power of two so that a few more pages do not move them all."""
    count = 1
    while count * PAGES_PER_FILE < pages:
        count *= 2
    return count
