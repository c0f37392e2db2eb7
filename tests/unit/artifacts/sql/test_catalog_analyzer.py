"""The analyzer in SQL against the one in Python: stems, folded characters, words and identifiers."""

from __future__ import annotations

import random
import unicodedata
from importlib.resources import files
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
import Stemmer

from noctule.pipeline.lexical.analyzer import code_analyzer, fold, prose_analyzer, without_accents

DOCS = Path(__file__).resolve().parents[4] / "docs"
# Read from a text, so that a line holds more of them.
SUFFIXES, BEGINNINGS = (
    tuple(text.split())
    for text in (
        "s es ed ing ly ness ful ation ational tional izer ization alism iveness ousli ousness ogist "
        "ogi lessli bli abli ity iti ment ement ance ence ant ent able ible ism ive ize ous al alli er ic "
        "ion tion sion ative icate iciti "
        "ical eed eedly edly ingly y ying ies ied 's s' ' ' 's' ll e ee bb tt past li fulli entli anci enci",
        "arsen commun emerg gener inter later organ past univers y yy ay dy by a e o b ' '' succ proc exc",
    )
)
# What Python folds and the catalog leaves: Cherokee, squared and circled words, radicals, presentation forms.
RARE = (range(0x13A0, 0x1400), range(0x2A00, 0x3400), range(0xFB07, 0xFF00))


@pytest.fixture(scope="module")
def connection() -> duckdb.DuckDBPyConnection:
    """Only the analyzer's part of the catalog, over a corpus of English that has no words of its own."""
    opened = duckdb.connect()
    opened.execute("create table surfaces (surface varchar, language varchar, terms varchar[])")
    for part in ("english", "folding", "terms"):
        sql = (files("noctule.artifacts.sql") / f"{part}.sql").read_text("ascii")
        opened.execute(
            sql.replace("{languages}", "'en'").replace("{stop_words}", "").replace("{question_words}", "")
        )
    return opened


def _words() -> list[str]:
    text = "\n".join(path.read_text("utf-8") for path in sorted(DOCS.rglob("*.md")))
    return sorted(set(prose_analyzer("en").tokens(text)))


def _inflected(words: list[str], count: int) -> list[str]:
    """Words with endings, likely or not, that the rules of the stemmer turn on."""
    chosen = random.Random(3)
    letters = "aeiouybdtlnsg'"
    made = {
        chosen.choice([*words, *BEGINNINGS * 20]) + "".join(chosen.choices(SUFFIXES, k=chosen.randint(0, 3)))
        for _ in range(count)
    }
    return sorted(
        made | {"".join(chosen.choices(letters, k=chosen.randint(1, 9))) for _ in range(count // 2)}
    )


def test_english_stems_are_those_of_the_stemmer(connection: duckdb.DuckDBPyConnection) -> None:
    words = _words()
    given = pa.table(
        {"word": words + _inflected(words, 30_000) + ["na\u00efvely", "skies", "dying", "gently"]}
    )
    stemmer = Stemmer.Stemmer("english")
    found = connection.execute("select distinct word, stem_english(word) from given").fetchall()
    assert len(found) > 30_000
    assert [(word, stem) for word, stem in found if stem != stemmer.stemWord(word)] == []
    assert given.num_rows  # DuckDB reads the variable by its name


def test_a_constant_word_is_stemmed_too(connection: duckdb.DuckDBPyConnection) -> None:
    # Merged into one expression, this took more than 20 GB.
    assert connection.execute("select stem_english('running')").fetchall() == [("run",)]


def test_characters_fold_as_in_python_but_for_forms_nobody_types(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    old = unicodedata.ucd_3_2_0  # characters that every Unicode table of today knows alike
    letters = [chr(code) for code in range(1, 0x30000) if old.category(chr(code)) not in ("Cn", "Co", "Cs")]
    given = pa.table({"letter": letters})
    found = dict(connection.execute("select letter, fold(letter) from given").fetchall())
    wrong = [letter for letter in letters if found[letter] != fold(letter)]
    assert [hex(ord(letter)) for letter in wrong if not any(ord(letter) in block for block in RARE)] == []
    assert given.num_rows > 80_000


def test_accents_go_and_vowel_signs_stay(connection: duckdb.DuckDBPyConnection) -> None:
    words = ["caf\u00e9", "e\u0301te\u0301", "\u03ac\u03bb\u03c6\u03b1",
             "\u0439\u043e\u0433\u0443\u0440\u0442", "\u0939\u093f\u0928\u094d\u0926\u0940", "\u304c\u304e",
             "\u0645\u064f\u062f\u064e\u0631\u0651", "\u05e9\u05b8\u05dc\u05d5\u05b9\u05dd",
             "\u0e44\u0e17\u0e22",
             "na\u00efve\u304c", "\ud55c\uad6d"]  # fmt: skip
    found = [connection.execute("select without_accents($1)", [word]).fetchone() for word in words]
    assert found == [(without_accents(word),) for word in words]


TEXTS = (
    "Users' node.js apps: c++11, C#, c# f# and x#y#z, a+b++c d++; it's O'Reilly\u2019s",
    "snake_case_name __init__ _ __ 3.14 1.2.3 v2.0 e.g. foo.bar_baz'qux .hidden trailing.",
    "\u6771\u4eac\u90fd node\u306e\u6587\u66f8.txt \u3042 \ud55c\uad6d\uc5b4 mixed\u6771case",
    "\u0939\u093f\u0928\u094d\u0926\u0940 \u0e44\u0e17\u0e22 "
    "\u05e9\u05b8\u05dc\u05d5\u05b9\u05dd \u0645\u0631\u062d\u0628\u0627",
    "\uff26\uff55\uff4c\uff4c \ufb01nd stra\u00dfe \u0130stanbul x\u00b2 \u00bd \u2122 \U0001d4b3 a\u0301b",
    "l" * 100 + " " + "x." * 50,
    "\x00a\x00 \t\n\r \u2028b \U0001f469\u200d\U0001f52c \u202etxt",
)


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_each_word_of_a_text_stands_for_the_same_terms(
    text: str, connection: duckdb.DuckDBPyConnection
) -> None:
    analyzer = prose_analyzer("en")
    expected = {(token, term) for token in analyzer.tokens(text) for term in analyzer.expand(token)}
    assert set(connection.execute("from query_terms($1)", [text]).fetchall()) == expected


@pytest.mark.parametrize(
    "text",
    [
        "getElementById HTMLParser.parse($x, __dirname) XMLHttpRequest2 aB AB ABc "
        "\u00e9t\u00e9A \u6771\u4eacAb",
        "snake_case SCREAMING_SNAKE $ $$ _ 3.14 1.2.3 x1y2 v8 i18n p\u00e8reNo\u00ebl",
        "",
    ],
)
def test_each_identifier_stands_for_the_same_terms(text: str, connection: duckdb.DuckDBPyConnection) -> None:
    analyzer = code_analyzer()
    expected = {(token, term) for token in analyzer.tokens(text) for term in analyzer.expand(token)}
    assert set(connection.execute("from code_query_terms($1)", [text]).fetchall()) == expected
