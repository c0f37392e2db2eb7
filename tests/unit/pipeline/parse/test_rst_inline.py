"""Inline markup of reStructuredText that never ends costs linear time, and stays as text."""

from __future__ import annotations

import time

import pytest

from noctule.pipeline.parse.rst import parser
from noctule.pipeline.parse.rst.parser import rst_html

_STARTS = ["*a ", "**a ", "`a ", "``a ", "|a ", "_`a ", ":r:`a "]


@pytest.mark.timeout(120)
@pytest.mark.parametrize("start", _STARTS)
def test_starts_without_an_end_cost_seconds_and_are_text(start: str) -> None:
    before = time.process_time()
    html = rst_html(start * (200_000 // len(start)), "test")
    assert time.process_time() - before < 20
    assert html.count("a") >= 200_000 // len(start)


def test_markup_that_ends_is_read_in_a_long_paragraph_and_after_many_false_starts() -> None:
    html = rst_html("a *b* ``c`` " * 3_000 + "\n\n" + "2 *a " * 200 + "\n\nThen *this*.\n", "test")
    assert html.count("<em>b</em>") == 3_000
    assert "<em>this</em>" in html


def test_past_the_budget_the_rest_is_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser, "_MAX_STEPS", 100)
    html = rst_html("|a " * 50 + "and *this*.\n\nThen *that*.\n", "test")
    assert "and *this*." in html and "*that*" in html
