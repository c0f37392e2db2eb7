"""Everything that must be known about a whole site before any of its pages can be made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...pipeline.settings.site import Site
from .. import urls
from ..appearance import Appearance, appearance_of
from ..content.render import Renderer
from ..interface_words import load_words
from ..library import CommunityRow, Entry, Library, SnapshotTables
from ..parts import Parts, parts_of
from ..templates import Theme
from . import navigation
from .all_pages import AllPages, all_pages
from .contents import Chapter, chapters
from .extent import Extent
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
    settings: Site
    tree: navigation.Tree
    listing: AllPages
    by_page: Mapping[str, Entry]
    tags: Mapping[str, tuple[Entry, ...]]
    tag_pages: Mapping[str, str]
    communities: tuple[CommunityRow, ...]
    relations: Relations
    backlinks: Mapping[int, list[int]]
    renderer: Renderer
    theme: Theme
    twins: Mapping[str, str]
    topics: tuple[CommunityRow, ...]
    topic_of: Mapping[int, CommunityRow]
    parts: Parts
    appearance: Appearance
    words: tuple[Word, ...]

    @property
    def title(self) -> str:
        """Return the site's title: the configured one, or the collection's name."""
        names = self.library.collections
        return self.settings.title or (names[0] if len(names) == 1 else "Documents")

    @property
    def pages(self) -> tuple[str, ...]:
        """Return the page of every document: those of the tree, then those that are on no list."""
        unlisted = (entry.page for entry in self.library.entries if not entry.shown.listed)
        return (*self.tree.order, *unlisted)

    def community_page(self, community_id: int) -> str:
        """Return the page that lists a community."""
        return f"_communities/{community_id}.html"

    def topic_label(self, topic: CommunityRow) -> str:
        """Return the name of a topic, or its number if it has none."""
        return topic.label or self.theme.words.say("topic_number", number=topic.community_id)


def plan_site(snapshot: SnapshotTables, settings: Site, *, originals: bool = False) -> SitePlan:
    """Plan the site that shows this snapshot; ``originals`` are documents that are their own pages."""
    from . import related  # SciPy comes with it

    appearance = appearance_of(settings)
    library = Library(snapshot, originals=originals)
    theme = Theme(load_words(settings.words), settings.templates)
    tags = library.tags()
    tag_pages = urls.slug_pages(tags, "_tags")
    tree = navigation.build_tree(library.listed, _listed(chapters(library), library))
    communities = library.communities()
    # A community has no name if none was good enough.
    topics = tuple(each for each in communities if each.label and len(each.entries) > 1)
    return SitePlan(
        library=library,
        settings=settings,
        tree=tree,
        listing=all_pages(tree),
        by_page={entry.page: entry for entry in library.entries},
        tags=tags,
        tag_pages=tag_pages,
        communities=communities,
        relations=related.Relations(library.entries, library.edges, settings.related),
        backlinks=related.backlink_rows(library.edges),
        renderer=Renderer(library, tag_pages, theme.words),
        theme=theme,
        twins=urls.twin_paths(entry.page for entry in library.entries) if settings.markdown else {},
        topics=topics,
        topic_of={topic.community_id: topic for topic in topics},
        parts=parts_of(settings, library.entries, bool(tags), topics, appearance),
        appearance=appearance,
        words=read_words(snapshot, library) if settings.search else (),
    )


def _listed(chapters: Mapping[str, Chapter], library: Library) -> Mapping[str, Chapter]:
    """Return the places of pages that lists may name; what stood below another moves up."""
    pages = {entry.page for entry in library.listed}
    return {
        page: chapter if chapter.parent in pages else replace(chapter, parent=None)
        for page, chapter in chapters.items()
        if page in pages
    }


def shard_count(pages: int) -> int:
    """Return the number of preview files, a power of two so that a few more pages do not move them all."""
    count = 1
    while count * PAGES_PER_FILE < pages:
        count *= 2
    return count
