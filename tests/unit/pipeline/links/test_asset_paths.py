"""Images and attachments by every spelling of their paths, and never outside the collection."""

from __future__ import annotations

import pytest

from noctule.pipeline.links.asset_paths import AssetPaths
from noctule.pipeline.links.linking_documents import LinkingDocument
from noctule.pipeline.links.resolve import resolve_links
from noctule.pipeline.model import DocId, Link, LinkKind, ResolvedLink
from noctule.pipeline.settings.collection import Address, Collection

PATHS = (
    "img/owl.png",
    "notes/img/owl.png",
    "notes/bat 100%.png",
    "notes/größe.png",
    "notes/Case.png",
    "notes/case.png",
    "static/logo.svg",
    "notes/deep/only.pdf",
)


def _find(target: str, *, by_name: bool = False, base_url: str = "") -> str | None:
    return AssetPaths(PATHS, base_url).find("notes/page.md", target, by_name=by_name)


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("img/owl.png", "notes/img/owl.png"),
        ("./img/owl.png", "notes/img/owl.png"),
        ("../img/owl.png", "img/owl.png"),
        ("/img/owl.png", "img/owl.png"),
        ("/notes/img/owl.png", "notes/img/owl.png"),
        ("img/owl.png?raw=true", "notes/img/owl.png"),
        ("bat%20100%25.png", "notes/bat 100%.png"),
        ("bat 100%.png", "notes/bat 100%.png"),
        ("gr%C3%B6%C3%9Fe.png", "notes/größe.png"),
        ("gro\u0308ße.png", "notes/größe.png"),
        ("Case.png", "notes/Case.png"),
        ("case.png", "notes/case.png"),
        ("IMG/OWL.png", "notes/img/owl.png"),
        ("/logo.svg", "static/logo.svg"),
        ("logo.svg", "static/logo.svg"),
        ("../../static/logo.svg", "static/logo.svg"),
        ("../../public/logo.svg", "static/logo.svg"),
        ("../../assets/logo.svg", "static/logo.svg"),
        ("~/assets/logo.svg", "static/logo.svg"),
        ("@assets/logo.svg", "static/logo.svg"),
        ("../deep/only.pdf", "notes/deep/only.pdf"),
        ("../../../img/owl.png", None),
        ("../../../etc/owl.png", None),
        ("only.pdf", None),
        ("gone.png", None),
        ("", None),
    ],
)
def test_an_asset_is_found_as_people_write_it(target: str, path: str | None) -> None:
    assert _find(target) == path


def test_a_wikilink_finds_a_file_by_its_name_nearest_the_root() -> None:
    assert _find("only.pdf", by_name=True) == "notes/deep/only.pdf"
    shallow = AssetPaths(("a/b/owl.png", "z/owl.png")).find("page.md", "owl.png", by_name=True)
    assert shallow == "z/owl.png"


def test_an_address_below_the_base_is_a_path() -> None:
    base = "https://example.org/docs/"
    assert _find("https://example.org/docs/img/owl.png", base_url=base) == "img/owl.png"
    assert _find("/docs/img/owl.png", base_url=base) == "img/owl.png"


def _resolved(kind: LinkKind, target: str) -> ResolvedLink:
    links = (Link(kind, target, "", 0),)
    page = LinkingDocument(
        DocId("c:notes/page.md"), "c", "notes/page.md", "notes/page.html", "Page", (), (), links
    )
    settings = {"c": Collection(root=".", address=Address())}
    (link,) = resolve_links([page], settings, {"c": PATHS, "other": ("notes/theirs.png",)})
    return link


@pytest.mark.parametrize(
    ("kind", "target", "status", "asset"),
    [
        ("image", "img/owl.png#only-dark", "asset", "notes/img/owl.png"),
        ("link", "deep/only.pdf", "asset", "notes/deep/only.pdf"),
        ("transclusion", "owl.png", "asset", "img/owl.png"),
        ("wikilink", "only.pdf#page=2", "asset", "notes/deep/only.pdf"),
        ("image", "theirs.png", "missing-asset", None),
        ("image", "gone", "missing-asset", None),
        ("transclusion", "gone.png", "missing-asset", None),
        ("link", "gone.zip", "missing-asset", None),
        ("link", "gone.md", "missing-document", None),
        ("image", "https://example.org/owl.png", "external", None),
        ("image", "data:image/png;base64,AAAA", "external", None),
    ],
)
def test_a_link_to_an_asset_names_its_path(
    kind: LinkKind, target: str, status: str, asset: str | None
) -> None:
    link = _resolved(kind, target)
    assert (link.status, link.asset, link.target_id) == (status, asset, None)
