"""Boxes of every tool, roles, attribute lists, names and markdown inside HTML: nothing of them is text."""

from __future__ import annotations

from contextlib import suppress

import pytest

from noctule.pipeline.errors import RejectedDocument
from noctule.pipeline.model import Document, Source
from noctule.pipeline.parse import parse
from noctule.pipeline.parse.markdown.syntax import markdown_parser
from noctule.pipeline.settings.collection import Collection
from tests.processor_time import processor_seconds


def _parsed(text: str) -> Document:
    return parse(Source("c", "a.md", text.encode(), "0"), Collection(root="."))


def _texts(text: str) -> list[str]:
    return [block.text for block in _parsed(text).blocks]


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("```{note}\nBody *it*.\n```", ["Body it."]),
        ("```{admonition} Title\n:class: tip\n\nBody\n```", ["Title", "Body"]),
        (":::{warning}\n:class: dropdown\nBody\n:::", ["Body"]),
        (":::note[Title]\nBody\n:::", ["Title", "Body"]),
        ("::: raw\nText that stands there\n:::", ["Text that stands there"]),
        ("::: highlight\nText that stands there\n:::", ["Text that stands there"]),
        ("::: {.program}\nText that stands there\n:::", ["Text that stands there"]),
        ("::: {.callout-note}\nOne\n\n% of them stay\n:::", ["One", "% of them stay"]),
        (":::tip Title\n:author: text that stands there\n:::", ["Title", ":author: text that stands there"]),
        ("```admonish tip\n:author: text that stands there\n```", [":author: text that stands there"]),
        ("```admonish warning title='T'\nBody\n```", ["T", "Body"]),
        ("::::{tab-set}\n:::{tab-item} A\n:sync: a\nOne\n:::\n::::", ["A", "One"]),
        (":::::{grid}\n:::{card}\nOne\n::::\n:::{card}\nTwo\n::::\n:::::", ["One", "Two"]),
        (":::{note}\nOne\n::::{tip}\nTwo\n::::\n", ["One", "Two"]),
        ("::: code-group\n```sh [npm]\nnpm i\n```\n:::", ["npm", "npm i"]),
        ("```{image} x.png\n:alt: An owl\n```", ["An owl"]),
        ("```{versionadded} 1.2\nBody\n```", ["New in version 1.2", "Body"]),
        ("```{toctree}\n:maxdepth: 2\nFirst <a/b>\n```", ["First"]),
        ("```{contents}\n:local:\n```\nText", ["Text"]),
        ("```{toc}\n:context: children\n```\nText", ["Text"]),
        (":::{iframe} https://a.b/c\nA *film*\n:::", ["A film"]),
        (":::{iframe} https://a.b/c\n:::", ["https://a.b/c"]),
        ("````{myst}\n```{note}\nBody\n```\n````", ["```{note}\nBody\n```"]),
        (
            "!!! note\n    One\n\n\n    Two\n\n\n\n    ```\n    a\n\n\n    b\n    ```\n",
            ["One", "Two", "a\n\n\nb"],
        ),
        (
            "!!! note\n    One\n\n    ??? tip\n        Two\n\n\n        Three\n\n\n    Four\n",
            ["One", "Two", "Three", "Four"],
        ),
        (
            "- a\n\n    !!! note\n        One\n\n\n        Two\n\n\n    Three\n",
            ["- a", "One", "Two", "Three"],
        ),
        ("!!! note\n    One\n\n\n\nTwo\n\n\n    code\n", ["One", "Two", "code"]),
        (":::{only} latex\nHidden\n:::\n\n```{only} not latex\nShown\n```", ["Shown"]),
        ("```{eval-rst}\n.. note:: From *rst*\n```", ["Note\nFrom rst"]),
        ("<div markdown>\n*Inside*\n</div>", ["Inside"]),
        ("{.class}\nText (1)\n{ .annotate }", ["Text (1)"]),
        (":octicons-heart-fill-24:{ .heart } [Go](b.md){ .md-button }", ["Go"]),
        ("^^new^^ x^2^", ["new x2"]),
        ("```{note}\nx\n```\n\n% hidden\n\n+++\n\nText", ["x", "Text"]),
        ("100% of it\n\n% shown", ["100% of it", "% shown"]),
    ],
)
def test_what_a_tool_reads_is_not_text(text: str, texts: list[str]) -> None:
    assert [each.strip() for each in _texts(text)] == texts


def test_roles_are_links_keys_and_code() -> None:
    document = _parsed(
        "{ref}`T <lab_el>` {doc}`b` {py:func}`~a.b.c` {kbd}`Ctrl` {abbr}`CSS (Sheets)` {octicon}`x`"
    )
    (block,) = document.blocks
    assert (block.text.strip(), block.code) == ("T b c() Ctrl CSS", "c()")
    assert [link.target for link in document.links] == ["#ref:lab-el", "b", "#object:a.b.c"]


