"""Runs of brackets cost time in proportion to their length; those that people write mean what they did."""

from __future__ import annotations

from itertools import count
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from mdit_py_plugins.footnote import footnote_plugin

from noctule.pipeline.parse.markdown.link_rules.brackets import bound_brackets, text_brackets
from tests.processor_time import processor_seconds

RUNS = {
    "open": "[" * 40_000,
    "wikilinks": "[[" * 20_000,
    "images": "![" * 20_000,
    "notes": "[^" * 20_000,
    "notes beside a footnote": "[^a]: x\n\n" + "[^" * 20_000,
    "notes that almost end": "[^a]: x\n\n" + "[^a" * 13_500 + "]",
    "inline notes": "^[" * 20_000,
    "callouts": "> [!" * 10_000,
    "closed at last": "[" * 20_000 + "]" * 20_000,
    "images in images": "![" * 6_500 + "](a)" * 6_500,
    "notes in notes": "^[" * 6_500 + "]" * 6_500,
    "words between": "[a " * 13_500 + "]",
}
# Unbounded, there are 100 for each character of the first, and the notes beside a footnote take minutes.
_MOST_STEPS_A_CHARACTER = 60
_LIMIT_S = 10.0


def parser(*, bounded: bool) -> MarkdownIt:
    md = MarkdownIt("commonmark", {"maxNesting": 100}).use(footnote_plugin)
    if bounded:
        bound_brackets(md)
    return md


@pytest.mark.parametrize("text", RUNS.values(), ids=RUNS)
def test_a_run_of_brackets_costs_time_in_proportion_to_its_length(text: str) -> None:
    md, steps, start = parser(bounded=True), count(), processor_seconds()
    skip = md.inline.skipToken
    with patch.object(md.inline, "skipToken", lambda state: (next(steps), skip(state))):
        md.render(text)
    assert next(steps) <= _MOST_STEPS_A_CHARACTER * len(text)
    assert processor_seconds() - start < _LIMIT_S


@pytest.mark.parametrize(
    "text",
    [
        "[a](b.md) and [c][d]\n\n[d]: e.md",
        "[the `[` operator](a.md), [`]`](b.md), [\\[](c.md)",
        "[![alt [x]](a.png)](b.md)",
        "[a [b [c [d] e] f] g](h.md)",
        "x[^1] and ^[a note with [a link](b.md)]\n\n[^1]: a note",
        "[0, 1) and [2, 3) and then [a](b.md)",
        "[" * 60 + " then [a](b.md)",
    ],
)
def test_brackets_that_people_write_mean_what_they_did(text: str) -> None:
    assert parser(bounded=True).render(text) == parser(bounded=False).render(text)


@given(st.text("[]!^a(`\\) \n", max_size=60))
def test_short_texts_mean_what_they_did(text: str) -> None:
    assert parser(bounded=True).render(text) == parser(bounded=False).render(text)


def test_brackets_that_are_text() -> None:
    assert text_brackets("[a] [b") == frozenset()
    assert text_brackets("[" * 11 + "]" * 11) == {10}
    assert text_brackets("[" * 2_000) == {*range(2_000)}
    assert text_brackets("[" * 1_000) == frozenset()
    assert text_brackets("[[[" + "x" * 1_000_000 + "]]]") == {2}
