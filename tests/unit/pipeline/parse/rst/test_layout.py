from __future__ import annotations

import pytest

from noctule.pipeline.parse.rst.parser import rst_page
from tests.processor_time import processor_seconds

from ..test_rst import read


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        ("1.", "<ol>"),
        ("3.", '<ol start="3">'),
        ("b)", '<ol start="2" type="a">'),
        ("IV.", '<ol start="4" type="I">'),
    ],
)
def test_a_numbered_list_begins_where_it_says(first: str, expected: str) -> None:
    assert expected in rst_page(f"{first} owl\n\nend\n", "w").html
    document = read(f"{first} owl\n\nend\n")
    assert expected in document.html


@pytest.mark.parametrize("directive", ["only:: not is_release", "only:: html", "ifconfig:: x == 1"])
@pytest.mark.parametrize(("underline", "level"), [("~", 3), ("-", 2)])
def test_titles_in_a_condition_are_headings_beside_those_underlined_alike(
    directive: str, underline: str, level: int
) -> None:
    text = (
        f"Owls\n====\n\nBefore\n------\n\n.. {directive}\n\n   Next\n   {underline * 4}\n\n   a\n\n"
        "After\n-----\n\nb\n"
    )
    found = [(heading.level, heading.text) for heading in read(text).headings]
    assert found == [(1, "Owls"), (2, "Before"), (level, "Next"), (2, "After")]


def test_titles_for_other_builders_are_left_out() -> None:
    text = "Owls\n====\n\n.. only:: latex\n\n   Next\n   ----\n\nPart\n----\n"
    assert [heading.text for heading in read(text).headings] == ["Owls", "Part"]


def test_terms_of_a_glossary_have_the_anchors_of_sphinx() -> None:
    page = read("G\n=\n\n.. glossary::\n\n   Night owl\n      Flies.\n\n   C++\n      A language.\n")
    assert [each for each in page.anchors if each.startswith("term-")] == ["term-Night-owl"]


def test_no_anchor_of_sphinx_is_that_of_a_heading_too() -> None:
    described = ".. py:module:: wings\n\n.. glossary::\n\n   owl\n      Flies.\n"
    page = rst_page(f"G\n=\n\nModule wings\n------------\n\n{described}\nTerm owl\n--------\n\nText.\n", "a")
    assert [page.html.count(f'id="{name}"') for name in ("module-wings", "term-owl", "py:wings")] == [1, 1, 1]


def test_drafts_of_towncrier_are_no_text() -> None:
    assert read("Owls\n====\n\n.. towncrier-draft-entries:: |release| [DRAFT]\n").text == "Owls\n\n"
    of_myst = read("# Owls\n\n```{towncrier-draft-entries} main\n```\n", "page.md")
    assert not of_myst.blocks and not of_myst.notes


def test_a_changelog_has_a_section_for_each_version_with_tags_and_tickets() -> None:
    document = read(
        "Owls\n====\n\n.. changelog::\n   :version: 1.3.24\n   :released: March 30, 2021\n\n"
        "   .. change::\n      :tags: bug, sql\n      :tickets: 6182, 6183\n\n      Fixed *x*.\n"
    )
    assert [(each.level, each.text) for each in document.headings] == [(1, "Owls"), (2, "1.3.24")]
    assert document.headings[1].anchor == "change-1.3.24"
    assert [block.text for block in document.blocks] == [
        "Released: March 30, 2021",
        "- [bug] [sql]",
        "Fixed x.",
        "References: #6182, #6183",
    ]


def test_a_changelog_of_no_version_is_its_content() -> None:
    assert read("Owls\n====\n\n.. changelog::\n\n   Hoots.\n").text == "Owls\n\nHoots.\n\n"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("* :ref:`genindex`\n* :ref:`modindex`\n* :ref:`search`\n", ["Owls"]),
        ("* :ref:`genindex`\n* Owls\n", ["Owls", "Indices and tables", "<li>"]),
        (
            "See :ref:`genindex`.\n\n* :ref:`all names <genindex>`\n",
            ["Owls", "Indices and tables", "See Index.", "<li>"],
        ),
        ("* :ref:`search`\n", ["Owls", "Indices and tables", "<li>"]),
        ("1. :ref:`genindex`\n", ["Owls"]),
        (".. _genindex:\n\nMine.\n\n* :ref:`genindex`\n", ["Owls", "Indices and tables", "<li>"]),
        ("* :ref:`genindex`\n\n  .. image:: owl.png\n", ["Owls", "Indices and tables", "<li>"]),
    ],
)
def test_pages_that_only_sphinx_makes_are_in_no_list(text: str, left: list[str]) -> None:
    html = rst_page(f"Owls\n====\n\nFly.\n\nIndices and tables\n------------------\n\n{text}", "w").html
    assert [each for each in ("Owls", "Indices and tables", "See Index.", "<li>") if each in html] == left
    assert html.count("<li>") == ("<li>" in left)


def test_sections_of_such_pages_are_left_out_beside_others_alone() -> None:
    indices = "Indices\n=======\n\n* :ref:`genindex`\n"
    assert "Indices" not in rst_page(f"Owls\n====\n\nFly.\n\n{indices}", "w").html
    assert "Indices" in rst_page(indices, "w").html


def test_many_entries_of_such_pages_cost_time_in_proportion() -> None:
    seconds = list[float]()
    for times in (2_000, 8_000):
        began = processor_seconds()
        rst_page("* x\n" * 2 * times + "* :ref:`genindex`\n" * times, "w")
        seconds.append(processor_seconds() - began)
    assert seconds[1] < 9 * seconds[0]
