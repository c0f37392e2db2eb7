"""Folders of posts: by date, with excerpts, authors, archives, neighbours and a feed."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from noctule.docsite.build import build_site
from noctule.docsite.outline.plan import plan_site
from noctule.pipeline.settings.site import Site
from tests.site_builder import snapshot_of

POSTS = {
    "blog/index.md": "# News\n\nOf owls.\n",
    "blog/posts/hunt.md": "---\ndate: {created: 2024-05-17}\nauthors: [jane, Bob]\ntags: [night]\n---\n"
    "# The hunt\n\nBefore, see [other](../2023-01-02-nest.md).\n\n<!-- more -->\n\nBehind the mark.\n",
    "blog/2023-01-02-nest.md": "# The nest\n\nFirst paragraph.\n\nSecond paragraph.\n",
    "blog/2023/03/04/egg.mdx": "# The egg\n\nAbove.\n\n{/* truncate */}\n\nBelow.\n",
    "blog/about.md": "# No date\n",
    "blog/secret.md": "---\ndate: 2025-01-01\nunlisted: true\n---\n# Secret\n",
    "guide.md": "# Guide\n",
}
SETTINGS = Site(blogs=("blog",), authors={"jane": "Jane Doe"}, base_url="https://owl.example.org")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("blog") / "site"
    build_site(snapshot_of({"docs": POSTS}), out, SETTINGS)
    return out


def page(site: Path, name: str) -> BeautifulSoup:
    return BeautifulSoup((site / name).read_text(), "html.parser")


def test_the_first_page_has_the_newest_posts_with_excerpts(site: Path) -> None:
    first = page(site, "blog/index.html")
    posts = first.select(".post")
    assert [post.select("h2")[0].text for post in posts] == ["The hunt", "The egg", "The nest"]
    assert [post.select("time")[0].text for post in posts] == ["2024-05-17", "2023-03-04", "2023-01-02"]
    assert "Jane Doe, Bob" in posts[0].text and "Of owls." in first.text
    assert "Before" in posts[0].text and "Behind" not in posts[0].text
    assert "Above." in posts[1].text and "Below" not in posts[1].text
    assert "First paragraph." in posts[2].text and "Second" not in posts[2].text
    hrefs = [str(link["href"]) for link in posts[0].select("a")]
    assert hrefs[:2] == ["posts/hunt.html", "2023-01-02-nest.html"]
    assert first.select(".site-links a")[0].text == "News" and "Secret" not in first.text


def test_each_year_has_an_archive(site: Path) -> None:
    links = page(site, "blog/index.html").select(".archives a")
    assert [link.text for link in links] == ["2024", "2023", "Feed of the blog"]
    archive = page(site, "_blogs/blog-2023.html")
    assert [each.text for each in archive.select(".post h2")] == ["The egg", "The nest"]
    assert (site / "_blogs" / str(archive.select(".post h2 a")[1]["href"])).resolve().is_file()


def test_a_post_says_who_wrote_it_when_and_what_is_around_it(site: Path) -> None:
    post = page(site, "blog/2023/03/04/egg.html")
    assert [link["href"] for link in post.select(".previous-next a")] == [
        "../../../posts/hunt.html",
        "../../../2023-01-02-nest.html",
    ]
    assert post.select(".previous-next .label")[0].text == "Newer"
    hunt = page(site, "blog/posts/hunt.html")
    assert hunt.select(".byline")[0].text == "2024-05-17 · Jane Doe, Bob"
    assert "Behind the mark." in hunt.text and hunt.select(".tags a")[0].text == "night"
    assert not page(site, "blog/about.html").select(".byline")


def test_the_feed_is_atom_with_absolute_addresses(site: Path) -> None:
    feed = ET.fromstring((site / "blog/atom.xml").read_bytes())
    names = {"a": "http://www.w3.org/2005/Atom"}
    titles = [each.text for each in feed.findall("a:entry/a:title", names)]
    assert titles == ["The hunt", "The egg", "The nest"]
    assert feed.findtext("a:entry/a:id", "", names) == "https://owl.example.org/blog/posts/hunt.html"
    assert feed.findtext("a:entry/a:published", "", names) == "2024-05-17T00:00:00Z"
    assert [each.text for each in feed.findall("a:entry/a:author/a:name", names)] == ["Jane Doe", "Bob"]
    assert page(site, "blog/posts/hunt.html").select("link[type='application/atom+xml']")


def test_pages_around_a_new_post_are_made_anew(tmp_path: Path) -> None:
    new = POSTS | {"blog/2024-01-01-moon.md": "# The moon\n\nNew.\n"}
    one, other = tmp_path / "one", tmp_path / "other"
    build_site(snapshot_of({"docs": POSTS}), one, SETTINGS)
    build_site(snapshot_of({"docs": new}), one, SETTINGS)
    build_site(snapshot_of({"docs": new}), other, SETTINGS)
    assert not (one / "feed.xml").exists()  # the only page with a date of its own is unlisted
    for name in ("blog/index.html", "blog/2023/03/04/egg.html", "blog/posts/hunt.html"):
        assert (one / name).read_bytes() == (other / name).read_bytes()


def test_a_folder_without_an_index_has_a_first_page_and_one_without_posts_is_no_blog(tmp_path: Path) -> None:
    posts = {"_posts/2020-02-03-a.md": "# A\n\nx\n", "b.md": "# B\n"}
    build_site(snapshot_of({"docs": posts}), tmp_path / "site", Site(blogs=("/_posts/",)))
    assert page(tmp_path / "site", "_posts/index.html").select("h1")[0].text == "Posts"
    assert not (tmp_path / "site/_posts/atom.xml").exists()
    several = snapshot_of({"docs": {"a.md": "# A\n"}, "news": posts})
    build_site(several, tmp_path / "several", Site(blogs=("news",)))  # in place of the collection's overview
    assert page(tmp_path / "several", "news/index.html").select(".post h2")[0].text == "A"
    post = page(tmp_path / "several", "news/_posts/2020-02-03-a.html")
    assert "News" in [crumb.text for crumb in post.select(".breadcrumbs a")]
    assert not page(tmp_path / "several", "docs/a.html").select(".next")
    assert plan_site(snapshot_of({"docs": posts}), Site(blogs=("nowhere",))).blogs.all == ()


def test_posts_that_are_pinned_come_first_and_older_ones_are_on_further_pages(tmp_path: Path) -> None:
    posts = {f"blog/2024-01-0{day}-p.md": f"# Post {day}\n\nText.\n" for day in range(1, 6)}
    posts["blog/2020-01-01-old.md"] = "---\npin: true\n---\n# Pinned\n\nText.\n"
    out = tmp_path / "site"
    build_site(snapshot_of({"docs": posts}), out, Site(blogs=("blog",), posts_per_page=2))
    shown, name, back = [], "blog/index.html", []
    while name:
        first = page(out, name)
        shown.append([each.text for each in first.select(".post h2")])
        back += [str(each["href"]) for each in first.select(".post-pages a[rel=prev]")]
        older = first.select_one(".post-pages a[rel=next]")
        name = (
            (out / name).parent.joinpath(str(older["href"])).resolve().relative_to(out.resolve()).as_posix()
            if older
            else ""
        )
    assert shown == [["Pinned", "Post 5"], ["Post 4", "Post 3"], ["Post 2", "Post 1"]]
    assert [each.rpartition("/")[2] for each in back] == ["index.html", "blog-page-2.html"]
    assert not page(out, "_blogs/blog-2024.html").select(".post-pages")
    archive = [each.text for each in page(out, "_blogs/blog-2024.html").select(".post h2")]
    assert archive == [f"Post {day}" for day in range(5, 0, -1)]


def test_posts_need_no_place_in_the_navigation(tmp_path: Path) -> None:
    (tmp_path / "mkdocs.yml").write_text("nav: [guide.md, blog/index.md]\n")
    texts = POSTS | {"lost.md": "# Lost\n"}
    settings = Site(blogs=("blog",), navigation={"docs": (str(tmp_path / "mkdocs.yml"),)})
    (remark,) = plan_site(snapshot_of({"docs": texts}), settings).contents.remarks
    assert "lost.md is not named there" in remark and "blog/" not in remark
