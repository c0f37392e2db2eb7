"""The pages of documents: the data each template is given, and the resulting bytes."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from ...pipeline.includes.parts import PAGES_BELOW
from ...pipeline.model import TAG_NOTES
from .. import urls
from ..content.markdown_html import Anchored
from ..content.render import Content
from ..library import CommunityRow, Entry, by_title
from ..maps.neighbours import neighbour_graph
from ..outline.blogs import Post
from ..outline.pages_below import PageBelow, pages_below
from ..outline.plan import MAX_BACKLINKS, SitePage, SitePlan
from .blog import BlogView, blog_view
from .frame import frame_of
from .options import PageOptions, options_of

# A table of contents shows the two upper levels below the title, if there is more than one heading.
TOC_LEVELS = 2
MIN_TOC_ENTRIES = 2
MOST_WORDS_ABOVE_PAGES = 80
_TAG = re.compile(r"<[^<>]*>")


@dataclass(frozen=True, slots=True)
class Crumb:
    """A step of the path to a page; ``page`` is None for a folder that has none."""

    label: str
    page: str | None


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag and the page that lists it."""

    name: str
    page: str


@dataclass(frozen=True, slots=True)
class DocumentView:
    """A document's page without its frame; ``head`` is the content above the table of contents."""

    head: Markup
    content: Markup
    shows_title: bool
    crumbs: tuple[Crumb, ...]
    toc: tuple[Anchored, ...]
    toc_level: int
    tags: tuple[Tag, ...]
    modified: str
    community: CommunityRow | None
    community_label: str
    community_page: str
    previous: Crumb | None
    next: Crumb | None
    related: tuple[Entry, ...]
    backlinks: tuple[Entry, ...]
    backlinks_left_out: int
    edit_url: str
    history_url: str
    twin: str
    graph: Markup
    post: Post | None
    blog: BlogView | None
    below: tuple[PageBelow, ...]


def render_page(plan: SitePlan, entry: Entry, content: Content) -> SitePage:
    """Render the page of this document, whose content is given."""
    summary = entry.description or content.summary
    frame = frame_of(plan, entry.page, entry.title, summary, entry=entry)
    view = _view(plan, entry, content, plan.topic_of.get(entry.community))
    return SitePage(entry.page, plan.theme.render("page.html", {"frame": frame, "view": view}), summary)


def _view(plan: SitePlan, entry: Entry, content: Content, community: CommunityRow | None) -> DocumentView:
    linking = plan.relations.backlinks_of(entry.row)
    rows = plan.relations.related_to(entry.row)
    before, after = plan.neighbours(entry.page)
    blog = plan.blogs.of(entry.page)
    options = options_of(plan.library.front_matter(entry))
    toc = _toc(content, frozenset(section.slug for section in plan.library.sections(entry)), options)
    head, body = content.parts
    return DocumentView(
        # What noctule.docsite.content.render gives is sanitised, and completed with escaped text only.
        head=Markup(head),  # noqa: S704
        content=Markup(body),  # noqa: S704
        shows_title=not content.has_title and options.title,
        crumbs=_crumbs(plan, entry),
        toc=toc,
        toc_level=min((heading.level for heading in toc), default=2),
        tags=_tags(plan, entry),
        modified=entry.modified,
        community=community,
        community_label=plan.topic_label(community) if community else "",
        community_page=plan.community_page(entry.community),
        previous=Crumb(plan.label(before), before) if before and options.previous else None,
        next=Crumb(plan.label(after), after) if after and options.next else None,
        related=tuple(plan.library.entries[row] for row in rows),
        backlinks=_backlinks(plan, linking),
        backlinks_left_out=max(len(linking) - MAX_BACKLINKS, 0),
        edit_url=_source_url(plan.settings.edit_url, entry) if options.edit_url is None else options.edit_url,
        history_url="" if options.edit_url == "" else _source_url(plan.settings.history_url, entry),
        twin=plan.twins.get(entry.page, ""),
        graph=neighbour_graph(plan, entry),
        post=plan.blogs.post(entry.page),
        blog=blog_view(plan, blog) if blog is not None and blog.page == entry.page else None,
        below=() if blog is not None else _pages_below(plan, entry, body),
    )


