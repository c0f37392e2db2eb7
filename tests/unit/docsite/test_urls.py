"""Where pages lie, and how they write each other's addresses."""

from __future__ import annotations

from urllib.parse import unquote, urljoin

import pytest

from noctule.docsite.urls import (
    Placed,
    folded,
    folder_href,
    folder_pages,
    page_path,
    page_paths,
    relative_href,
    slug_pages,
)


@pytest.mark.parametrize(
    ("path", "page"),
    [
        ("guide/install.md", "guide/install.html"),
        ("README.md", "index.html"),
        ("guide/_index.md", "guide/index.html"),
        ("guide/Index.HTML", "guide/index.html"),
        ("a.b/c.d.md", "a.b/c.d.html"),
        (".md", ".md.html"),
    ],
)
def test_a_page_keeps_its_documents_path(path: str, page: str) -> None:
    assert page_path(path) == page


def _pages(*paths: str) -> dict[str, str]:
    return dict(page_paths([Placed(path, path) for path in paths]))


def test_index_wins_over_readme_which_keeps_its_own_name() -> None:
    assert _pages("README.md", "index.md") == {"index.md": "index.html", "README.md": "README.html"}


def test_pages_that_differ_only_in_case_or_ending_get_different_files() -> None:
    pages = _pages("Guide.md", "guide.md", "guide.txt", "GUIDE.html", "é.md", "e\u0301.md")
    assert len({folded(page) for page in pages.values()}) == len(pages)


def test_a_suffix_depends_on_the_path_alone() -> None:
    few = _pages("Guide.md", "guide.md")
    many = _pages("Guide.md", "guide.md", "guide.txt", "aaa.md")
    assert few["guide.md"] == many["guide.md"] != "guide.html"


def test_documents_do_not_overwrite_generated_pages() -> None:
    pages = _pages("404.md", "_tags/x.md", "_Pages/index.md", "_assets.md")
    assert pages["404.md"] == "404.html", "whose text is that page's"
    assert not any(page.casefold().startswith(("_tags/", "_pages/")) for page in pages.values())
    assert pages["_assets.md"] == "_assets.html"


def test_a_page_and_a_folder_of_the_same_name_do_not_meet() -> None:
    pages = _pages("a.md", "a.html/b.md")
    assert pages["a.md"] != "a.html"
    assert pages["a.html/b.md"] == "a.html/b.html"


def test_names_too_long_for_a_file_system_are_cut_and_stay_apart() -> None:
    pages = _pages("x" * 254 + ".md", "x" * 253 + "y.md", "ф" * 125 + ".md")
    assert all(len(page.encode()) <= 255 for page in pages.values())
    assert len(set(pages.values())) == 3


@pytest.mark.parametrize(
    ("source", "target", "fragment"),
    [
        ("index.html", "guide/install.html", ""),
        ("guide/install.html", "index.html", "top"),
        ("guide/deep/er.html", "guide/deep/est.html", ""),
        ("a/b.html", "b/a.html", "über uns"),
        ("a/b.html", "a/b.html", ""),
        ("a/b.html", "a/b.html", "here"),
        ("a.html", "what? 100% #1.html", ""),
        ("a.html", "mailto:x.html", ""),
        ("a.html", "back\\slash.html", ""),
    ],
)
@pytest.mark.parametrize("root", ["http://host/", "http://host/some/sub/path/", "file:///home/me/site/"])
def test_a_relative_address_leads_to_the_page_from_wherever_the_site_lies(
    root: str, source: str, target: str, fragment: str
) -> None:
    reached = urljoin(root + source, relative_href(source, target, fragment))
    address, _, anchor = reached.partition("#")
    assert unquote(address) == root + target
    assert unquote(anchor) == fragment


def test_tags_that_make_the_same_file_name_get_different_pages() -> None:
    pages = slug_pages(["C++", "c", "C#", "C", "日本語", "???", "index"], "_tags")
    assert len({folded(page) for page in pages.values()}) == 7
    assert "_tags/index.html" not in pages.values()
    assert all(page.startswith("_tags/") and page.count("/") == 1 for page in pages.values())


def test_pages_may_be_folders_unless_another_page_has_that_name() -> None:
    given = {"a": "guide/a.html", "b": "a.html", "c": "a/index.html", "d": "index.html", "e": "404.html",
             "f": "feed.xml.html"}  # fmt: skip
    assert folder_pages(given) == given | {"a": "guide/a/index.html"}
    assert folder_href("guide/a/index.html", "b/index.html", "x") == "../../b/#x"
    assert folder_href("a/index.html", "index.html") == "../"
    assert folder_href("index.html", "index.html") == "./"
    assert folder_href("a/index.html", "a/index.html", "x") == "#x"
    assert folder_href("index.html", "_tags/index.html") == "_tags/index.html"
    assert folder_href("index.html", "my-index.html") == "my-index.html"
