"""Folders of the site that are blogs: their posts by date, and the pages and feeds that list them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from types import MappingProxyType

from ...pipeline.identity import read_front_matter_json
from ...pipeline.parse.dates import day_of
from ...pipeline.settings.site import Site
from .. import urls
from ..library import Entry, Library
from ..placement import said_day

# Jekyll and Docusaurus write it before the name, of the file or of its folder, or as folders.
_DAY_IN_PATH = re.compile(r"(?:^|/)(\d{4})[-/](\d{2})[-/](\d{2})(?=[-/_.]|$)")


@dataclass(frozen=True, slots=True)
class Post:
    """A document of a blog with its day, as ``YYYY-MM-DD``, and the names of its authors.

    The blog's first page begins with those that are pinned.
    """

    entry: Entry
    day: str
    authors: tuple[str, ...]
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class PostList:
    """Some posts of a blog, and the page that shows them."""

    page: str
    posts: tuple[Post, ...]


@dataclass(frozen=True, slots=True)
class Archive:
    """The posts of a year and the page that lists them."""

    year: str
    page: str
    posts: tuple[Post, ...]


@dataclass(frozen=True, slots=True)
class Blog:
    """A blog: its first page, its posts, the newest first, its archives and its feed.

    ``lists`` are the first page and those after it.
    """

    title: str
    page: str
    feed: str
    posts: tuple[Post, ...]
    archives: tuple[Archive, ...]
    lists: tuple[PostList, ...]

    def around(self, page: str) -> tuple[str, str]:
        """Return the pages of newer and older posts beside a page of posts, each empty for none."""
        pages = ["", *(each.page for each in self.lists), ""]
        at = pages.index(page) if page in pages[1:-1] else 0
        return (pages[at - 1], pages[at + 1]) if at else ("", "")


@dataclass(frozen=True, slots=True)
class Blogs:
    """The blogs of a site, and the place of each post, by its page."""

    all: tuple[Blog, ...] = ()
    places: Mapping[str, tuple[Blog, int]] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def links(self) -> tuple[tuple[str, str], ...]:
        """Return the title and the first page of each blog, for the header."""
        return tuple((blog.title, blog.page) for blog in self.all)

    def of(self, page: str) -> Blog | None:
        """Return the blog that a post or a first page belongs to."""
        if page in self.places:
            return self.places[page][0]
        return next((blog for blog in self.all if blog.page == page), None)

    def post(self, page: str) -> Post | None:
        """Return the post that a page shows."""
        blog, place = self.places.get(page, (None, 0))
        return blog.posts[place] if blog is not None else None

    def order(self, page: str) -> float | None:
        """Return a number that sorts posts by their place; nothing for other pages."""
        return float(self.places[page][1]) if page in self.places else None

    def newer_and_older(self, page: str) -> tuple[str | None, str | None] | None:
        """Return the pages of the posts around this one; nothing for other pages."""
        if page not in self.places:
            return None
        blog, place = self.places[page]
        newer = blog.posts[place - 1].entry.page if place else None
        older = blog.posts[place + 1].entry.page if place + 1 < len(blog.posts) else None
        return newer, older


def blogs_of(library: Library, settings: Site) -> Blogs:
    """Return the blogs in the folders that the settings name; a folder without posts is none."""
    found: list[Blog] = []
    taken = set[str]()
    for folder in (name.strip("/.") for name in settings.blogs):
        home = posixpath.join(folder, urls.HOME)
        inside = [
            entry
            for entry in library.listed
            if entry.page.startswith(f"{folder}/" if folder else "")
            and entry.page not in (home, urls.NOT_FOUND)
            and entry.page not in taken
        ]
        posts = tuple(_posts(library, inside, settings))
        if posts:
            taken.update(post.entry.page for post in posts)
            found.append(_blog(library, folder, home, posts, settings.posts_per_page))
    places = {post.entry.page: (blog, place) for blog in found for place, post in enumerate(blog.posts)}
    return Blogs(tuple(found), places)


def _posts(library: Library, entries: Sequence[Entry], settings: Site) -> Iterator[Post]:
    """Yield what has a date, the newest first; of one day by path."""
    front_matter = library.documents.column("front_matter")
    dated = [(_day(entry, str(front_matter[entry.row].as_py() or "{}")), entry) for entry in entries]
    for day, entry in sorted(dated, key=lambda pair: (pair[0], pair[1].path), reverse=True):
        if day:
            names = (name.strip() for name in entry.author.split(","))
            authors = tuple(settings.authors.get(name, name) for name in names if name)
            yield Post(entry, day, authors, _is_pinned(str(front_matter[entry.row].as_py() or "")))


def _is_pinned(front_matter: str) -> bool:
    return '"pin"' in front_matter and read_front_matter_json(front_matter).get("pin") is True


def _day(entry: Entry, front_matter: str) -> str:
    """Return the day of a post as its front matter says, else its path, else when it was changed."""
    if day := said_day(read_front_matter_json(front_matter)):
        return day
    if found := _DAY_IN_PATH.search(entry.path):
        return day_of("-".join(found.groups())) or ""
    return entry.modified


def _blog(library: Library, folder: str, home: str, posts: tuple[Post, ...], shown: int) -> Blog:
    own = next((entry for entry in library.listed if entry.page == home), None)
    years = {year: tuple(group) for year, group in groupby(posts, key=lambda post: post.day[:4])}
    first = sorted(posts, key=lambda post: not post.pinned)
    parts = [tuple(first[at : at + shown]) for at in range(0, len(first), shown)]
    after = [f"{folder} page {number}" for number in range(2, len(parts) + 1)]
    pages = urls.slug_pages([*(f"{folder} {year}" for year in years), *after], urls.BLOGS)
    lists = map(PostList, (home, *(pages[name] for name in after)), parts)
    archives = tuple(Archive(year, pages[f"{folder} {year}"], each) for year, each in years.items())
    name = posixpath.basename(folder).strip("_").replace("-", " ") or "blog"
    title = own.title if own is not None else name[:1].upper() + name[1:]
    return Blog(title, home, posixpath.join(folder, urls.ATOM), posts, archives, tuple(lists))
