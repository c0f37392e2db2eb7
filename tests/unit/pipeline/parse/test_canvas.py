"""A canvas as one would read it: groups as headings, from the top down, then the words beside arrows."""

from __future__ import annotations

import json
from typing import Any

import pytest

from noctule.pipeline.errors import RejectedDocument
from noctule.pipeline.model import Document, Source
from noctule.pipeline.parse import parse
from noctule.pipeline.settings.collection import Collection
from tests.site_builder import page_of


def node(kind: str, x: int, y: int, size: int = 10, **others: str) -> dict[str, Any]:
    return {"type": kind, "x": x, "y": y, "width": size, "height": size, "id": f"{kind}{x}-{y}", **others}


NODES = [
    node("file", 30, 20, file="sub/bat.md", subpath="#Wings"),
    node("group", 0, 0, 100, label="Plan"),
    node("text", 5, 20, text="# First\n\nSome *words*\n\n```\n# code"),
    node("file", 5, 60, file="owl.png"),
    node("link", 0, 300, url="https://example.org/x"),
    node("group", 40, 40, 40, label="Inner"),
    node("text", 50, 50, text="deep"),
    node("link", 0, 310, url="javascript:alert(1)"),
]
EDGES = [
    {"fromNode": "text5-20", "toNode": "file30-20", "label": "leads\nto"},
    {"fromNode": "text5-20", "toNode": "gone"},
]


def read(canvas: object) -> Document:
    content = canvas if isinstance(canvas, str) else json.dumps(canvas)
    return parse(Source("notes", "boards/plan.canvas", content.encode(), "0" * 64), Collection(root="."))


def test_a_canvas_is_read_from_the_top_down_within_its_groups() -> None:
    document = read({"nodes": NODES, "edges": EDGES})
    assert document.title == "plan"
    assert [(heading.level, heading.text) for heading in document.headings] == [
        (1, "plan"), (2, "Plan"), (3, "First"), (3, "Inner"),
    ]  # fmt: skip
    assert [(block.kind, block.text) for block in document.blocks] == [
        ("text", "https://example.org/x"), ("text", "Some words"), ("code", "# code"), ("text", "bat"),
        ("text", "/owl.png"), ("text", "deep"), ("list", "- First → bat: leads to"),
    ]  # fmt: skip
    assert [link.target for link in document.links] == [
        "https://example.org/x",
        "/sub/bat.md#Wings",
        "/owl.png",
    ]


def test_links_to_and_from_a_canvas_lead_to_pages() -> None:
    texts = {
        "page.md": "[[plan.canvas]] and [x](boards/plan.canvas)\n\n![[plan.canvas]]\n",
        "boards/plan.canvas": json.dumps({"nodes": NODES}),
        "sub/bat.md": "# Bat\n\n## Wings\n\nTwo.\n",
    }
    page = page_of(texts, "page.html")
    assert [a["href"] for a in page.select("article p > a")[:2]] == ["boards/plan.html"] * 2
    shown = page.select_one(".transclusion")
    assert shown is not None and "deep" in shown.text
    link = page_of(texts, "boards/plan.html").select_one("article a[href='../sub/bat.html#wings']")
    assert link is not None and link.text == "bat"


def test_a_base_is_a_file_to_download() -> None:
    page = page_of(
        {"page.md": "[[books.base]] ![[books.base]]\n"}, "page.html", assets={"books.base": b"views:\n"}
    )
    assert len(page.select("article p a")) == 2 and page.select_one(".missing-link, .image-note") is None


def test_an_empty_canvas_is_a_page_with_a_title() -> None:
    assert read("").title == "plan"


@pytest.mark.parametrize(
    ("canvas", "fault"),
    [
        ("{", "not JSON"),
        ("[]", "not a canvas"),
        ({"nodes": [1]}, "not a canvas"),
        ({"nodes": [{}] * 10_001}, "more than 10,000"),
    ],
)
def test_what_is_no_canvas_is_refused_with_the_reason(canvas: object, fault: str) -> None:
    with pytest.raises(RejectedDocument, match=fault):
        read(canvas)


def test_numbers_that_are_none_and_groups_within_each_other_are_read() -> None:
    strange = [
        {"type": "group", "x": 10**400, "y": "a"},
        {"type": "text", "text": "x", "width": float("inf")},
    ]
    nested = [node("group", i, i, 2_000 - 2 * i, label=f"g{i}") for i in range(100)]
    assert read({"nodes": [*strange, *nested]}).headings[-1].level == 6


def test_cards_with_the_same_id_are_all_read() -> None:
    cards = [node("text", 0, 0, text="one") | {"id": "a"}, node("text", 0, 20, text="two") | {"id": "a"}]
    assert [block.text for block in read({"nodes": cards}).blocks] == ["one", "two"]


@pytest.mark.parametrize("code", ["> ```\n> code", "- an item\n\n  ```\n  code", "  ~~~~\ncode"])
def test_code_that_a_card_leaves_open_ends_with_the_card(code: str) -> None:
    cards = [node("text", 0, 0, text=code), node("text", 0, 20, text="# After")]
    document = read({"nodes": cards})
    assert [heading.text for heading in document.headings] == ["plan", "After"]
    assert [block.text for block in document.blocks if block.kind == "code"] == ["code"]


def test_groups_deep_within_each_other_are_read() -> None:
    nested = [node("group", i, i, 20_000 - 2 * i, label=f"g{i}") for i in range(600)]
    assert len(read({"nodes": nested}).headings) == 601
