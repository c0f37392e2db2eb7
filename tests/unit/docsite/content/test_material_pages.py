"""What pages of Material for MkDocs hold besides markdown: icons, frames, markdown in HTML, lists of tags."""

from __future__ import annotations

import pytest
from bs4 import BeautifulSoup

from noctule.pipeline.identity import sha256_hex
from noctule.pipeline.model import Source
from noctule.pipeline.parse import parse
from noctule.pipeline.settings.collection import Collection
from tests.site_builder import content_of, page_of


def _soup(text: str, **others: str) -> BeautifulSoup:
    return BeautifulSoup(content_of(text, **others), "html.parser")


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("| a | b |\n|---|---|\n| x | :material-check: |", "✓"),
        ("| a | b |\n|---|---|\n| x | :octicons-x-16:{ .red } |", "✗"),
        ("| a | b |\n|---|---|\n| x | :fontawesome-brands-git-alt: |", "git alt"),
        ("| a | b |\n|---|---|\n| x | :material-check: Yes |", "Yes"),
    ],
)
def test_icons_are_named_where_nothing_else_is_said(written: str, shown: str) -> None:
    assert _soup(f"# Page\n\n{written}\n").select("td")[1].text == shown


def test_an_icon_beside_text_is_dropped_and_one_that_is_a_link_is_named() -> None:
    page = _soup(
        "# :material-owl: Owls\n\n## :octicons-gear-24:\n\nText [:material-file-download:](a.md), "
        "[:simple-python: Python](a.md), `:material-check:` and :material-clock: end.\n",
        a="# A\n",
    )
    assert page.h1 is not None and page.h1.text.startswith("Owls")
    assert page.h2 is not None and page.h2.text.startswith("gear")
    assert page.p is not None
    assert page.p.text == "Text file download, Python, :material-check: and end."


@pytest.mark.parametrize(
    ("written", "text", "href"),
    [
        (
            '<iframe width="560" src="https://www.youtube.com/embed/a-1?si=x" title="Owls fly"></iframe>',
            "Owls fly",
            "https://www.youtube.com/watch?v=a-1",
        ),
        (
            '<iframe src="//player.vimeo.com/video/7" allowfullscreen/>',
            "Video: vimeo.com/7",
            "https://vimeo.com/7",
        ),
        ("<IFRAME SRC=https://example.org/demo></IFRAME>", "example.org/demo", "https://example.org/demo"),
        (
            '<video controls>\n<source src="https://example.org/b.webm" type="video/webm" />\n</video>',
            "Video: example.org/b.webm",
            "https://example.org/b.webm",
        ),
        ("![](https://youtu.be/xyz)", "Video: youtu.be/xyz", "https://youtu.be/xyz"),
        ("![A talk](https://www.youtube.com/watch?v=q)", "A talk", "https://www.youtube.com/watch?v=q"),
    ],
)
def test_frames_and_videos_from_elsewhere_are_links(written: str, text: str, href: str) -> None:
    for page in (
        _soup(f"# Page\n\nBefore.\n\n{written}\n\nAfter.\n"),
        _soup(f"# Page\n\nBefore {written} after.\n"),
    ):
        (link,) = (each for each in page.select("a") if "anchor" not in str(each.get("class", "")))
        assert (link.text, link["href"]) == (text, href)
        assert "fter." in page.text and not page.select("iframe, video")


@pytest.mark.parametrize("path", ["page.html", "page.rst", "page.md"])
def test_linked_frames_are_in_the_index_of_every_format(path: str) -> None:
    frame = '<iframe src="https://example.org/demo" title="Try it"></iframe>'
    hidden = '<iframe src="https://example.org/count" height="0" width="0"></iframe>'
    texts = {
        "page.html": f"<main><p>A</p>{frame}{hidden}</main>",
        "page.rst": f"A\n\n.. raw:: html\n\n   {frame}{hidden}\n",
        "page.md": f"A\n\n{frame}{hidden}\n",
    }
    content = texts[path].encode()
    document = parse(Source("c", path, content, sha256_hex(content)), Collection(root="unused"))
    assert [(link.target, link.text) for link in document.links] == [("https://example.org/demo", "Try it")]
    assert any("Try it" in block.text for block in document.blocks)


def test_frames_in_code_and_local_videos_stay_what_they_are() -> None:
    page = _soup(
        '`<iframe src="https://e.org">` and\n\n```html\n<iframe src="https://e.org"></iframe>\n```\n'
    )
    assert [each.text.strip() for each in page.select("code")] == [
        '<iframe src="https://e.org">',
        '<iframe src="https://e.org"></iframe>',
    ]
    local = page_of({"page.md": '<video src="a.mp4"><source src="a.mp4"></video>'}, "page.html", assets={})
    assert local.select_one(".image-note") is not None


