from __future__ import annotations

import pytest

from noctule.pipeline.address import address, outside_address, slug_path, with_anchor
from noctule.pipeline.settings.collection import Address


@pytest.mark.parametrize(
    ("path", "by_path", "by_directory", "by_slug"),
    [
        ("guide/install.md", "guide/install.html", "guide/install/", "guide/install"),
        ("index.md", "index.html", "./", "./"),
        ("guide/README.md", "guide/index.html", "guide/", "guide"),
        ("guide/_index.md", "guide/index.html", "guide/", "guide"),
        ("a.b.c.md", "a.b.c.html", "a.b.c/", "a.b.c"),
        ("é x?.md", "%C3%A9%20x%3F.html", "%C3%A9%20x%3F/", "%C3%A9%20x%3F"),
    ],
)
def test_each_style_gives_its_address(path: str, by_path: str, by_directory: str, by_slug: str) -> None:
    assert address(path, None, Address()) == by_path
    assert address(path, None, Address(style="directory")) == by_directory
    assert address(path, None, Address(style="slug")) == by_slug


@pytest.mark.parametrize("base", ["https://x.org/docs", "https://x.org/docs/"])
@pytest.mark.parametrize("slug", ["Web/API", "/Web/API"])
def test_base_and_slug_meet_in_one_slash(base: str, slug: str) -> None:
    assert address("a.md", slug, Address(base_url=base, style="slug")) == "https://x.org/docs/Web/API"


@pytest.mark.parametrize("base", ["javascript:alert(1)//", "DATA:text/html,x", " vbscript:x"])
def test_a_base_that_leads_to_no_page_is_refused(base: str) -> None:
    with pytest.raises(ValueError, match="leads to no page"):
        Address(base_url=base)


def test_a_slug_cannot_climb_out_or_become_a_scheme() -> None:
    rules = Address(style="slug")
    assert address("a.md", "../../etc/./x", rules) == "etc/x"
    assert address("a.md", "javascript:alert(1)", rules) == "./javascript:alert(1)"


@pytest.mark.parametrize(
    ("path", "slug", "page"),
    [
        ("guide/a.md", "begin", "guide/begin"),
        ("guide/a/index.md", "begin", "guide/begin"),
        ("guide/a.md", "/begin", "begin"),
        ("guide/a.md", "web/begin", "web/begin"),
        ("guide/a.md", "..", ""),
        ("guide/a.md", "/", ""),
    ],
)
def test_a_slug_takes_the_place_of_the_name_or_of_the_whole_path(path: str, slug: str, page: str) -> None:
    assert slug_path(path, slug) == page


def test_a_slug_is_used_only_in_the_slug_style() -> None:
    assert address("a.md", "other", Address()) == "a.html"


def test_anchors_are_written_in_the_style_asked_for() -> None:
    assert with_anchor("x", "using-fetch", Address()) == "x#using-fetch"
    assert with_anchor("x", "using-fetch", Address(anchors="underscore")) == "x#using_fetch"
    assert with_anchor("x", "using-fetch", Address(anchors="none")) == "x"
    assert with_anchor("x", "", Address()) == "x"
    assert with_anchor("x", "größe", Address()) == "x#gr%C3%B6%C3%9Fe"


@pytest.mark.parametrize(
    ("path", "url", "target", "found"),
    [
        ("a.md", "https://e.org/book/a.html", "../std/x.html#y", "https://e.org/std/x.html#y"),
        ("b/a.md", "https://e.org/book/b/a/", "../../std/", "https://e.org/std/"),
        ("b/index.md", "https://e.org/book/b/", "../../std/q?x=1", "https://e.org/std/q?x=1"),
        ("b/a.md", "https://e.org/book/b/a.html", "../c.md", ""),
        ("a.md", "https://e.org/a.html", "../std", ""),
        ("a.md", "https://e.org/book/a.html", "../../std", ""),
        ("a.md", "a.html", "../std", ""),
    ],
)
def test_links_out_of_the_collection_lead_beside_where_it_is_published(
    path: str, url: str, target: str, found: str
) -> None:
    assert outside_address(path, url, target) == found
