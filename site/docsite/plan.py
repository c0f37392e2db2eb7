"""All that must be known of a whole site before any of its pages can be made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from docsite import navigation, related, urls
from docsite.library import CommunityRow, Entry, Library, SnapshotTables
from docsite.render import Renderer
from pipeline.settings import Site


@dataclass(frozen=True, slots=True)
class SitePage:
    """One file of the site: its path below the site's folder, and its bytes."""

    path: str
    content: bytes


@dataclass(frozen=True, slots=True)
class SitePlan:
    """The documents, where each page lies, how pages hang together, and who renders their content."""

    library: Library
    settings: Site
    tree: navigation.Tree
    by_page: Mapping[str, Entry]
    tags: Mapping[str, tuple[Entry, ...]]
    tag_pages: Mapping[str, str]
    communities: tuple[CommunityRow, ...]
    relations: related.Relations
    backlinks: Mapping[int, list[int]]
    renderer: Renderer

    @property
    def title(self) -> str:
        """The site's title: the one that is set, else the collection's name."""
        names = self.library.collections
        return self.settings.title or (names[0] if len(names) == 1 else "Documents")

    @property
    def topics(self) -> tuple[CommunityRow, ...]:
        """The communities worth showing: a page that nothing is linked with is none."""
        return tuple(community for community in self.communities if len(community.entries) > 1)

    def community_page(self, community_id: int) -> str:
        """The page that lists a community."""
        return f"_communities/{community_id}.html"


def plan_site(snapshot: SnapshotTables, settings: Site) -> SitePlan:
    """The plan of the site that shows this snapshot."""
    library = Library(snapshot)
    tags = library.tags()
    tag_pages = urls.slug_pages(tags, "_tags")
    return SitePlan(
        library=library,
        settings=settings,
        tree=navigation.build_tree(library.entries),
        by_page={entry.page: entry for entry in library.entries},
        tags=tags,
        tag_pages=tag_pages,
        communities=library.communities(),
        relations=related.relations(library.entries, library.edges),
        backlinks=related.backlink_rows(library.edges),
        renderer=Renderer(library, tag_pages),
    )
