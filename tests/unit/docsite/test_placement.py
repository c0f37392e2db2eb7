"""What front matter says of a page's place, from authors who mean harm: at most it costs them their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from noctule.docsite.build import build_site
from noctule.docsite.outline.plan import plan_site
from noctule.docsite.pages.redirects import redirects_of
from noctule.docsite.placement import NO_ORDER, placement_of, published_path
from noctule.pipeline.identity import canonical_json
from noctule.pipeline.navigation.yaml_files import read_category
from noctule.pipeline.settings.site import Site
from tests.site_builder import snapshot_of

_DIGITS = "9" * 400


@pytest.mark.parametrize(
    ("given", "expected"),
    [(int(_DIGITS), NO_ORDER), (-int(_DIGITS), -NO_ORDER), (1e300, 1e300), (7, 7.0), (True, NO_ORDER)],
)
def test_a_place_is_a_number_however_many_digits_it_has(given: float, expected: float) -> None:
    assert placement_of(canonical_json({"nav_order": given})).order == expected
    assert read_category(f"position: {given}", "_category_.yml").order in (expected, NO_ORDER)


def test_a_place_that_is_no_number_comes_last() -> None:
    assert placement_of('{"nav_order": NaN}').order == NO_ORDER
    assert read_category("position: .nan", "_category_.yml").order == NO_ORDER


def test_a_post_has_its_day_in_its_address_and_stands_where_its_file_does() -> None:
    texts = {
        "docs": {"2026-11-25-no-post.md": "# No post\n"},
        "blog": {
            "2026-11-25-owl.md": "# Owl\n",
            "2025-01-02-folder/index.md": "# Folder\n",
            "2024-01-02-named.md": "---\nslug: named\n---\n# Named\n",
            "about.md": "# About\n",
        },
    }
    plan = plan_site(snapshot_of(texts), Site(slugs=True, blogs=("blog",)))
    assert {entry.path: entry.page for entry in plan.library.entries} == {
        "2026-11-25-no-post.md": "docs/2026-11-25-no-post.html",
        "2026-11-25-owl.md": "blog/2026/11/25/owl.html",
        "2025-01-02-folder/index.md": "blog/2025/01/02/folder.html",
        "2024-01-02-named.md": "blog/named.html",
        "about.md": "blog/about.html",
    }
    assert [len(plan.tree.trail(page)) for page in ("blog/2026/11/25/owl.html", "blog/named.html")] == [2, 2]
    plain = plan_site(snapshot_of(texts), Site(blogs=("blog",)))
    assert "blog/2026-11-25-owl.html" in plain.by_page


def test_the_address_of_a_post_follows_the_pattern_of_its_blog_and_its_place_in_the_tree_its_file() -> None:
    texts = {
        "docs": {
            "index.md": "# Home\n\n[it](blog/posts/owl.md)\n",
            "dated.md": "---\ndate: 2024-01-02\n---\n# No post\n",
            "blog/index.md": "# News\n",
            "blog/about.md": "# No day\n",
            "blog/posts/owl.md": "---\ndate: 2026-11-25\n---\n# We're back: v1.10 & `more`\n",
            "blog/posts/named.md": "---\ndate: {created: 2025-01-02}\nslug: own\n---\n# Named\n",
            "blog/posts/far.md": "---\ndate: 2025-01-03\nslug: ../../up\n---\n# Far\n",
        }
    }
    settings = Site(blogs=("blog",), post_url="{year}/{month}/{day}/{slug}", clean_urls=True)
    plan = plan_site(snapshot_of(texts), settings)
    pages = {entry.path: entry.page for entry in plan.library.entries}
    assert pages["blog/posts/owl.md"] == "blog/2026/11/25/were-back-v110--more/index.html"
    assert pages["blog/posts/named.md"] == "blog/2025/01/02/own/index.html"
    assert pages["blog/posts/far.md"] == "blog/2025/01/03/up/index.html"
    assert (pages["dated.md"], pages["blog/about.md"]) == ("dated/index.html", "blog/about/index.html")
    assert len(plan.tree.trail(pages["blog/posts/owl.md"])) == 3
    assert "blog/posts/owl.html" in {each.source for each in redirects_of(plan)[0]}


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("{slug}", "blog/owl.html"),
        ("{categories}/{file}", "blog/birds-of-prey/a.html"),
        ("", "blog/a.html"),
    ],
)
def test_a_pattern_of_posts_has_words_of_its_own(pattern: str, expected: str) -> None:
    text = "---\ndate: 2026-11-25\ncategories: [Birds of prey, More]\n---\n# Owl\n"
    plan = plan_site(snapshot_of({"docs": {"blog/a.md": text}}), Site(blogs=("blog",), post_url=pattern))
    assert expected in plan.by_page


@pytest.mark.parametrize(("blog", "pattern"), [(".", "{slug}"), ("blog", "long/" * 200 + "{slug}")])
def test_a_post_whose_address_would_be_empty_or_too_long_stays_where_its_file_is(
    blog: str, pattern: str
) -> None:
    path = "a.md" if blog == "." else "blog/a.md"
    text = "---\ndate: 2026-11-25\n---\n# ???\n"
    plan = plan_site(snapshot_of({"docs": {path: text}}), Site(blogs=(blog,), post_url=pattern))
    assert path.replace(".md", ".html") in plan.by_page


def test_addresses_of_posts_move_no_other_page_and_no_post_in_the_tree() -> None:
    texts = {
        "docs": {
            "notes/owl.md": "---\npermalink: /birds/owl/\n---\n# Owl\n",
            "blog/01-posts/a.md": "---\ndate: 2026-11-25\n---\n# A\n",
        }
    }
    settings = Site(blogs=("blog",), post_url="{year}/{slug}", slugs=True, number_prefixes=False)
    entries = {entry.path: entry for entry in plan_site(snapshot_of(texts), settings).library.entries}
    assert entries["notes/owl.md"].place == "birds/owl.html"
    assert entries["blog/01-posts/a.md"].page == "blog/2026/a.html"
    assert entries["blog/01-posts/a.md"].place == "blog/posts/a.html"


def test_a_pattern_of_posts_with_another_word_is_refused() -> None:
    with pytest.raises(ValueError, match=r"\{year\}, \{month\}"):
        Site(post_url="{date}/{slug}")


@pytest.mark.parametrize(
    ("slug", "page"),
    [
        ("a\0b", "ab.html"),
        ("\0", "index.html"),
        ("a\x1b[2J\u202eb", "a[2Jb.html"),
        ("../../x", "x.html"),
        ("/" + "a/" * 2_000, ""),
        ("é" * 401, ""),
    ],
)
def test_a_slug_is_a_path_that_a_disk_can_have(slug: str, page: str) -> None:
    for key in ("slug", "permalink"):
        assert published_path("a.md", canonical_json({key: slug}), Site(slugs=True)) == page


@pytest.mark.parametrize(
    ("path", "front_matter", "page"),
    [
        ("01-app/02-intro.md", {}, "app/intro.html"),
        ("intro.md", {}, ""),
        ("01-app/02_a.md", {"slug": "first"}, "app/first.html"),
        ("01-app/02_a.md", {"url": "there/x.html", "slug": ""}, "there/x.html"),
        ("01-app/02_a.md", {"permalink": "about", "url": "https://example.org"}, "about.html"),
        ("01-app/02_a.md", {"permalink": "/:year/:title.html"}, "app/a.html"),
        ("01-app/02_a.md", {"id": "first"}, "app/first.html"),
        ("01-app/2021-11-05-news.md", {}, "app/2021-11-05-news.html"),
        ("7.0-changes.md", {}, ""),
    ],
)
def test_numbers_that_order_files_are_left_out_of_addresses(
    path: str, front_matter: dict[str, str], page: str
) -> None:
    settings = Site(slugs=True, number_prefixes=False)
    assert published_path(path, canonical_json(front_matter), settings) == page


@pytest.mark.parametrize(
    ("path", "page"),
    [("01-app/README.md", "app/index.html"), ("01-a.pdf", "a.html"), ("02-b.canvas", "b.html")],
)
def test_pages_without_numbers_are_called_as_those_with_them(path: str, page: str) -> None:
    assert published_path(path, "{}", Site(number_prefixes=False)) == page


def test_a_hostile_page_costs_no_other(tmp_path: Path) -> None:
    texts = {
        "deep.md": f'---\nslug: "/{"a/" * 3_000}"\nredirect_from: "/{"b/" * 3_000}"\n---\n\n# A\n',
        "nul.md": '---\npermalink: "/x/\\0"\nid: "\\0"\n---\n\n# B\n',
        "order.md": f"---\nnav_order: {_DIGITS}\nweight: -{_DIGITS}\n---\n\n# C\n",
        "nan.md": "---\nnav_order: .nan\n---\n\n# D\n",
        "well.md": "# Well\n",
    }
    settings = Site(slugs=True, search=False)
    snapshot = snapshot_of({"notes": texts})
    build_site(snapshot, tmp_path / "site", settings)
    pages = {path.read_text().partition("<h1")[2][:40] for path in (tmp_path / "site").rglob("*.html")}
    assert all(any(f">{title}" in page for page in pages) for title in ("A", "B", "C", "D", "Well"))
    assert any("cannot be an address" in remark for remark in redirects_of(plan_site(snapshot, settings))[1])