@pytest.mark.parametrize("braces", ['{ id="9.6.4" }', "{.x id=9.6.4}", "{ id='9.6.4' title='id=no' }"])
def test_a_heading_may_be_named_by_an_attribute(braces: str) -> None:
    (heading,) = _parsed(f"### 9.6.4 <small>June</small> {braces}\n").headings
    assert (heading.text, heading.anchor) == ("9.6.4 June", "9.6.4")


def test_boxes_of_one_marker_nest() -> None:
    text = ":::{glossary}\na\n\n- b\n\n    :::{note}\n    c\n    :::\n\n    d\n:::\n\nEnd.\n"
    assert [each.lstrip("- ") for each in _texts(text)] == ["a", "b", "c", "d", "End."]


@pytest.mark.parametrize(
    ("opening", "html"),
    [
        (":::{tip .dropdown} T", '<details class="callout callout-tip"> <summary class="callout-title">T<'),
        (
            "```{note .x key='a b' open=false} T",
            '<div class="callout callout-note"> <p class="callout-title">T<',
        ),
        (":::{admonition .warning} T", '<div class="callout callout-warning"> <p class="callout-title">T<'),
        ('::: {.callout-note collapse="true"}', '<details class="callout callout-note"> <summary'),
        (
            '::: {.callout-tip collapse="false"} :::',
            '<details class="callout callout-tip" open="">',
        ),
        ('::: {.callout-tip title="T"}', '<div class="callout callout-tip"> <p class="callout-title">T<'),
        ('::: {.column width="40%"}', "<div> <p>Body"),
        ("::: {.of-no-tool .wide}", "<div> <p>Body"),
        ('::: {.content-hidden when-format="pdf"}', "<div> <p>Body"),
        ('::: {.content-hidden when-format="html"}', ""),
        ('::: {.content-visible when-format="pdf"}', ""),
        ('::: {.content-hidden unless-format="pdf"}', ""),
        ('::: {.content-visible unless-format="pdf"}', "<div> <p>Body"),
        ('::: {.content-visible unless-format="html"}', ""),
        ('::: {.content-hidden when-profile="basic"}', "<div> <p>Body"),
        (":::note[T]{.x}", '<div class="callout callout-note"> <p class="callout-title">T<'),
        (':::note{title="T"}', '<div class="callout callout-note"> <p class="callout-title">T<'),
    ],
)
def test_options_in_the_braces_of_an_opening_are_no_title(opening: str, html: str) -> None:
    fence = opening[:3]
    shown = " ".join(markdown_parser().render(f"{opening}\nBody\n{fence}").split())
    assert shown.startswith(html) and "}" not in shown and bool(shown) == bool(html)


def test_headings_of_a_tabset_of_quarto_are_tabs() -> None:
    text = "::: {.panel-tabset}\n## R *code*\n\nUse R.\n\n### Part\n\n## Python\n\n- a\n:::\n\n## End\n"
    document = _parsed(text)
    assert [(each.kind, each.text) for each in document.blocks if each.text in ("R code", "Python")]
    assert [each.text for each in document.headings] == ["End"]
    html = " ".join(markdown_parser().render(text).split())
    assert html.count('class="callout callout-tab"') == 2 and "<h2" not in html.partition("Use R")[0]


def test_a_tab_of_quarto_keeps_the_name_of_its_heading_and_no_attributes() -> None:
    text = "::: {.panel-tabset}\n## First {#first .x}\n\nOne\n\n## Other {.y}\n\nTwo\n:::\n\n[it](#first)\n"
    document = _parsed(text)
    assert [each.text for each in document.blocks] == ["First", "One", "Other", "Two", "it"]
    assert "first" in document.anchors


def test_a_tabset_without_headings_shows_what_it_holds() -> None:
    assert _texts("::: {.panel-tabset}\nBody\n:::\n") == ["Body"]


def test_a_callout_of_quarto_has_its_first_heading_as_title() -> None:
    document = _parsed("::: {.callout-note}\n\n## T {.unnumbered}\n\nBody\n\n## Of its own\n:::")
    assert [each.text for each in document.blocks] == ["T", "Body", "Of its own"]
    assert document.inner_anchors == ("of-its-own",)


@pytest.mark.parametrize(
    ("opening", "texts"),
    [
        ("::: {.callout-question}", ["T", "Body"]),
        ('::: {.callout-question title="Q"}', ["Q", "T", "Body"]),
        ("::: {.column .my-callout-box}", ["T", "Body"]),
        (":::{div .callout-x}", ["T", "Body"]),
        ('::: {.callout-note title="Say \\"Hi\\""}', ['Say "Hi"', "T", "Body"]),
        ('::: {.callout-note .w-1/2 title="Q"}', ["Q", "T", "Body"]),
        ('::: {.theorem name=") (x"}', ["T", "Body"]),
        ("::: {.2cols}", ["T", "Body"]),
    ],
)
def test_no_heading_or_title_of_a_div_is_lost(opening: str, texts: list[str]) -> None:
    assert _texts(f"{opening}\n## T\n\nBody\n:::") == texts


