from __future__ import annotations

import json

import pytest

from noctule.pipeline.errors import DraftDocument, RejectedDocument
from noctule.pipeline.identity import sha256_hex
from noctule.pipeline.model import Document, Source
from noctule.pipeline.parse import parse
from noctule.pipeline.settings.collection import Collection, Rule


def read(content: bytes, path: str = "x.md", rules: tuple[Rule, ...] = ()) -> Document:
    return parse(Source("c", path, content, sha256_hex(content)), Collection(root="unused", rules=rules))


def test_marks_and_newlines_are_normalised() -> None:
    assert read(b"\xef\xbb\xbf# A\r\n\rb\n").text == "# A\n\nb\n"
    assert read("# Ä\r\n".encode("utf-16")).text == "# Ä\n"


def test_a_document_without_a_title_is_called_like_its_file_or_an_index_like_its_folder() -> None:
    paths = ("a/owls.html", "a/index.html", "README.md", "a/b/_index.md")
    assert [read(b"<p>x</p>\n", path).title for path in paths] == ["owls", "a", "c", "b"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"ab\xff", "not UTF-8: byte 0xff at offset 2"),
        (b"a\xed\xa0\x80", "not UTF-8: byte 0xed at offset 1"),
        (b"a\0b", "NUL character at offset 1"),
        (b"\xff\xfea", "not UTF-16"),
    ],
)
def test_bytes_that_are_no_text_are_rejected(content: bytes, reason: str) -> None:
    with pytest.raises(RejectedDocument, match=reason):
        read(content)


@pytest.mark.parametrize(
    ("path", "head", "encoding"),
    [
        ("a.html", '<meta charset="ISO-8859-1"><p>', "cp1252"),
        ("a.html", '<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS"><p>', "shift_jis"),
        ("a.xhtml", '<?xml version="1.0" encoding="koi8-r"?><p>', "koi8-r"),
        ("a.rst", ".. -*- coding: windows-1252 -*-\n\n", "cp1252"),
    ],
)
def test_what_a_file_declares_is_read(path: str, head: str, encoding: str) -> None:
    word = {"shift_jis": "梟の夜", "koi8-r": "сова"}.get(encoding, "Käuzchen – “owl”")
    assert word in read(f"{head}{word}\n".encode(encoding), path=path).text
    assert read(f"# {word}\n".encode(), path="a.md").title == word
    with pytest.raises(RejectedDocument, match="not UTF-8"):
        read(f"# {word}\n".encode(encoding), path="a.md")


def test_the_owner_says_what_undeclared_files_are() -> None:
    content = "# Käuzchen\n".encode("cp1252")
    source = Source("c", "a.md", content, sha256_hex(content))
    assert parse(source, Collection(root="unused", encoding="windows-1252")).title == "Käuzchen"
    wrong = Source("c", "a.md", b"# K\x81\n", sha256_hex(b"# K\x81\n"))
    with pytest.raises(RejectedDocument, match="neither UTF-8 nor cp1252: byte 0x81 at offset 3"):
        parse(wrong, Collection(root="unused", encoding="windows-1252"))
    with pytest.raises(ValueError, match="not an encoding of text"):
        Collection(root="unused", encoding="base64")


def test_rules_spare_the_front_matter() -> None:
    document = read(b"---\ntitle: a\n---\na\n", rules=(Rule(pattern="a", replacement="bb"),))
    assert document.text == "---\ntitle: a\n---\nbb\n"
    assert document.title == "a"


def test_a_rule_with_a_wrong_replacement_rejects_the_document() -> None:
    with pytest.raises(RejectedDocument, match="the parser failed"):
        read(b"a", rules=(Rule(pattern="a", replacement=r"\9"),))


def test_plain_text_is_paragraphs() -> None:
    document = read(b"# one\ntwo\n\n \n  three\n", path="folder/notes.txt")
    assert document.title == "notes"
    assert document.headings == ()
    assert [b.text for b in document.blocks] == ["# one\ntwo", "three"]
    assert [document.text[b.start : b.end] for b in document.blocks] == ["# one\ntwo\n", "  three\n"]


def test_the_documents_date_is_the_sources_or_the_front_matters() -> None:
    content = b"---\ndate: 2020-01-01\n---\n"
    source = Source("c", "x.md", content, sha256_hex(content), modified="2021-01-01")
    assert parse(source, Collection(root="unused")).modified == "2021-01-01"
    assert read(content).modified == "2020-01-01"


_DRAFT = "---\ntitle: Secret\ndraft: true\n---\n"
_CELLS = [{"cell_type": "raw", "source": _DRAFT}, {"cell_type": "markdown", "source": "Owls"}]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("x.md", f"{_DRAFT}Owls\n"),
        ("x.mdx", f"{_DRAFT}<Note>Owls</Note>\n"),
        ("x.html", f"{_DRAFT}<p>Owls</p>\n"),
        ("x.ipynb", json.dumps({"nbformat": 4, "metadata": {}, "cells": _CELLS})),
    ],
)
def test_a_draft_of_any_format_is_left_out_unless_drafts_are_wanted(path: str, text: str) -> None:
    source = Source("c", path, text.encode(), sha256_hex(text.encode()))
    with pytest.raises(DraftDocument, match=r"is a draft \(draft: true\)"):
        parse(source, Collection(root="unused"))
    assert parse(source, Collection(root="unused", drafts=True)).title == "Secret"
