"""Acronyms: what texts define is found, and what only looks like a definition is not."""

from __future__ import annotations

import pytest

from noctule.pipeline.vocabulary.acronyms import Acronym, learn, merge
from tests.processor_time import processor_seconds


def _found(text: str) -> list[tuple[str, str]]:
    return [(each.acronym, each.expansion) for each in merge(learn([text]))]


@pytest.mark.parametrize(
    ("text", "acronym", "expansion"),
    [
        ("We use Single Sign-On (SSO) here.", "SSO", "Single Sign-On"),
        ("SSO (Single Sign-On) is used.", "SSO", "Single Sign-On"),
        ("the document object model (DOM)", "DOM", "document object model"),
        ("HTML (HyperText Markup Language)", "HTML", "HyperText Markup Language"),
        ("Hypertext Markup Language (HTML)", "HTML", "Hypertext Markup Language"),
        ("JavaScript Object Notation (JSON)", "JSON", "JavaScript Object Notation"),
        ("Extensible Markup Language (XML)", "XML", "Extensible Markup Language"),
        ("Web Real-Time Communication (WebRTC)", "WebRTC", "Web Real-Time Communication"),
        ("certificates of a certificate authority (CA)", "CA", "certificate authority"),
        ("a flash of unstyled text (FOUT) is seen", "FOUT", "flash of unstyled text"),
        ("application programming interfaces (APIs)", "API", "application programming interface"),
        ("service-level policies (SLPs)", "SLP", "service-level policy"),
        ("CSS (Cascading Style Sheets, level 3)", "CSS", "Cascading Style Sheets"),
        ("Allgemeine Gesch\u00e4ftsbedingungen (AG)", "AG", "Allgemeine Gesch\u00e4ftsbedingungen"),
    ],
)
def test_a_definition_is_found(text: str, acronym: str, expansion: str) -> None:
    assert _found(text) == [(acronym, expansion)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "call foo(BAR) or the function (ARGS)",
        "the document (DOM)",
        "in the second part (II) we",
        "Single Sign-On. (SSO)",
        "see the note (see below) and the page (page)",
        "GIF (GIF89a)",
        "the HTTP protocol of today (HTTP)",
        "an unrelated long phrase about nothing (XYZ)",
        "very old security of strength (SSO)",
        "a (B) c (D)",
        "(ABC)",
        "letters in the wrong order (OLD)",
        "x" * 10_000 + " (XX)",
    ],
)
def test_what_only_looks_like_one_is_left(text: str) -> None:
    assert _found(text) == []


def test_documents_are_counted_once_and_the_commonest_spelling_is_kept() -> None:
    texts = [
        "Write-Ahead Log (WAL). Again: write-ahead log (WAL).",
        "write-ahead log (WAL)",
        "write ahead logs (WAL)",
        "A web application list (WAL).",
    ]
    assert merge(learn(texts)) == (
        Acronym("WAL", "write-ahead log", 3),
        Acronym("WAL", "web application list", 1),
    )


def test_batches_together_know_what_all_texts_together_do() -> None:
    texts = [
        "Single Sign-On (SSO)",
        "single sign-on (SSO)",
        "single sign-on (SSO)",
        "DOM (Document Object Model)",
    ]
    whole = merge(learn(texts))
    assert merge([*learn(texts[2:]), *learn(texts[:2])]) == whole
    assert [each.documents for each in whole] == [1, 3]


def test_many_brackets_take_little_time() -> None:
    begun = processor_seconds()
    (found,) = learn(["Aa Bb " * 50 + "(AB) " * 20_000])
    assert (found.acronym, found.documents) == ("AB", 1)
    assert processor_seconds() - begun < 5
