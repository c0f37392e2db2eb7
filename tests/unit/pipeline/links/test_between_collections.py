"""Links from one collection of a store lead to the documents of another, by their folders or by its name."""

from __future__ import annotations

import pytest
from bs4 import BeautifulSoup

from noctule.docsite.outline.plan import plan_site
from noctule.pipeline.identity import doc_id
from noctule.pipeline.links.linking_documents import LinkingDocument
from noctule.pipeline.links.redirects import redirects_of
from noctule.pipeline.links.resolve import resolve_links
from noctule.pipeline.model import Link, LinkKind, ResolvedLink
from noctule.pipeline.settings.collection import Collection
from noctule.pipeline.settings.settings import Site
from tests.site_builder import snapshot_of

ROOTS = {"docs": "/p/docs", "other": "/p/other", "inner": "/p/other/inner"}
PAGES = {"docs": ("sub/a.md", "b.md"), "other": ("index.md", "guide/page.md"), "inner": ("x.md",)}


def resolve(target: str, kind: LinkKind = "link") -> ResolvedLink:
    documents = [
        LinkingDocument(
            doc_id(name, path), name, path, path, path, (), ("part",),
            (Link(kind, target, "text", 0),) if path == "sub/a.md" else (),
        )
        for name, paths in PAGES.items() for path in paths
    ]  # fmt: skip
    collections = {name: Collection(root=root) for name, root in ROOTS.items()}
    (link,) = resolve_links(documents, collections)
    return link


@pytest.mark.parametrize(
    ("target", "found", "status"),
    [
        ("../../other/guide/page.md#part", "other:guide/page.md", "resolved"),
        ("../../other/guide/page#gone", "other:guide/page.md", "missing-heading"),
        ("../../other/", "other:index.md", "resolved"),
        ("../../other/inner/x.md", "inner:x.md", "resolved"),
        ("../../docs/b.md", "docs:b.md", "resolved"),
        ("../../else/page.md", None, "missing-document"),
        ("../../../p/docs/b.md", "docs:b.md", "resolved"),
    ],
)
def test_a_path_out_of_the_folder_leads_into_another_one(target: str, found: str | None, status: str) -> None:
    link = resolve(target)
    assert (link.target_id, link.status) == (found, status)


@pytest.mark.parametrize(
    ("target", "found", "status"),
    [
        ("/other/guide/page#part", "other:guide/page.md", "resolved"),
        ("/other/guide/page#gone", "other:guide/page.md", "missing-heading"),
        ("/other", "other:index.md", "resolved"),
        ("/inner/", None, "external"),  # the site has a page of its own there
        ("/docs", None, "external"),
        ("/", None, "external"),
        ("/inner/gone", None, "missing-document"),
        ("/nobody", None, "missing-document"),
        ("other/guide/page", None, "missing-document"),
    ],
)
def test_a_path_from_the_top_may_begin_with_another_collection(
    target: str, found: str | None, status: str
) -> None:
    link = resolve(target)
    assert (link.target_id, link.status) == (found, status)


@pytest.mark.parametrize("kind", ["wikilink", "transclusion"])
def test_a_wikilink_may_name_the_collection(kind: LinkKind) -> None:
    assert resolve("other:page", kind).target_id == "other:guide/page.md"
    assert resolve("other:guide/page", kind).target_id == "other:guide/page.md"
    assert resolve("nobody:page", kind).status == "missing-document"


def test_the_page_of_another_collection_is_linked_and_names_who_links_to_it() -> None:
    texts = {
        "docs": {"a.md": "# A\n\n[[other:page]]\n\n![[other:page]]\n"},
        "other": {"page.md": "# Page\n\nOwls.\n"},
    }
    plan = plan_site(snapshot_of(texts), Site())
    entry = next(each for each in plan.library.entries if each.title == "A")
    page = BeautifulSoup(plan.renderer.render(entry).html, "html.parser")
    assert next(a["href"] for a in page.select("a.wikilink")) == "../other/page.html"
    assert "Owls." in page.text


def test_links_to_pages_that_the_site_makes_lead_there_also_below_its_base() -> None:
    page = "# A\n\n[top](/) [own](/docs) [base](/owls/) [blog](/owls/other/) [page](/owls/other/page)\n"
    texts = {"docs": {"sub/a.md": page}, "other": {"page.md": "# Page\n\nOwls.\n"}}
    settings = Site(base_url="https://e.org/owls")
    plan = plan_site(snapshot_of(texts, redirects=redirects_of(settings)), settings)
    entry = next(each for each in plan.library.entries if each.title == "A")
    found = BeautifulSoup(plan.renderer.render(entry).html, "html.parser")
    led = {a.get_text(): a.get("href") for a in found.select("p a")}
    assert led == {
        "top": "../../index.html",
        "own": "../index.html",
        "base": "../../index.html",
        "blog": "../../other/index.html",
        "page": "../../other/page.html",
    }