@pytest.mark.parametrize("value", ["", '="1"', '="block"', "='span'", "=1"])
def test_markdown_inside_html_is_read(value: str) -> None:
    page = _soup(
        f"<details markdown{value}>\n<summary>Title</summary>\nText **bold**.\n\n- item\n</details>\n\n"
        f"<p markdown{value} id=one>One *line*.</p>\n\n"
        f"<table><tr><td markdown{value}>**cell**</td><td class='x' markdown{value}>\n\n- list\n\n"
        "</td></tr></table>\n\n"
        f"<figure markdown{value}>\n![x](y.png)\n"
        f"<figcaption markdown{value}>Of *owls*</figcaption>\n</figure>\n"
    )
    assert (
        page.select_one("details > summary") is not None and page.select_one("details p > strong") is not None
    )
    assert page.select_one("details li") is not None
    assert page.select_one("p > em") is not None and page.select_one("td > strong") is not None
    assert page.select_one("td > ul > li") is not None and page.select_one("figcaption > em") is not None
    assert "*" not in page.text and "markdown" not in str(page)


@pytest.mark.parametrize(
    "marker", ["[TAGS]", "<!-- material/tags -->", "<!-- material/tags { toc: false } -->"]
)
def test_a_page_of_tags_lists_them_with_their_pages(marker: str) -> None:
    texts = {
        "page.md": f"# Tags\n\nAll:\n\n{marker}\n\nAfter.\n",
        "a.md": "---\ntags: [night, day]\n---\n# Alpha\n",
        "b.md": "---\ntags: [night]\n---\n# Beta\n",
    }
    listed = page_of(texts, "page.html").select_one("article .tag-list")
    assert listed is not None
    assert [each.text for each in listed.select("dt")] == ["#day", "#night"]
    assert [[link["href"] for link in each.select("a")] for each in listed.select("dd")] == [
        ["a.html"],
        ["a.html", "b.html"],
    ]
    assert "[TAGS]" not in str(page_of(texts, "page.html").select("article"))


def test_the_language_of_code_in_a_line_is_not_shown() -> None:
    page = _soup("`#!python range()`, `:::js let x`, `#!/bin/sh -e` and `::: tip`.\n")
    assert [each.text for each in page.select("code")] == ["range()", "let x", "#!/bin/sh -e", "::: tip"]
    assert _soup("`:::note Title`\n").text.strip() == ":::note Title"


def test_icons_and_code_in_notes_within_a_line_are_read_too() -> None:
    (note,) = _soup("Text^[see :material-check: and `#!py x`]\n").select(".footnote-item p")
    assert note.text.startswith("see and x")


@pytest.mark.parametrize(
    ("written", "display"),
    [("a \\(x+y\\) b", "inline"), ("a \\(f\\) b", "inline"), ("\\[\n\\sum_i x_i\n\\]", "block")],
)
def test_formulas_in_brackets_are_drawn(written: str, display: str) -> None:
    (math,) = _soup(f"# Page\n\n{written}\n").select(".formula > math")
    assert math["display"] == display


@pytest.mark.parametrize(
    "written", [
        "\\(an aside\\)", "\\[not a link\\]", "`\\(x+y\\)`", "\\(open x+y", "run \\[-h|--help\\]",
        "\\[a/b\\](c)", "- \\[x\\] done",
    ],
)  # fmt: skip
def test_escaped_brackets_are_text(written: str) -> None:
    assert _soup(f"# Page\n\n{written}\n").select(".formula") == []


def test_marks_around_blocks_and_boxes_that_only_group_leave_nothing_behind() -> None:
    page = _soup(
        "# Page\n\n{==\n\nA *block*.\n\n==}\n\n"
        "/// caption\nOf a figure\n///\n\n/// html | div.x\nInside\n///\n"
    )
    assert [each.text for each in page.select("p")] == ["A block.", "Of a figure", "Inside"]
    assert "{==" not in page.text and page.select(".callout") == []


def test_an_empty_link_with_a_name_is_a_place(
    text: str = "# Page\n\n[](){ #here }\n\n[there](#here)\n",
) -> None:
    page = _soup(text)
    place = page.find(id="here")
    assert place is not None and place.text == "" and not place.has_attr("href")
    assert [link["href"] for link in page.select("p a[href]")] == ["#here"]
    assert page.select(".missing-link") == []