def test_a_heading_with_a_long_run_of_blanks_takes_no_time() -> None:
    text = f"::: {{.callout-note}}\n## a{' ' * 100_000}b\n:::\n"
    begun = processor_seconds()
    assert _texts(text)[0].startswith("a ")
    assert processor_seconds() - begun < 2


def test_an_identifier_in_the_braces_is_an_anchor() -> None:
    document = _parsed(":::{note #one .x}\nA\n:::\n\n::: {#two}\nB\n:::\n\n:::{tip label=three}\nC\n:::")
    assert {"one", "two", "three"} <= set(document.anchors)
    assert [each.text for each in document.blocks] == ["A", "B", "C"]


def test_options_of_a_role_and_of_code_are_no_text() -> None:
    assert _texts("A {span .x}`b` {kbd #k}`C` {x}`y`.")[0] == "A b C y."
    assert _parsed("```{code-block #c linenos=true} python\nx\n```").blocks[0].language == "python"


@pytest.mark.parametrize(
    ("card", "shown", "target"),
    [
        (
            "{grid-item-card}\n:link-type: doc\n:link: a/b\n\n{fas}`book`\n\nGo\n^^^\nText",
            ["Go", "Text"],
            "a/b",
        ),
        (
            "{card} Title\n:link: https://e.org/\n\nText\n+++\nFoot",
            ["Title", "Text", "Foot"],
            "https://e.org/",
        ),
        ("{card}\n:link: my_label\n:link-type: ref\n\nText", ["", "Text"], "#ref:my-label"),
        ("{card}\n:link: https://e.org/\n\nText", ["https://e.org/", "Text"], "https://e.org/"),
        ("{card} Title\nHead\n^^^\nText ^^^", ["Title Head", "Text ^^^"], ""),
    ],
)
def test_a_card_has_a_title_above_carets_and_leads_somewhere(
    card: str, shown: list[str], target: str
) -> None:
    document = _parsed(f":::{card}\n:::\n")
    assert [block.text.strip() for block in document.blocks] == list(filter(None, shown))
    assert [link.target for link in document.links] == list(filter(None, [target]))


def test_a_role_may_go_on_in_the_next_line_and_a_comment_needs_no_other_sign_of_myst() -> None:
    text = "Be {ref}`said in\n  <place>` {kbd}`A`.\n\n% {func} again\n\nA {func}`b`.\n"
    assert _texts(text) == ["Be said in A.", "A b()."]
    assert _texts("Be {ref}`said\n\nnot`.\n")[0] == "Be {ref}`said"


def test_code_in_other_braces_stays_code() -> None:
    assert [block.language for block in _parsed("```{python}\nx\n```\n\n```{r}\ny\n```").blocks] == [
        "python",
        "r",
    ]


def test_names_in_html_and_on_headings_are_anchors() -> None:
    document = _parsed('# T { #top }\n\n<a id="one"></a> <a name="two"></a>\n\n<div id="three">x</div>\n')
    assert document.headings[0].anchor == "top" and document.headings[0].text == "T"
    assert set(document.anchors) == {"one", "two", "three"}


def test_links_lead_to_headings_in_boxes_quotes_and_lists() -> None:
    text = "# T\n\n!!! note\n    ## Set up\n\n> ### T\n\n- a\n\n  ## Named {#own}\n\n## Set up\n"
    document = _parsed(text)
    assert [each.text for each in document.headings] == ["T", "Set up"]
    assert document.inner_anchors == ("set-up-1", "t-1", "own")


def test_a_box_beside_the_text_says_so() -> None:
    html = markdown_parser().render('!!! info inline end "T"\n    Body')
    assert 'class="callout callout-info callout-inline"' in html
    html = markdown_parser().render('!!! info inline "T"\n    Body')
    assert 'class="callout callout-info callout-inline callout-start"' in html


@pytest.mark.parametrize(
    "line",
    [
        "```{note}",
        ":::{note",
        ":::{note .a ",
        "::: {.a #b c=d ",
        "{a .b ",
        ":::note\n::::",
        ":::note\n::::a\n:::::\n",
        "```admonish ",
        "{ref}`",
        "{ .a ",
        "^^a ",
        "<div markdown ",
        "<a name=",
    ],
)
def test_hostile_boxes_take_linear_time(line: str) -> None:
    begun = processor_seconds()
    for text in (line * (40_000 // len(line)), f"{line}\n" * (40_000 // len(line))):
        with suppress(RejectedDocument):  # as a bomb
            _parsed(text)
    assert processor_seconds() - begun < 6
