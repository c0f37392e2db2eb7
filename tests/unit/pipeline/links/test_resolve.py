"""Links are found the way the tools that people write them with find them."""

from __future__ import annotations

import pytest

from noctule.pipeline.identity import doc_id
from noctule.pipeline.links.fragments import find_anchor
from noctule.pipeline.links.linking_documents import LinkingDocument
from noctule.pipeline.links.resolve import resolve_links
from noctule.pipeline.model import Link, LinkKind, ResolvedLink
from noctule.pipeline.settings.collection import Address, Collection

VAULT = {
    "index.md": (),
    "notes/Alpha Note.md": ("first-part",),
    "notes/beta.md": (),
    "deep/down/beta.md": (),
    "guide/README.md": ("usage",),
    "dendron.topic.md": (),
    "dendron.topic.markdown.md": (),
    "deep/export.html.md": (),
}


def resolve(
    source: str, target: str, kind: LinkKind = "link", text: str = "", base_url: str = ""
) -> ResolvedLink:
    documents = [
        LinkingDocument(
            doc_id("c", path), "c", path, f"{base_url}/{path.removesuffix('.md')}" if base_url else path,
            f"Title of {path}", ("The Alias",) if "beta" in path else (), anchors,
            (Link(kind, target, text, 0),) if path == source else (),
        )
        for path, anchors in VAULT.items()
    ]  # fmt: skip
    (link,) = resolve_links(documents, {"c": Collection(root=".", address=Address(base_url=base_url))})
    return link


@pytest.mark.parametrize(
    ("source", "target", "found"),
    [
        ("notes/beta.md", "Alpha%20Note.md", "notes/Alpha Note.md"),
        ("notes/beta.md", "../index.md", "index.md"),
        ("notes/beta.md", "../guide/", "guide/README.md"),
        ("notes/beta.md", "../guide/index.html", "guide/README.md"),
        ("index.md", "notes/beta", "notes/beta.md"),
        ("index.md", "/notes/beta.md", "notes/beta.md"),
        ("index.md", "", "index.md"),
        ("notes/beta.md", "?q=owls", "notes/beta.md"),
        ("notes/beta.md", "../Alpha%20Note/", "notes/Alpha Note.md"),
    ],
)
def test_a_markdown_link_is_a_path(source: str, target: str, found: str) -> None:
    link = resolve(source, target)
    assert (link.target_id, link.status) == (f"c:{found}", "resolved")


@pytest.mark.parametrize(
    ("target", "found"),
    [
        ("dendron.topic", "dendron.topic.md"),
        ("dendron.topic.markdown", "dendron.topic.markdown.md"),
        ("dendron.topic.markdown.md", "dendron.topic.markdown.md"),
        ("export.html", "deep/export.html.md"),
        ("Alpha Note", "notes/Alpha Note.md"),
        ("alpha note", "notes/Alpha Note.md"),
        ("notes/beta", "notes/beta.md"),
        ("beta", "notes/beta.md"),
        ("deep/down/beta", "deep/down/beta.md"),
        ("The Alias", "notes/beta.md"),
        ("Title of index.md", "index.md"),
        ("dendron.topic", "dendron.topic.md"),
    ],
)
def test_a_wikilink_is_a_path_a_name_an_alias_or_a_title(target: str, found: str) -> None:
    assert resolve("index.md", target, "wikilink").target_id == f"c:{found}"


def test_dendron_writes_the_label_first() -> None:
    assert resolve("index.md", "See this", "wikilink", text="dendron.topic").target_id == "c:dendron.topic.md"


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("https://example.org/x", "external"),
        ("//example.org/x", "external"),
        ("mailto:a@example.org", "external"),
        ("missing.md", "missing-document"),
        ("picture.png", "missing-asset"),
        ("notes/Alpha Note.md#first-part", "resolved"),
        ("notes/Alpha Note.md#First part", "resolved"),
        ("notes/Alpha Note.md#nowhere", "missing-heading"),
    ],
)
def test_what_cannot_be_followed_has_a_reason(target: str, status: str) -> None:
    assert resolve("index.md", target).status == status


def test_a_published_address_leads_to_its_document() -> None:
    base = "https://docs.example.org/en"
    assert resolve("index.md", "/en/notes/beta#x", base_url=base).target_id == "c:notes/beta.md"
    assert resolve("index.md", f"{base}/notes/beta/", base_url=base).target_id == "c:notes/beta.md"
    assert resolve("index.md", "/elsewhere", base_url=base).status == "missing-document"


def test_a_dendron_range_ends_in_its_heading() -> None:
    assert resolve("index.md", "Alpha Note#first-part,1:#*", "transclusion").status == "resolved"
    assert resolve("index.md", "Alpha Note#last-part,1:#*", "transclusion").status == "missing-heading"


@pytest.mark.parametrize("fragment", ["outputdir", "output-dir", "output_dir", "Output.Dir"])
def test_a_heading_is_found_by_the_name_that_any_tool_gives_it(fragment: str) -> None:
    assert find_anchor(fragment, ("intro", "outputdir")) == "outputdir"
    assert find_anchor(fragment, ("output-di", "output-directory", "--")) == ""


def test_letters_alone_do_not_tell_two_headings_apart() -> None:
    assert find_anchor("a.b", ("a--b", "a__b")) == ""
