"""Inline markup of reStructuredText that never ends costs linear time, and stays as text."""

from __future__ import annotations

import time
from contextlib import nullcontext

import pytest
from docutils.transforms import references

from noctule.pipeline.parse.rst import parser
from noctule.pipeline.parse.rst.parser import rst_page
from noctule.pipeline.parse.rst.transforms import TRANSFORMS, NamesOfElements
from tests.processor_time import processor_seconds

_STARTS = ["*a ", "**a ", "`a ", "``a ", "|a ", "_`a ", ":r:`a "]


@pytest.mark.timeout(120)
@pytest.mark.parametrize("start", _STARTS)
def test_starts_without_an_end_cost_seconds_and_are_text(start: str) -> None:
    before = processor_seconds()
    html = rst_page(start * (200_000 // len(start)), "test").html
    assert processor_seconds() - before < 20
    assert html.count("a") >= 200_000 // len(start)


def test_markup_that_ends_is_read_in_a_long_paragraph_and_after_many_false_starts() -> None:
    html = rst_page("a *b* ``c`` " * 3_000 + "\n\n" + "2 *a " * 200 + "\n\nThen *this*.\n", "test").html
    assert html.count("<em>b</em>") == 3_000
    assert "<em>this</em>" in html


_NOWHERE = {
    "anonymous": "`a`__ ",
    "numbered": "[#]_ ",
    "signs": "[*]_ ",
    "labelled": "[#a]_ ",
    "indirect": "a_ ",
}


@pytest.mark.timeout(120)
@pytest.mark.parametrize("kind", _NOWHERE)
def test_references_in_one_paragraph_that_lead_nowhere_cost_time_in_proportion(kind: str) -> None:
    head, seconds = ".. _a: b_\n\n" if kind == "indirect" else "", list[float]()
    for times in (2_500, 10_000):
        began = time.process_time()
        html = rst_page(head + _NOWHERE[kind] * times, "test").html
        seconds.append(time.process_time() - began)
        assert len(html) > 2 * times
    assert seconds[1] < 9 * seconds[0]  # docutils takes sixteen times as long


@pytest.mark.parametrize(
    "text", [f"{one}x {one}{two}\n\n- {two}\n" for one in _NOWHERE.values() for two in _NOWHERE.values()]
)
def test_what_leads_nowhere_is_shown_as_docutils_has_it(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = rst_page(f".. _a: b_\n\n{text}", "test").html
    monkeypatch.setattr(parser, "_in_linear_time", nullcontext)
    assert found == rst_page(f".. _a: b_\n\n{text}", "test").html


def test_past_the_budget_the_rest_is_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser, "_MAX_STEPS", 100)
    html = rst_page("|a " * 50 + "and *this*.\n\nThen *that*.\n", "test").html
    assert "and *this*." in html and "*that*" in html


@pytest.mark.parametrize(
    "text",
    [
        ".. _a:\n.. _b:\n\nText, see a_ and b_.\n",
        ".. _a:\n\n.. _b: https://example.org/\n\nSee a_.\n",
        ".. _a:\n\n.. a comment\n\nText of a_.\n",
        ".. _a:\n\nT\n=\n\n.. _b:\n\n.. figure:: c.png\n\n   .. _c:\n\n   Caption, b_, c_.\n",
        "__ \n\n.. _a:\n\n- one a_ `x`__\n",
        ".. _a:\n\n.. [#n] A note, a_ [#n]_.\n",
        ".. _a:\n\n.. _a:\n\nTwice: a_.\n\n.. _end:\n",
    ],
)
def test_names_before_an_element_are_its_own_as_docutils_has_it(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = rst_page(text, "x").html
    theirs = tuple(references.PropagateTargets if each is NamesOfElements else each for each in TRANSFORMS)
    assert theirs != TRANSFORMS
    monkeypatch.setattr("noctule.pipeline.parse.rst.parser.TRANSFORMS", theirs)
    assert found == rst_page(text, "x").html


def test_thousands_of_names_before_an_element_cost_time_in_proportion() -> None:
    began = processor_seconds()
    rst_page("".join(f".. _a{at}:\n" for at in range(8_000)) + "\nText.\n", "x")
    assert processor_seconds() - began < 6


def test_a_section_keeps_the_name_that_a_link_to_it_has_too() -> None:
    html = rst_page("See `The owl <#the-owl>`_.\n\nThe owl\n-------\n\nHoots.\n", "test").html
    assert '<a href="#the-owl">The owl</a>' in html and '<h1 id="the-owl">' in html
