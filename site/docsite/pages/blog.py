"""The first pages, archives and Atom feeds of blogs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from .. import urls
from ..outline.blogs import Archive, Blog, Post, PostList
from ..outline.plan import SitePage, SitePlan
from .feed import xml_text
from .frame import frame_of


@dataclass(frozen=True, slots=True)
class PostView:
    """A post in a list: what it begins with, and whether there is more of it."""

    post: Post
    excerpt: Markup
    summary: str


@dataclass(frozen=True, slots=True)
class BlogView:
    """Posts of a blog, its archives, and the pages of newer and older posts."""

    posts: tuple[PostView, ...]
    archives: tuple[Archive, ...]
    feed: str
    newer: str = ""
    older: str = ""


def blog_view(plan: SitePlan, blog: Blog) -> BlogView:
    """Return what the first page of a blog lists."""
    return _list_view(plan, blog, blog.lists[0])


def _list_view(plan: SitePlan, blog: Blog, shown: PostList) -> BlogView:
    feed = blog.feed if plan.settings.base_url else ""
    views = tuple(_views(plan, shown.posts, shown.page))
    return BlogView(views, blog.archives, feed, *blog.around(shown.page))


def blog_pages(plan: SitePlan) -> Iterator[SitePage]:
    """Yield the archives of every blog, and its first page unless that is a document."""
    for blog in plan.blogs.all:
        if blog.page not in plan.by_page:
            yield _page(plan, blog.page, blog.title, blog_view(plan, blog), ())
        for number, each in enumerate(blog.lists[1:], start=2):
            above = ((blog.title, blog.page),)
            yield _page(plan, each.page, f"{blog.title} · {number}", _list_view(plan, blog, each), above)
        for archive in blog.archives:
            title = f"{blog.title} {archive.year}"
            view = BlogView(tuple(_views(plan, archive.posts, archive.page)), blog.archives, "")
            yield _page(plan, archive.page, title, view, ((blog.title, blog.page),))


def _page(
    plan: SitePlan, path: str, title: str, view: BlogView, above: Sequence[tuple[str, str]]
) -> SitePage:
    frame = frame_of(plan, path, title, plan.settings.description)
    context = {"frame": frame, "blog": view, "above": ((plan.title, urls.HOME), *above)}
    return SitePage(path, plan.theme.render("blog.html", context))


def _views(plan: SitePlan, posts: Sequence[Post], page: str) -> Iterator[PostView]:
    for post in posts:
        html = plan.renderer.excerpt(post.entry, page)
        summary = "" if html else post.entry.description or plan.renderer.summary(post.entry)
        yield PostView(post, Markup(html), summary)  # noqa: S704  # sanitised


def blog_feeds(plan: SitePlan, summaries: Mapping[str, str]) -> Iterator[SitePage]:
    """Yield an Atom feed (RFC 4287) of each blog, if the site's address is known."""
    base = plan.settings.base_url.rstrip("/")
    for blog in plan.blogs.all if base and plan.settings.feed else ():
        address = f"{base}/{plan.library.address(blog.page)}"
        lines = [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="{xml_text(plan.settings.language)}">',
            f"<title>{xml_text(blog.title)} · {xml_text(plan.title)}</title>",
            f"<id>{xml_text(address)}</id>",
            f'<link href="{xml_text(address)}"/>',
            f'<link rel="self" href="{xml_text(base)}/{xml_text(urls.encoded(blog.feed))}"/>',
            f"<updated>{_moment(max(map(_changed, blog.posts)))}</updated>",
            f"<author><name>{xml_text(plan.title)}</name></author>",
        ]
        for post in blog.posts[: plan.settings.feed]:
            lines += _entry(
                f"{base}/{plan.library.address(post.entry.page)}", post, summaries.get(post.entry.page, "")
            )
        yield SitePage(blog.feed, ("\n".join([*lines, "</feed>"]) + "\n").encode())


def _entry(address: str, post: Post, summary: str) -> Iterator[str]:
    entry = post.entry
    yield f"<entry>\n<title>{xml_text(entry.title)}</title>\n<id>{xml_text(address)}</id>"
    yield f'<link href="{xml_text(address)}"/>'
    yield f"<published>{_moment(post.day)}</published>\n<updated>{_moment(_changed(post))}</updated>"
    yield from (f"<author><name>{xml_text(name)}</name></author>" for name in post.authors)
    yield from (f'<category term="{xml_text(tag)}"/>' for tag in entry.tags)
    if summary:
        yield f"<summary>{xml_text(summary)}</summary>"
    yield "</entry>"


def _changed(post: Post) -> str:
    return max(post.day, post.entry.modified)


def _moment(day: str) -> str:
    return f"{day}T00:00:00Z"
