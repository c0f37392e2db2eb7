"""Stop words: ignored in sentences, kept in names, the same in Python and SQL."""

from __future__ import annotations

import duckdb
import pytest

from noctule.artifacts.sql.catalog import catalog
from noctule.pipeline.lexical.stop_words import question_words, stop_words, without_stop_words
from tests.stop_word_queries import STOP_WORD_QUERIES


@pytest.mark.parametrize(("text", "left"), STOP_WORD_QUERIES)
def test_a_sentence_loses_them_and_a_name_keeps_them(text: str, left: str) -> None:
    assert without_stop_words(text, ("en",)) == left


def test_every_language_has_its_own() -> None:
    assert without_stop_words("wie baue ich einen Index", ("de",)) == "baue Index"
    assert without_stop_words("wie baue ich einen Index", ("en",)) == "wie baue ich einen Index"
    assert without_stop_words("how do I warte die Anlage", ("en", "de")) == "warte Anlage"
    assert stop_words("en-US") == stop_words("en")
    assert stop_words("ja") == frozenset()


def test_a_question_may_be_about_one_word_in_every_language() -> None:
    assert without_stop_words("was ist ein Wiki?", ("de",)) == "Wiki?"
    assert without_stop_words("was ist ein Wiki?", ("fr",)) == "was ist ein Wiki?"
    assert question_words("ja") == frozenset()


def test_sql_ignores_the_same() -> None:
    connection = duckdb.connect()
    connection.execute("create table surfaces (surface varchar, language varchar, terms varchar[])")
    connection.execute(catalog(8, ("en",), ("english", "folding", "terms")))
    for text, left in STOP_WORD_QUERIES:
        assert connection.execute("select without_stop_words($1)", [text]).fetchone() == (left,)
