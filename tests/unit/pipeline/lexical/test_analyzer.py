"""The analyzer keeps what people search for."""

from __future__ import annotations

import pytest

from noctule.pipeline.lexical.analyzer import (
    code_analyzer,
    fold,
    matches,
    prose_analyzer,
    query_terms,
    terms,
    without_accents,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("C++ and c# beat F#", ["c++", "and", "c#", "beat", "f#"]),
        ("node.js runs", ["node.js", "node", "js", "run"]),
        ("get_user_by_id()", ["get_user_by_id", "get", "user", "by", "id"]),
        ("Users' naïve cafés", ["user", "naiv", "cafe"]),
        ("日本語検索", ["日本", "本語", "語検", "検索"]),
        ("日", ["日"]),
        ("version 3.11", ["version", "3.11", "3", "11"]),
        ("don't", ["don't"]),
        ("''' ((( !!! ???", []),
    ],
)
def test_english_prose_becomes_these_terms(text: str, expected: list[str]) -> None:
    assert terms(prose_analyzer("en"), text) == expected


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        ("getUserById", ["getuserbyid", "get", "user", "by", "id"]),
        ("parse_json_data", ["parse_json_data", "parse", "json", "data"]),
        ("HTTPResponseError", ["httpresponseerror", "http", "response", "error"]),
        ("sha256", ["sha256", "sha", "256"]),
        ("utf8Decode", ["utf8decode", "utf", "8", "decode"]),
        ("__init__", ["init"]),
        ("x86", ["x86", "x", "86"]),
    ],
)
def test_an_identifier_is_kept_whole_and_split(token: str, expected: list[str]) -> None:
    assert terms(code_analyzer(), token) == expected


def test_stemming_follows_the_language_and_unknown_languages_are_left_alone() -> None:
    assert terms(prose_analyzer("de"), "Häuser") == ["haus"]
    assert terms(prose_analyzer("xx"), "houses") == ["houses"]
    assert prose_analyzer("en-US") is not None and terms(prose_analyzer("en-US"), "houses") == ["hous"]


def test_a_query_asks_in_every_language_of_the_index_each_term_once() -> None:
    assert query_terms("houses houses", ["en", "und"]) == ["hous", "houses"]


def test_matches_are_offsets_into_the_text_as_written() -> None:
    text = "İstanbul: Searching, then SEARCHED."
    assert [text[a:b] for a, b in matches(text, {"search"}, ["en"])] == ["Searching", "SEARCHED"]


def test_accents_go_and_what_distinguishes_words_stays() -> None:
    assert without_accents(fold("ガ")) == "ガ"
    assert without_accents(fold("Éa")) == "ea"
    assert terms(prose_analyzer("hi"), "कुल") != terms(prose_analyzer("hi"), "कल")
    assert len(terms(prose_analyzer("hi"), "नाम")) == 1
    assert terms(prose_analyzer("ru"), "новый") == terms(prose_analyzer("ru"), "нового")
    assert terms(prose_analyzer("fr"), "élèves") == terms(prose_analyzer("fr"), "eleves")


@pytest.mark.parametrize("text", ["_", "___", "__ _", "…", "\u0301"])
def test_no_token_becomes_an_empty_term(text: str) -> None:
    assert terms(prose_analyzer("en"), text) == []
