"""Nothing that a document holds runs, phones home, or breaks out of where it stands."""

from __future__ import annotations

import re

import pytest
from bs4 import BeautifulSoup
from pydantic import ValidationError

from noctule.docsite.content.formulas import ATTRIBUTES, TAGS
from noctule.docsite.content.marks import Marks, without_marks, without_marks_in_tags
from noctule.docsite.templates import CLIENT, CONTENT_SECURITY_POLICY, THEME
from noctule.pipeline.identity import text_hash
from noctule.pipeline.settings.settings import Site
from noctule.pipeline.settings.site import OtherSite
from tests.hostile_texts import VECTORS
from tests.site_builder import content_of, page_of

FETCHING = ("src", "srcset", "poster", "background", "action", "formaction", "data", "style", "srcdoc")
ALLOWED = frozenset(
    [
        "href",
        "class",
        "id",
        "title",
        "rel",
        "tabindex",
        "role",
        "type",
        "disabled",
        "checked",
        "lang",
        "dir",
        "hidden",
        "open",
        "datetime",
        "start",
    ]
)


def assert_inert(html: str) -> None:
    soup = BeautifulSoup(html, "html.parser")
    for element in soup.find_all(True):
        if element.find_parent("span", class_="formula"):
            assert element.name in TAGS and set(element.attrs) <= ATTRIBUTES
            continue
        assert element.name not in {
            "script",
            "style",
            "iframe",
            "svg",
            "form",
            "link",
            "base",
            "meta",
            "img",
            "video",
            "math",
        }
        for name, value in element.attrs.items():
            assert not name.startswith("on") and name not in FETCHING
            assert name in ALLOWED or name.startswith(("aria-", "data-"))
            if name == "href":
                assert not re.match(r"\s*(javascript|data|vbscript|file):", value, re.IGNORECASE)
            if element.name == "a" and "evil.example" in str(value):
                assert "noopener" in element["rel"]


@pytest.mark.parametrize("vector", VECTORS)
def test_hostile_markdown_is_inert(vector: str) -> None:
    assert_inert(content_of(vector, x="# X\n"))


@pytest.mark.parametrize("vector", VECTORS)
def test_hostile_markdown_is_inert_where_it_is_transcluded(vector: str) -> None:
    html = content_of("![[hostile]]", hostile=vector, x="# X\n")
    assert 'class="transclusion"' in html
    assert_inert(html)


@pytest.mark.parametrize("vector", VECTORS)
def test_hostile_html_documents_are_inert(vector: str) -> None:
    page = page_of({"a.html": f"<html><title>A</title><body><h1>A</h1>{vector}</body></html>"}, "a.html")
    article = page.select_one("article")
    assert article is not None
    assert_inert(str(article))


@pytest.mark.parametrize("vector", VECTORS)
def test_hostile_titles_descriptions_and_tags_are_text(vector: str) -> None:
    value = vector.replace("\\", "").replace("\n", " ").replace("'", "''")
    text = f"---\ntitle: '{value}'\ndescription: '{value}'\ntags: ['{value}']\n---\nText.\n"
    settings = Site(title=vector, description=vector)
    page = page_of({"a.md": text, "b.md": "[to](a.md)"}, "a.html", settings)
    assert len(page.find_all("script")) == 2 and all(
        s["src"].startswith("_assets/") for s in page.find_all("script")
    )
    (heading,) = page.find_all("h1")
    assert not heading.find() and heading.text.count("alert(1)") == value.count("alert(1)")
    assert_inert(str(page.body))


def test_the_policy_names_the_sites_that_the_search_asks_and_no_others() -> None:
    also = (OtherSite(label="A", url="https://a.example.org:8443/docs"), OtherSite(label="B", url="../b/"))
    page = page_of({"a.md": "# A\n"}, "a.html", Site(also=also))
    policy = page.select_one("meta[http-equiv=Content-Security-Policy]")
    own, wider = "script-src 'self'", "script-src 'self' https://a.example.org:8443"
    assert policy is not None and policy["content"] == CONTENT_SECURITY_POLICY.replace(own, wider)
    for url in (
        "https://a.example.org;script-src *",
        "//a.example.org/",
        "javascript:x",
        "",
        "http://é.org/ x",
    ):
        with pytest.raises(ValidationError):
            OtherSite(label="A", url=url)


def test_the_policy_lets_pages_tell_one_address_and_only_if_there_is_one() -> None:
    for url, wider in (
        ("https://a.example.org:8443/v1/events", "connect-src 'self' https://a.example.org:8443;"),
        ("/v1/events", "connect-src 'self';"),
    ):
        page = page_of({"a.md": "# A\n"}, "a.html", Site(events=url))
        policy = page.select_one("meta[http-equiv=Content-Security-Policy]")
        told = CONTENT_SECURITY_POLICY.replace("connect-src 'self';", wider)
        assert policy is not None and policy["content"] == told
        link = page.select_one("[data-search]")
        assert link is not None and link["data-events"] == url and not link.has_attr("data-event-queries")
    plain = page_of({"a.md": "# A\n"}, "a.html").select_one("[data-search]")
    assert plain is not None and not plain.has_attr("data-events")
    for url in (
        "https://a.example.org;x/",
        "//a.example.org/",
        "javascript:x",
        "https://é.org/",
        "a b",
        "/a b",
    ):
        with pytest.raises(ValidationError):
            Site(events=url)


def test_every_page_carries_the_policy_and_no_inline_script_or_style() -> None:
    page = page_of({"a.md": "# A\n\n```js\nlet a = 1\n```\n\n| a |\n|:-:|\n| b |\n"}, "a.html")
    policy = page.find("meta", attrs={"http-equiv": "Content-Security-Policy"})
    assert policy is not None and policy["content"] == CONTENT_SECURITY_POLICY
    assert "unsafe" not in CONTENT_SECURITY_POLICY
    # The policy only governs what comes after it.
    before = [e.name for e in policy.find_previous_siblings()]
    assert before == ["meta"]
    assert not page.find("style") and not page.find(style=True)
    assert all(script.get("src") and not script.text for script in page.find_all("script"))


def test_scripts_and_templates_of_the_theme_write_text_only() -> None:
    for path in sorted(CLIENT.rglob("*.js")):
        # Asking the network on a page's behalf is all that a service worker is for.
        forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\("
        forbidden += "" if path.name == "worker.js" else r"|fetch\("
        assert not re.search(forbidden, path.read_text())
    for path in sorted(THEME.glob("*.html")):
        text = path.read_text()
        assert not re.search(r"\|\s*safe|autoescape|<script>|style=|\son[a-z]+=", text)


def test_a_forged_mark_stands_for_nothing() -> None:
    source = "forged"
    marks = Marks(source)
    real = marks.html("<b>ours</b>")
    assert text_hash(source)[:12] in real
    assert without_marks(f"a{real}b") == "ab"
    assert without_marks_in_tags(f'<p title="{real}">{real}</p>') == f'<p title="">{real}</p>'
    assert marks.piece("000000000000-0") == ""
