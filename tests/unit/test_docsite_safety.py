"""Nothing that a document holds runs, phones home, or breaks out of where it stands."""

from __future__ import annotations

import re

import pytest
from bs4 import BeautifulSoup

from docsite.marks import Marks, without_marks, without_marks_in_tags
from docsite.templates import CLIENT, CONTENT_SECURITY_POLICY, THEME
from pipeline.identity import text_hash
from pipeline.settings import Site
from tests.site_builder import content_of, page_of

VECTORS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)><a xlink:href='javascript:alert(1)'>x</a></svg>",
    "<a href='javascript:alert(1)'>x</a>",
    "<a href=' java\tscript:alert(1)'>x</a>",
    "[x](javascript:alert(1))",
    "[x](<java\nscript:alert(1)>)",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[[javascript:alert(1)|x]]",
    "[[x|<img src=x onerror=alert(1)>]]",
    "[[\" onmouseover=alert(1) x=\"|y]]",
    "![[<script>alert(1)</script>]]",
    "![<img src=x onerror=alert(1)>](a.png)",
    '![x](a.png "\\" onerror=alert(1)")',
    "# <img src=x onerror=alert(1)>",
    '# " onclick=alert(1) "',
    "#tag<script>alert(1)</script>",
    "```<script>alert(1)</script>\n</code></pre><script>alert(1)</script>\n```",
    "<pre></pre><script>alert(1)</script>",
    "<pre><code class='language-html\" onclick=\"alert(1)'><b onclick=alert(1)></code></pre>",
    '<div title="\n\n[[page|\' onmouseover=alert(1) ]]\n\n">x</div>',
    '<p title="\n\n`` ` ``\n\n```\n"><script>alert(1)</script>\n```\n\n">',
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<form action=https://evil.example><button>x</button></form>",
    "<style>@import url(https://evil.example)</style><p style='background:url(https://evil.example)'>x</p>",
    "<link rel=stylesheet href=https://evil.example><base href=https://evil.example><meta http-equiv=refresh content=0>",
    "<table background=https://evil.example><td background=https://evil.example>x",
    "<video src=https://evil.example poster=https://evil.example></video>",
    "![track](https://evil.example/t.gif) <img src='//evil.example/t.gif'>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(1)&gt;'>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "{{ 7 * 7 }} {% for x in ().__class__.__base__.__subclasses__() %}{{ x }}{% endfor %}",
    "| a |\n|---|\n| <img src=x onerror=alert(1)> |",
    "> [!NOTE<script>alert(1)</script>]\n> x",
    '!!! note" onclick="alert(1) "<script>alert(1)</script>"\n    x',
    "x[^1]\n\n[^1]: <img src=x onerror=alert(1)>",
    "&#xE000;h000000000000-0&#xE001; \ue000h000000000000-0\ue001",
]  # fmt: skip
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
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|fetch\(", path.read_text()
        )
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
