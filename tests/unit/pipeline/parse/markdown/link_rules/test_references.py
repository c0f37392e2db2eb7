"""Links by reference as Python-Markdown has them."""

from __future__ import annotations

import pytest

from noctule.pipeline.parse.markdown.syntax import markdown_parser
from tests.processor_time import processor_seconds

DEFINED = '\n\n[guide]: b.md "T"\n\n[^1]: Note'
LINK = '<a href="b.md" title="T">'


def _html(text: str) -> str:
    return markdown_parser().render(f"{text}{DEFINED}").partition("\n")[0]


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("[the *guide*] [guide].", f"<p>{LINK}the <em>guide</em></a>.</p>"),
        ("[guide] [guide]", f"<p>{LINK}guide</a> {LINK}guide</a></p>"),
        ("[x] [guide] [ ] [guide]", f"<p>[x] {LINK}guide</a> [ ] {LINK}guide</a></p>"),
        ("- [guide] [#1]", "<ul>"),
        ("![one] [guide]", f"<p>![one] {LINK}guide</a></p>"),
        ("list[int] [guide]", f"<p>list[int] {LINK}guide</a></p>"),
        ("[OPTIONS] [guide]", f"<p>[OPTIONS] {LINK}guide</a></p>"),
        ("[10.2] [guide]", f"<p>[10.2] {LINK}guide</a></p>"),
        ("[one] [two] [one] [guide](c.md)", '<p>[one] [two] [one] <a href="c.md">guide</a></p>'),
        ("Above\n[one]: c/d.md\n[one]", "<p>Above</p>"),
    ],
)
def test_names_follow_at_a_distance(text: str, html: str) -> None:
    assert _html(text) == html


def test_the_text_of_a_link_may_end_a_line_above_its_name() -> None:
    assert _html("See [the guide]\n  [guide] now") == f"<p>See {LINK}the guide</a> now</p>"


def test_a_note_may_follow_a_link() -> None:
    assert _html("[guide][^1], [lost][^1]").startswith(f"<p>{LINK}guide</a><sup class=")
    assert "[lost]<sup" in _html("[guide][^1], [lost][^1]")


def test_a_note_before_a_link_is_a_note() -> None:
    html = _html("Words[^1] [guide] more.")
    assert html.startswith("<p>Words<sup class=") and html.endswith(f" {LINK}guide</a> more.</p>")


@pytest.mark.parametrize("line", ["[ERROR]: config.yaml", "[INFO]: /var/log", "[Bob]: e.g."])
def test_lines_of_a_log_or_a_talk_stay_text(line: str) -> None:
    html = markdown_parser().render(f"Above\n{line}\n{line}\n")
    assert html.count(line) == 2


def test_definitions_below_a_paragraph_are_no_text() -> None:
    html = markdown_parser().render("A [b] and\n[c]\n[b]: x.md\n  [c]: #y 'T'\n\n[Joe] says\n[Joe]: yes\n")
    assert html == (
        '<p>A <a href="x.md">b</a> and\n<a href="#y" title="T">c</a></p>\n<p>[Joe] says\n[Joe]: yes</p>\n'
    )


@pytest.mark.parametrize(
    "piece", ["[a] ", "[a][^1] ", "[", "[a]\n", "[a]: b/c\n", "x\n[a]: b\n", "[a] [guide] "]
)
def test_references_are_found_in_linear_time(piece: str) -> None:
    text = piece * 2_000 + DEFINED
    before = processor_seconds()
    markdown_parser().render(text)
    assert processor_seconds() - before < 5
