"""Words in brackets with attributes."""

from __future__ import annotations

import pytest

from noctule.pipeline.parse.markdown.syntax import markdown_parser
from tests.processor_time import processor_seconds


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("[a *b*]{.x} [c]{1 2} [d] {.e}", '<span class="x">a <em>b</em></span> [c]{1 2} [d] {.e}'),
        ("[[Download]{.btn}](file.pdf)", '<a href="file.pdf"><span class="btn">Download</span></a>'),
        ("[[a]{.b}]{.c}", '<span class="c"><span class="b">a</span></span>'),
        ("any of ()[]{} in a[3]{} names", "any of ()[]{} in a[3]{} names"),
        ("a [b]{% if x %} c [d]{{ e }}", "a [b]{% if x %} c [d]{{ e }}"),
        ('[a]{#b c="d"}', '<span id="b">a</span>'),
        ("[x]{.", "[x]{."),
    ],
)
def test_brackets_with_attributes_are_a_span(text: str, html: str) -> None:
    assert markdown_parser().render(text) == f"<p>{html}</p>\n"


def test_a_note_with_attributes_is_a_note() -> None:
    html = markdown_parser().render("A[^1]{.x}\n\n[^1]: Note\n")
    assert "<span" not in html and 'class="footnote-ref"' in html


@pytest.mark.parametrize("piece", ["[a]{.b", "[a]{.b} ", "[", "[a]{% ", "[[a]{.b}", "[a]{b="])
def test_spans_are_found_in_linear_time(piece: str) -> None:
    before = processor_seconds()
    markdown_parser().render(piece * 2_000)
    assert processor_seconds() - before < 5
