"""Figures are put into the page of relevance where it has a place for them, and nowhere else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bench.page import with_figures

PAGE = (
    "# Title\n\n<!-- figures:lists -->\nold | table\n<!-- end -->\n\nprose\n\n<!-- figures:sizes -->\n"
    "<!-- end -->\n"
)
DOCS = Path(__file__).resolve().parents[3] / "docs"


def test_only_what_stands_between_the_markers_changes() -> None:
    written = with_figures(PAGE, {"lists": "| new \\1 |"})
    assert "| new \\1 |" in written and "old" not in written
    assert written.replace("\n| new \\1 |\n\n", "old | table\n") == PAGE


def test_writing_the_same_figures_again_changes_nothing() -> None:
    once = with_figures(PAGE, {"lists": "| a |", "sizes": "| b |"})
    assert with_figures(once, {"lists": "| a |", "sizes": "| b |"}) == once


def test_a_page_without_a_place_ends_the_run() -> None:
    with pytest.raises(SystemExit, match="the page has no place for options"):
        with_figures(PAGE, {"options": "| c |"})


def test_the_page_has_a_place_for_everything_that_is_measured() -> None:
    text = (DOCS / "relevance.md").read_text("utf-8")
    names = {
        "defaults", "baselines", "left-out", "static", "confidence", "lists", "fusion", "stages", "options",
    }  # fmt: skip
    assert set(re.findall("<!-- figures:([a-z-]+) -->", text)) == names
    assert with_figures(text, {name: f"| {name} |" for name in names}).count("<!-- end -->") == len(names)
