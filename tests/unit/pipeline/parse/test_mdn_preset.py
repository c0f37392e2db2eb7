from __future__ import annotations

from pathlib import Path

import pytest

from noctule.pipeline.identity import sha256_hex
from noctule.pipeline.model import Document, Source
from noctule.pipeline.parse import parse
from noctule.pipeline.settings.collection import Collection
from noctule.pipeline.settings.reading import load

PRESET = Path(__file__).parents[4] / "configs" / "mdn.toml"


@pytest.fixture(scope="module")
def mdn() -> Collection:
    return load(PRESET).collections["mdn"]


def read(body: str, mdn: Collection) -> Document:
    content = f"---\ntitle: x\nslug: Web/API/X\n---\n\n{body}\n".encode()
    return parse(Source("mdn", "web/api/x/index.md", content, sha256_hex(content)), mdn)


CASES = [
    ('{{domxref("Window/fetch", "fetch()")}}', "fetch()", "Web/API/Window/fetch"),
    ("{{ DOMxRef('Window.fetch()') }}", "Window.fetch()", "Web/API/Window/fetch"),
    ('{{domxref("URL")}}', "URL", "Web/API/URL"),
    ('{{domxref("A.b", "the\n  b", "", "nocode")}}', "the b", "Web/API/A/b"),
    ('{{cssxref("color")}}', "color", "Web/CSS/Reference/Properties/color"),
    ('{{cssxref("&lt;color&gt;")}}', "<color>", "Web/CSS/Reference/Values/color_value"),
    ('{{cssxref("calc()")}}', "calc()", "Web/CSS/Reference/Values/calc"),
    ('{{cssxref(":is()")}}', ":is()", "Web/CSS/Reference/Selectors/:is"),
    ('{{cssxref("@media")}}', "@media", "Web/CSS/Reference/At-rules/@media"),
    (
        '{{jsxref("Array.prototype.map()")}}',
        "Array.prototype.map()",
        "Web/JavaScript/Reference/Global_Objects/Array/map",
    ),
    (
        '{{jsxref("Statements/for...of", "for...of")}}',
        "for...of",
        "Web/JavaScript/Reference/Statements/for...of",
    ),
    ('{{htmlelement("p")}}', "<p>", "Web/HTML/Reference/Elements/p"),
    ('{{HTMLElement("h2")}}', "<h2>", "Web/HTML/Reference/Elements/Heading_Elements"),
    ('{{httpheader("Vary")}}', "Vary", "Web/HTTP/Reference/Headers/Vary"),
    ('{{HTTPStatus(404, "404 Not Found")}}', "404 Not Found", "Web/HTTP/Reference/Status/404"),
    ('{{Glossary("user agent", "agents")}}', "agents", "Glossary/user_agent"),
    ('{{WebExtAPIRef("tabs.Tab")}}', "tabs.Tab", "Mozilla/Add-ons/WebExtensions/API/tabs/Tab"),
    (r"""{{domxref("A", "say \"b\"")}}""", 'say "b"', "Web/API/A"),
]


@pytest.mark.parametrize(("macro", "text", "target"), CASES)
def test_a_link_macro_reads_as_mdn_shows_it(mdn: Collection, macro: str, text: str, target: str) -> None:
    document = read(f"The {macro} here.", mdn)
    assert document.blocks[0].text == f"The {text} here."
    assert [link.target for link in document.links] == [f"/en-US/docs/{target}"]


def test_an_rfc_reads_as_its_number(mdn: Collection) -> None:
    assert read('See {{RFC(9110, "HTTP")}}.', mdn).blocks[0].text == "See RFC 9110: HTTP."


def test_badges_are_words_and_banners_are_nothing(mdn: Collection) -> None:
    document = read(
        '{{APIRef("X")}}{{SecureContext_Header}}\n\n## H {{deprecated_inline}}\n\n'
        "- `a` {{optional_inline}}\n\n{{Compat}}",
        mdn,
    )
    assert [heading.text for heading in document.headings] == ["H"]
    assert [block.text for block in document.blocks] == ["- a (optional)"]


def test_template_examples_and_escaped_macros_survive(mdn: Collection) -> None:
    document = read("```vue-nolint\n{{ item.title }}\n{{#if x}}\n```\n\nWrite `\\{{Compat}}`.", mdn)
    assert document.blocks[0].text == "{{ item.title }}\n{{#if x}}"
    assert document.blocks[0].language == "vue"
    assert document.blocks[1].text == "Write {{Compat}}."


def test_the_address_is_mdns_own(mdn: Collection) -> None:
    assert read("x", mdn).url == "https://developer.mozilla.org/en-US/docs/Web/API/X"
