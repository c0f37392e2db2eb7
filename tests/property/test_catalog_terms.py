"""Whatever a query is made of, SQL and Python cut the same terms from it, and nothing of it is run."""

from __future__ import annotations

import unicodedata
from importlib.resources import files

import duckdb
from hypothesis import example, given, settings
from hypothesis import strategies as st

from noctule.pipeline.lexical.analyzer import code_analyzer, prose_analyzer
from tests.repetitions import examples

# What Python folds and the catalog leaves: Cherokee, squared and circled words, radicals, presentation forms.
RARE = (range(0x13A0, 0x1400), range(0x2A00, 0x3400), range(0xFB07, 0xFF00))


def _opened() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute("create table surfaces (surface varchar, language varchar, terms varchar[])")
    for part in ("english", "folding", "terms"):
        sql = (files("noctule.artifacts.sql") / f"{part}.sql").read_text("ascii")
        connection.execute(
            sql.replace("{languages}", "'en'").replace("{stop_words}", "").replace("{question_words}", "")
        )
    return connection


CONNECTION = _opened()


def _known_alike(letter: str) -> bool:
    """Whether every Unicode table of today has the character, and the catalog unifies it."""
    category = unicodedata.ucd_3_2_0.category(letter)
    if category in ("Cn", "Co", "Cs") or any(ord(letter) in block for block in RARE):
        return False
    # Python lowers a capital sigma by what stands beside it, and takes the numbers of Ethiopia for digits.
    return letter != "\u03a3" and not (letter.isdigit() and category == "No")


LETTERS = st.one_of(
    st.sampled_from("abcsteyXYZ019_.'\u2019+#$-\"; \t\n\x00"),
    st.characters(max_codepoint=0x2FFF, exclude_categories=["Cs"]).filter(_known_alike),
    st.characters(min_codepoint=0x3400, max_codepoint=0x2FFFF, exclude_categories=["Cs"]).filter(
        _known_alike
    ),
)


@settings(max_examples=examples(75))
@given(st.text(LETTERS, max_size=80))
@example("an accent alone: \u0301 and _\u0301.\u0301")
def test_prose_terms_are_the_same(text: str) -> None:
    analyzer = prose_analyzer("en")
    expected = {(token, term) for token in analyzer.tokens(text) for term in analyzer.expand(token)}
    assert set(CONNECTION.execute("from query_terms($1)", [text]).fetchall()) == expected


@settings(max_examples=examples(75))
@given(st.text(LETTERS, max_size=80))
def test_code_terms_are_the_same(text: str) -> None:
    analyzer = code_analyzer()
    expected = {(token, term) for token in analyzer.tokens(text) for term in analyzer.expand(token)}
    assert set(CONNECTION.execute("from code_query_terms($1)", [text]).fetchall()) == expected


@settings(max_examples=examples(50))
@given(st.text(max_size=200))
def test_any_text_is_only_a_text(text: str) -> None:
    CONNECTION.execute("from query_terms($1)", [text]).fetchall()
    assert CONNECTION.execute("select count(*) from surfaces").fetchall() == [(0,)]