def _source_url(pattern: str, entry: Entry) -> str:
    """Return an address of the page's source; a pattern with no placeholder gets the path appended."""
    if not pattern:
        return ""
    if "{path}" not in pattern:
        pattern = f"{pattern.rstrip('/')}/{{path}}"
    return pattern.replace("{path}", urls.encoded(entry.path)).replace("{collection}", entry.collection)


def _tags(plan: SitePlan, entry: Entry) -> tuple[Tag, ...]:
    """Return the document's tags, each with its note, where it has one, or else the list of its pages."""
    rows = plan.library.links(entry) if entry.tags else ()
    notes = {row.target: plan.library.by_id.get(row.target_id or "") for row in rows if row.kind == "tag"}
    found = ((name, notes.get(f"{TAG_NOTES}{name}")) for name in dict.fromkeys(entry.tags))
    return tuple(Tag(name, note.page if note else plan.tag_pages[name]) for name, note in found)


def _backlinks(plan: SitePlan, rows: Sequence[int]) -> tuple[Entry, ...]:
    entries = [plan.library.entries[row] for row in rows]
    entries.sort(key=lambda entry: (-entry.links_in, entry.doc_id))
    return tuple(sorted(entries[:MAX_BACKLINKS], key=by_title))


def _crumbs(plan: SitePlan, entry: Entry) -> tuple[Crumb, ...]:
    above = plan.tree.trail(entry.page)[:-1]
    home = () if entry.page == urls.HOME else (Crumb(plan.title, urls.HOME),)
    blog = plan.blogs.of(entry.page)
    first = {posixpath.dirname(blog.page): Crumb(blog.title, blog.page)} if blog is not None else {}
    several = plan.library.collections[1:] and plan.library.collections
    tops = {name: f"{name}/{urls.HOME}" for name in several}
    found = (
        first.get(node.key, Crumb(node.label, tops.get(node.key)))
        if node.page is None
        else Crumb(node.label, node.page)
        for node in above
        if node.page != urls.HOME
    )
    return (*home, *(each for each in found if each.page != entry.page))


def _pages_below(plan: SitePlan, entry: Entry, content: str) -> tuple[PageBelow, ...]:
    """Return the pages below one that asks for them, or says little and leads to none of them.

    Just the Docs lists them unless the front matter says otherwise; Docusaurus, Hugo and others do on
    pages of sections.
    """
    below, asked = pages_below(plan.tree, entry.page, plan.by_page), entry.placement.lists_below
    if not below or asked is False:
        return ()
    if asked or PAGES_BELOW in plan.library.text(entry):
        return tuple(_with_summary(plan, each) for each in below)
    if len(_TAG.sub(" ", content).split()) > MOST_WORDS_ABOVE_PAGES:
        return ()
    pages = {each.page for each in below}
    targets = (plan.library.by_id.get(link.target_id or "") for link in plan.library.links(entry))
    return () if any(target is not None and target.page in pages for target in targets) else below


def _with_summary(plan: SitePlan, below: PageBelow) -> PageBelow:
    """Return a page below with how its text begins, if its front matter does not describe it."""
    if below.description or not below.page or below.size:
        return below
    return replace(below, description=plan.renderer.summary(plan.by_page[below.page]))


def _toc(content: Content, slugs: frozenset[str], options: PageOptions) -> tuple[Anchored, ...]:
    """Return the upper headings below the title, without empty ones, for which the index has no section."""
    if not options.contents:
        return ()
    headings = content.headings[1:] if content.has_title else content.headings
    # A heading that the sanitiser dropped (below an unclosed <textarea>, say) cannot be linked to.
    filled = [h for h in headings if h.slug in slugs and h.title and f'id="{h.slug}"' in content.html]
    levels = sorted({heading.level for heading in filled})
    first, last = options.levels or (1, (levels[:TOC_LEVELS] or [1])[-1])
    shown = [level for level in levels if first <= level <= last]
    toc = tuple(heading for heading in filled if heading.level in shown)
    return toc if len(toc) >= MIN_TOC_ENTRIES else ()
