"""Directives that docutils refuses: their text is kept, an odd option costs nothing but itself."""

from __future__ import annotations

import pytest

from noctule.pipeline.directives import is_fault
from noctule.pipeline.identity import sha256_hex
from noctule.pipeline.model import Document, Source
from noctule.pipeline.parse import parse
from noctule.pipeline.settings.collection import Collection

CHANGES = """Changes
=======

.. changelog::
   :version: 1.2
   :released: May
   :released: June

   .. change::
      :tags: bug

      Owls fly.
"""
UNEVEN = ".. list-table::\n\n   * - Owl\n   * - Cat\n     - Mouse\n"


def read(text: str, path: str = "page.rst") -> Document:
    content = text.encode()
    return parse(Source("c", path, content, sha256_hex(content)), Collection(root="c"))


def test_of_options_named_alike_the_last_one_holds() -> None:
    page = read(CHANGES)
    assert [heading.text for heading in page.headings] == ["Changes", "1.2"]
    assert "Released: June" in page.text and "May" not in page.text and page.notes == ()


def test_options_without_a_space_are_options_and_no_text_is_lost() -> None:
    page = read(CHANGES.replace(":tags: bug", ":tags: bug\n      :tickets:`5`"))
    assert "References: #5" in page.text and page.notes == ()
    kept = read("Page\n====\n\n.. note::\n   :tags:`5`\n   of owls\n")
    assert "5 of owls" in kept.text and kept.notes == ()


@pytest.mark.parametrize(
    ("directive", "shown"),
    [
        (".. image:: owl.png\n   :loading-mode: later\n   :width: wide\n   :alt: An owl\n", 'alt="An owl"'),
        (".. list-table::\n   :header-rows: one\n\n   * - Owl\n     - Cat\n", "<td>Owl</td>"),
        (".. code:: python\n   :frame: box\n\n   owl = 1\n", "owl = 1"),
        (".. math::\n   :names: a\n\n   a^2\n", "a^2"),
    ],
)
def test_an_option_that_a_directive_does_not_know_is_left_out(directive: str, shown: str) -> None:
    page = read(f"Page\n====\n\n{directive}")
    assert shown in page.html.replace("<p>", "").replace("</p>", "")
    assert ".. " not in page.html and page.notes == ()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("page.rst", f"Page\n====\n\n{UNEVEN}"),
        ("page.md", f"# Page\n\nOwls.\n\n```{{eval-rst}}\n{UNEVEN}```\n"),
    ],
)
def test_a_directive_that_stands_as_code_is_a_remark_that_strict_sites_refuse(path: str, text: str) -> None:
    page = read(text, path)
    line = text.split("\n").index(".. list-table::") + 1
    assert page.notes == (f"line {line}: '.. list-table::' stands on the page as text",)
    assert is_fault(page.notes[0])


def test_an_example_of_a_directive_is_none() -> None:
    assert read("Page\n====\n\nWrite::\n\n   .. image::\n\nowl\n").notes == ()


def test_an_empty_option_costs_nothing_but_itself() -> None:
    assert "<p>b</p></td>" in read("Page\n====\n\n.. csv-table:: Owls\n   :delim:\n\n   a,b\n").html
