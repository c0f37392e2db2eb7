"""``[text][heading]`` leads to a heading of any page, as with mkdocs-autorefs."""

from __future__ import annotations

import pytest

from noctule.pipeline.identity import doc_id
from noctule.pipeline.includes.python_blocks import with_references
from noctule.pipeline.links.linking_documents import LinkingDocument
from noctule.pipeline.links.resolve import resolve_links
from noctule.pipeline.model import Link
from noctule.pipeline.settings.collection import Collection

PAGES = {"a.md": ("nest", "own"), "b.md": ("nest", "py:owl.Owl", "a-long-title"), "c.md": ("cli.run",)}


def resolved(target: str) -> tuple[str | None, str, str] | None:
    documents = [
        LinkingDocument(
            doc_id("c", path), "c", path, "", path, (), anchors,
            (Link("link", target, "", 0),) if path == "a.md" else (),
        )
        for path, anchors in PAGES.items()
    ]  # fmt: skip
    links = resolve_links(documents, {"c": Collection(root=".", heading_references=True)})
    return next(((link.target_id, link.fragment, link.status) for link in links), None)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("[nests][]", "[nests](<#heading:nests>)"),
        ("see [the nest][nest].", "see [the nest](<#heading:nest>)."),
        ("[A long *title*][]", "[A long *title*](<#heading:a-long-title>)"),
        ("[`owl.Owl`][]", "[`owl.Owl`](#py:owl.Owl)"),
        ("[`str`][]", "[`str`](<#heading:str>)"),
        ("[over two\nlines][nest]", "[over two\nlines](<#heading:nest>)"),
        ("[a][Nest]\n\n[nest]: b.md", "[a][Nest]\n\n[nest]: b.md"),
        ("[nest][]\n\n[Nest]: b.md", "[nest][]\n\n[Nest]: b.md"),
        ("`a [b][c]`, x[i][j], ![b][c], [^1][c], \\[b][c]", None),
        ("```\n[b][c]\n```\n\n    [b][c]\n", None),
        ("[a b\n\nc][d]", None),
    ],
)
def test_references_are_links_unless_the_page_defines_them(written: str, read: str | None) -> None:
    found = with_references(written, ["src/owl"], are_headings_named=True)
    assert found == (written if read is None else read)


def test_other_folders_keep_brackets_as_text() -> None:
    assert with_references("[nests][] and [a][b]", []) == "[nests][] and [a][b]"


@pytest.mark.parametrize(
    ("name", "leads"),
    [
        ("nest", ("c:a.md", "nest", "resolved")),
        ("a-long-title", ("c:b.md", "a-long-title", "resolved")),
        ("A-Long-Title", ("c:b.md", "a-long-title", "resolved")),
        ("owl.Owl", ("c:b.md", "py:owl.Owl", "resolved")),
        ("cli.run", ("c:c.md", "cli.run", "resolved")),
        ("no-such", (None, "no-such", "missing-heading")),
        ("str", None),
        ("os.PathLike", None),
    ],
)
def test_a_heading_of_the_page_itself_comes_first(
    name: str, leads: tuple[str | None, str, str] | None
) -> None:
    assert resolved(f"#heading:{name}") == leads
