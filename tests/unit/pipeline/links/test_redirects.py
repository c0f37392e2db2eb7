"""Links to former addresses lead to where the redirects of a site, or the front matter of its pages, lead."""

from __future__ import annotations

import pytest

from noctule.pipeline.address import heading_slugs
from noctule.pipeline.identity import sha256_hex
from noctule.pipeline.links.linking_documents import linking_document
from noctule.pipeline.links.redirects import redirects_of
from noctule.pipeline.links.resolve import resolve_links
from noctule.pipeline.model import ResolvedLink, Source
from noctule.pipeline.parse import parse
from noctule.pipeline.settings.collection import Collection
from noctule.pipeline.settings.site import Site

NEW = "# New\n\n## Part\n\nOwls.\n"
MOVED = {
    "old.html": "guide/new.md",
    "/older/": "/old#part",
    "/docs/oldest": "/docs/guide/new",
    "https://e.org/base/far": "https://e.org/base/guide/new.html",
    "blog/": "https://blog.example.org/",
    "round": "around",
    "around": "/round/",
    "gone": "nowhere.md",
    "c/in-folder": "c/guide/new",
}


def _link(target: str, moved: dict[str, str], path: str = "guide/page.md", **texts: str) -> ResolvedLink:
    given = {path: f"# Page\n\n[x]({target})\n", "guide/new.md": NEW, **texts}
    sources = [Source("c", name, text.encode(), sha256_hex(text.encode())) for name, text in given.items()]
    collection = Collection(root="site/pages")
    documents = [parse(source, collection) for source in sources]
    linking = [linking_document(each, heading_slugs(each.headings)) for each in documents]
    redirects = redirects_of(Site(redirects=moved, base_url="https://e.org/base/"))
    found = resolve_links(linking, {"c": collection}, redirects=redirects)
    return next(link for link in found if link.source_id == f"c:{path}")


@pytest.mark.parametrize(
    ("target", "fragment"),
    [
        ("/old.html", ""),
        ("../old", ""),
        ("../old.html#part", "part"),
        ("/older", "part"),
        ("../Older/index.html#other", "part"),
        ("/docs/oldest", ""),
        ("../oldest?x=1", ""),
        ("/far", ""),
        ("/in-folder", ""),
    ],
)
def test_a_link_to_a_former_address_leads_to_the_page_that_replaced_it(target: str, fragment: str) -> None:
    link = _link(target, MOVED)
    assert (link.target_id, link.status, link.fragment) == ("c:guide/new.md", "resolved", fragment)
    assert _link(target, {}).target_id is None


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("/blog/", "external"),
        ("/round", "missing-document"),
        ("/gone", "missing-document"),
        ("/old#nosuch", "missing-heading"),
    ],
)
def test_what_leads_elsewhere_in_a_circle_or_nowhere_says_so(target: str, status: str) -> None:
    link = _link(target, MOVED)
    assert link.status == status and (link.target_id is None) == (status != "missing-heading")


def test_a_page_that_is_there_needs_no_redirect() -> None:
    link = _link("/old", MOVED, **{"old.md": "# Old\n"})
    assert link.target_id == "c:old.md"


@pytest.mark.parametrize(
    ("front", "target"),
    [
        ("redirect_from: /a/b/", "/a/b"),
        ("redirect_from: [/x.html, /a/b.html]", "../a/b.html"),
        ("redirect_from: was.html", "was"),
        ("aliases: [../c/was/]", "/c/was/"),
        ("aliases: [c/was.html, A note]", "/guide/c/was"),
    ],
)
def test_front_matter_names_former_addresses(front: str, target: str) -> None:
    link = _link(target, {}, **{"guide/moved.md": f"---\n{front}\n---\n# Moved\n"})
    assert (link.target_id, link.status) == ("c:guide/moved.md", "resolved")


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("/base/guide/new.html#part", "resolved"),
        ("/base/guide/new#gone", "missing-heading"),
        ("/baseless/guide/new", "missing-document"),
        ("/base/gone", "missing-document"),
        ("/base/#part", "external"),
    ],
)
def test_a_path_may_begin_with_that_of_the_sites_address(target: str, status: str) -> None:
    """It is how a page is named from the top of the host, as in a project's site on a forge."""
    assert _link(target, {}).status == status
