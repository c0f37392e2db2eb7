"""Paragraphs and quotes with a class of a theme of Jekyll are callouts."""

from __future__ import annotations

import pytest

from noctule.pipeline.includes.expand import IncludedFile, NotIncluded, expand
from noctule.pipeline.includes.project import Context, Project
from tests.processor_time import processor_seconds
from tests.site_builder import content_of

CALLOUTS = {"new": {"title": "New", "color": "green"}, "highlight": {"color": "yellow"}, "x": "y"}


def expanded(text: str) -> str:
    def find(_target: str, _included_by: str) -> IncludedFile:
        raise NotIncluded("there is no such file")

    project = Project("/docs", frozenset({"jekyll"}), {"callouts": CALLOUTS})
    return expand(text, "/docs/a.md", find, 1_000_000, Context(project, path="/docs/a.md")).text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("{: .note }\na\nb\n\nc\n", "> [!note]\n> a\n> b\n\nc\n"),
        ("a\n\nb\nc\n{:.tip}\n\nd\n", "a\n\n> [!tip]\n> b\n> c\n\n\nd\n"),
        ("a\n{: .warning }\nb\n", "> [!warning]\n> a\n\nb\n"),
        ("{: .important-title }\n> T *x*\n>\n> a\n", "> [!important] T *x*\n>\n> a\n"),
        ("> a\n> b\n{: .prompt-danger }\n", "> [!danger]\n> a\n> b\n\n"),
        ("a\n{: .notice--info}\n\nb\n{: .notice}\n", "> [!info]\n> a\n\n\n> [!note]\n> b\n\n"),
        ("{: .fs-3 .new }\na\n", "> [!tip] New\n> a\n"),
        ("{: .highlight }\na\n", "{: .highlight }\na\n"),
        ("{: .x }\na\n", "{: .x }\na\n"),
        ("- a\n{: .note }\n", "- a\n{: .note }\n"),
        ("# A\n{: .note }\n", "# A\n{: .note }\n"),
        ("{: .note }\n\na\n", "{: .note }\n\na\n"),
        ("```\na\n{: .note }\n```\n", "```\na\n{: .note }\n```\n"),
        ("```\na\n```\n{: .note }\n", "```\na\n```\n{: .note }\n"),
        ("1. a\n\n   b\n   c\n   {: .tip }\n", "1. a\n\n   > [!tip]\n   > b\n   > c\n\n"),
        ("a\n\n    b\n    {: .note }\n", "a\n\n    b\n    {: .note }\n"),
        ("A\n===\n{: .note }\n", "A\n===\n{: .note }\n"),
        ("---\n{: .note }\n", "---\n{: .note }\n"),
        ("---\na: b\n---\n{: .note }\na\n", "---\na: b\n---\n> [!note]\n> a\n"),
    ],
)
def test_a_class_of_a_box_makes_a_callout_of_its_block(text: str, shown: str) -> None:
    assert expanded(text) == shown


def test_the_page_shows_a_callout() -> None:
    page = content_of(expanded("{: .note-title }\n> My *title*\n>\n> Body.\n"))
    assert '<blockquote class="callout callout-note">' in page
    assert "My <em>title</em></p>\n<p>Body.</p>" in page


@pytest.mark.parametrize(
    "piece",
    [
        "{: .note }\n",
        "a\n{: .note }\n",
        "- a\n{: .note }\n",
        "{: .note }\n\n",
        "a\n",
        "{: .aaaa",
        "{: .note }\na\n",
    ],
)
def test_a_long_text_costs_time_in_proportion_to_its_length(piece: str) -> None:
    start = processor_seconds()
    expanded("{: .note }\n" + (piece * 60_000)[:100_000])
    assert processor_seconds() - start < 4
