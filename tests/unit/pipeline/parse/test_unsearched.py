"""Elements with Material's or Pagefind's attribute are on the page, and no search finds what they hold."""

from __future__ import annotations

import pytest

from noctule.pipeline.identity import sha256_hex
from noctule.pipeline.model import Document, Source
from noctule.pipeline.parse import parse
from noctule.pipeline.settings.collection import Collection

NAMES = pytest.mark.parametrize(
    "name", ["data-search-exclude", 'data-pagefind-ignore="all"', "DATA-Pagefind-Ignore"]
)


def read(text: str, path: str) -> Document:
    content = text.encode()
    return parse(Source("c", path, content, sha256_hex(content)), Collection(root="unused"))


def found(text: str, path: str) -> list[str]:
    return [f"{block.text}{block.code}" for block in read(text, path).blocks]


@NAMES
def test_in_html_blocks_and_parts_of_blocks_are_left_out(name: str) -> None:
    page = (
        f"<p>One <span {name}>two <code>three</code> <a href='a.html'>four</a></span>five.</p>"
        f"<div {name}><h2>Six</h2><p>Seven.</p><pre>eight</pre><ul><li>Nine.</ul></div><p>Ten.</p>"
        f"<p>Eleven.<my-part {name}><p>Twelve.</p></my-part>"
        f"<table><tr><td>13</td><td {name}>14</td></tr><tr {name}><td>15</td></tr></table><p {name}>16</p>"
    )
    assert found(page, "a.html") == ["One five.", "Ten.", "Eleven.", "13"]
    document = read(page, "a.html")
    assert [each.text for each in document.headings] == ["Six"]
    assert [each.target for each in document.links] == ["a.html"]
    assert all(
        word in document.html for word in ("two", "three", "four", "Seven", "eight", "Nine", "14", "15")
    )


def test_in_html_a_heading_of_material_leaves_out_its_section() -> None:
    page = (
        "<h1>T</h1><p>One.</p><h2 data-search-exclude>A</h2><p>Two.</p><h3>B</h3><p>Three.</p>"
        "<h2>C</h2><p>Four.</p><h2 data-pagefind-ignore>D</h2><p>Five.</p>"
    )
    assert found(page, "a.html") == ["One.", "Four.", "Five."]


@NAMES
def test_in_markdown_raw_html_leaves_out_what_it_holds(name: str) -> None:
    text = (
        f"One <b {name}>two <b>three</b> `four` [five](five.md)</b> six <img {name} src=x.png alt=seven>.\n\n"
        f"<div {name}>\n\nEight.\n\n```\nnine\n```\n\n<div>Ten.</div>\n\n| 11 |\n| -- |\n| 12 |\n\n</div>\n\n"
        f"<p>Thirteen.</p><div {name}>14<br/>15</div><p>Sixteen.</p>\n\n- Seventeen.\n"
    )
    assert found(text, "a.md") == ["One  six .", "Thirteen.\nSixteen.", "- Seventeen."]
    assert [each.target for each in read(text, "a.md").links] == ["five.md", "x.png"]


@pytest.mark.parametrize(
    "text",
    [
        "<p title='data-search-exclude'>Owl.</p>\n",
        "<p data-search-excluded>Owl.</p>\n",
        "<!-- <div data-search-exclude> -->\n\nOwl.\n",
        "`<div data-search-exclude>` Owl.\n",
        "<!-- <div data-search-exclude> --> Owl.\n",
    ],
)
def test_only_an_attribute_of_a_tag_leaves_out(text: str) -> None:
    assert any("Owl." in each for each in found(text, "a.md"))


def test_what_is_not_closed_is_left_out_to_the_end() -> None:
    assert found("One.\n\n<div data-search-exclude>\n\nTwo.\n", "a.md") == ["One."]
    assert found("One <b data-search-exclude>two\n\nThree.\n", "a.md") == ["One", "Three."]
