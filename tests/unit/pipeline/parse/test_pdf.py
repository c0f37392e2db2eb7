"""A PDF is a document with a section for each page; one that cannot be read costs itself and says why."""

from __future__ import annotations

import importlib.util

import pytest

from noctule.pipeline.errors import RejectedDocument
from noctule.pipeline.identity import sha256_hex
from noctule.pipeline.model import Document, Source
from noctule.pipeline.parse import parse
from noctule.pipeline.settings.collection import Collection
from tests.office_files import pdf_of


def read(content: bytes, path: str = "files/the manual.pdf") -> Document:
    return parse(Source("c", path, content, sha256_hex(content)), Collection(root="unused"))


PAGES = [["Owls of the north", "They hunt at night."], [], ["Owls rest by day, and a line that is long"]]


def test_each_page_is_a_section_named_as_viewers_name_it_and_leads_to_the_file() -> None:
    document = read(pdf_of(PAGES))
    assert [(each.text, each.anchor) for each in document.headings] == [
        ("Page 1", "page=1"),
        ("Page 3", "page=3"),
    ]
    assert [link.target for link in document.links] == ["the%20manual.pdf#page=1", "the%20manual.pdf#page=3"]
    assert "They hunt at night." in document.text and document.syntax == "html"


def test_the_title_is_that_of_the_metadata_or_the_first_line() -> None:
    assert read(pdf_of(PAGES)).title == "Owls of the north"
    named = read(pdf_of(PAGES, information="/Title (Owls) /Author (Ann) /ModDate (D:20260203101112Z)"))
    assert (named.title, named.author, named.modified) == ("Owls", "Ann", "2026-02-03")


@pytest.mark.parametrize(
    ("given", "title"),
    [
        ("untitled", "Owls of the north"),
        ("Document1", "Owls of the north"),
        ("PowerPoint Presentation", "Owls of the north"),
        ("Microsoft Word - Owls v2.docx", "Owls v2"),
        ("Titles of owls", "Titles of owls"),
        ("1984", "Owls of the north"),
    ],
)
def test_a_title_that_a_program_put_there_is_none(given: str, title: str) -> None:
    assert read(pdf_of(PAGES, information=f"/Title ({given})")).title == title


def test_a_running_head_stands_once_and_page_numbers_nowhere() -> None:
    pages = [["The barn", f"Page {n}", f"Chapter {n}", f"Text of {n}.", f"{n} / 3"] for n in (1, 2, 3)]
    assert [block.text for block in read(pdf_of(pages)).blocks] == [
        "The barn Chapter 1 Text of 1.", "Chapter 2 Text of 2.", "Chapter 3 Text of 3.",
    ]  # fmt: skip
    assert "The barn" in read(pdf_of(pages[:2])).blocks[-1].text


def test_markup_in_a_pdf_is_text() -> None:
    document = read(pdf_of([["<script>alert(1)</script> is written here"]]))
    assert "<script>alert(1)</script>" in document.text
    assert "<script" not in document.html


def test_lines_of_a_paragraph_are_joined() -> None:
    lines = [
        "A line that goes on for quite a while",
        "and another that is as long as the first",
        "ends here.",
    ]
    document = read(pdf_of([lines]))
    assert [block.text for block in document.blocks] == [" ".join(lines)]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (pdf_of([[], []]), "the PDF has no text layer: its pages are pictures"),
        (pdf_of(PAGES, encrypted=True), "the PDF is encrypted"),
        (b"%PDF-1.7 and no more", "the PDF cannot be read"),
        (b"", "the PDF cannot be read"),
    ],
)
def test_what_cannot_be_read_says_why(content: bytes, reason: str) -> None:
    with pytest.raises(RejectedDocument, match=reason):
        read(content)


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noctule.pipeline.parse.pdf.find_spec", lambda name: None)
    with pytest.raises(RejectedDocument, match=r"install noctule\[pdf\]"):
        read(pdf_of(PAGES))
    assert importlib.util.find_spec("pypdfium2")
