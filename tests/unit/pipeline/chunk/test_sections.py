"""The tree of headings: its sections, their spans and their slugs."""

from __future__ import annotations

import pytest

from noctule.pipeline.address import heading_slugs, slugify
from noctule.pipeline.chunk.sections import SectionSpan, build_tree, byte_offsets
from noctule.pipeline.identity import sha256_hex
from noctule.pipeline.model import Document, Heading, Source
from noctule.pipeline.parse import parse
from noctule.pipeline.settings.collection import Collection


def document(text: str, path: str = "a/page.md") -> Document:
    content = text.encode()
    return parse(Source("c", path, content, sha256_hex(content)), Collection(root="."))


def tree(text: str) -> list[SectionSpan]:
    return build_tree(document(text))


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("# H1\n## H2\n\ntext", 3),
        ("# H1\n# H2\n\ntext", 2),
        ("# H1\n# H2\n# H3", 1),
        ("# H1\n\n \n\n# H2\ntext", 2),
    ],
)
def test_a_heading_with_nothing_under_it_is_no_section(text: str, nodes: int) -> None:
    assert len(tree(text)) == nodes


@pytest.mark.parametrize(
    ("heading", "slug"),
    [
        ("OAuth 2.0 Setup", "oauth-20-setup"),
        ("C++ Integration", "c-integration"),
        ("日本語", "日本語"),
        ("Héllo Wörld", "héllo-wörld"),
        ("The Result<T> Type!", "the-resultt-type"),
        ("???", "heading"),
    ],
)
def test_slugs(heading: str, slug: str) -> None:
    assert slugify(heading) == slug


def test_slugs_are_unique_even_where_a_heading_looks_like_a_numbered_one() -> None:
    headings = [Heading(1, text, 0, 0) for text in ("Intro", "Intro-1", "Intro", "Intro")]
    assert heading_slugs(headings) == ["intro", "intro-1", "intro-2", "intro-3"]


def test_a_body_ends_where_the_first_child_begins_and_a_span_covers_the_children() -> None:
    text = "# Top\n\nown text\n\n## Child\n\nchild text\n\n# Next\n\nnext\n"
    document_node, top, child, following = (node.section for node in tree(text))
    raw = text.encode()
    assert top.body == "own text"
    assert raw[top.byte_start : top.byte_end].decode() == "\nown text\n\n## Child\n\nchild text\n\n"
    assert raw[top.byte_start : top.body_end].decode().strip() == "own text"
    assert (child.parent_id, child.depth) == (top.section_id, 2)
    assert (top.sibling_count, child.sibling_count, following.position) == (2, 1, 3)
    assert document_node.section_id == "c:a/page.md"
    assert child.section_id == "c:a/page.md#child"


def test_a_breadcrumb_does_not_say_the_title_twice() -> None:
    crumbs = [node.section.breadcrumb for node in tree("# Title\n\nx\n\n## Part\n\ny\n")]
    assert crumbs == ["Title", "Title", "Title › Part"]


def test_skipped_levels_hang_on_the_nearest_shallower_heading() -> None:
    sections = [node.section for node in tree("# A\n\n#### Deep\n\nx\n\n## B\n\ny\n")]
    assert [s.parent_id for s in sections[1:]] == [
        "c:a/page.md",
        sections[1].section_id,
        sections[1].section_id,
    ]


def test_byte_offsets_agree_with_encoding_every_prefix() -> None:
    text = "aé日𝄞\n"
    assert byte_offsets(text).tolist() == [len(text[:i].encode()) for i in range(len(text) + 1)]
