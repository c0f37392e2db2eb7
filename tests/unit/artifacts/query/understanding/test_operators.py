"""A query's operators are what cannot be anything else; everything else is words."""

from __future__ import annotations

import pytest

from noctule.artifacts.query.understanding.operators import (
    MAX_QUERY_CHARS,
    Operators,
    parse_query,
    split_questions,
)


def operators(text: str) -> Operators:
    return parse_query(text).operators


def test_a_phrase_is_demanded_and_its_words_are_searched() -> None:
    found = parse_query('keep "cool cellar" apples')
    assert found.operators == Operators(phrases=("cool cellar",))
    assert found.plain == "keep cool cellar apples"


@pytest.mark.parametrize("text", ["“cool cellar”", "„cool cellar“", "«cool cellar»", '"cool cellar"'])
def test_the_quotes_of_word_processors_are_quotes(text: str) -> None:
    assert operators(text).phrases == ("cool cellar",)


def test_a_word_after_a_minus_is_excluded_and_not_searched() -> None:
    found = parse_query('apples -pears -"cool cellar"')
    assert found.operators == Operators(excluded=("pears", "cool cellar"))
    assert found.plain == "apples"


def test_a_word_in_a_field_is_demanded_there() -> None:
    found = parse_query('title:apples tags:"trade wind" cellar')
    assert found.operators == Operators(fielded=(("title", "apples"), ("tags", "trade wind")))
    assert found.plain == "apples trade wind cellar"


def test_the_beginning_of_a_word_is_looked_for_and_demands_nothing() -> None:
    found = parse_query("light* house")
    assert found.operators == Operators(prefixes=("light",))
    assert not found.operators
    assert found.plain == "light house"


WORDS = [
    "-webkit-mask-image",
    "--force",
    "std::vector",
    "http://example.org/a:b",
    "a-b",
    "3 - 2",
    "-1",
    "-x",
    "x*",
    "**bold**",
    "a*b",
    "C:\\temp",
    "Title:apples",
    "colour:red",
    "tag:sea",
    "e=mc*",
    "`git rebase`",
    "rock 'n' roll",
    'a lone " quote',
]


@pytest.mark.parametrize("text", WORDS)
def test_what_may_be_a_word_is_one(text: str) -> None:
    assert parse_query(f"boats {text}").plain == f"boats {text}"
    assert operators(f"boats {text}") == Operators()


def test_nothing_but_exclusions_is_read_as_words() -> None:
    found = parse_query("-pears -apples")
    assert found.plain == "-pears -apples"
    assert found.operators == Operators()


def test_a_word_before_a_phrase_is_not_lost_because_it_looks_like_a_field() -> None:
    found = parse_query('error:"not found" page')
    assert found.operators == Operators(phrases=("not found",))
    assert found.plain == "error not found page"


def test_a_field_after_a_minus_is_never_demanded() -> None:
    found = parse_query("redis -title:windows")
    assert found.operators.fielded == ()
    assert "redis" in found.plain


@pytest.mark.parametrize("text", ["", "  ", '"', '""', '"" ""', "-", "*", ":", '-""', "title:", "“", "\x00"])
def test_punctuation_demands_nothing(text: str) -> None:
    assert operators(text) == Operators()


def test_a_nul_parts_words() -> None:
    assert parse_query("cool\x00cellar").plain == "cool cellar"


def test_half_a_character_pair_does_not_reach_the_model() -> None:
    parse_query("caf\udce9 boats").plain.encode("utf-8")


def test_what_no_person_types_is_cut_off() -> None:
    assert len(parse_query("a" * 1_000_000).plain) == MAX_QUERY_CHARS
    assert len(operators('"a b" ' * 5_000).phrases) == 32
    assert len(operators("x " + "-abc " * 5_000).excluded) == 32
    assert len(operators("title:abc " * 5_000).fielded) == 32
    assert len(operators("abc* " * 5_000).prefixes) == 32


@pytest.mark.parametrize(
    ("text", "questions"),
    [
        ("how do I install it and how do I remove it?", ("how do I install it", "how do I remove it")),
        ("What is a sail? How is it made?", ("What is a sail", "How is it made")),
        ("what floats, where do boats sleep", ("what floats", "where do boats sleep")),
        ("what is a boat; why does it float", ("what is a boat", "why does it float")),
    ],
)
def test_several_questions_are_told_apart(text: str, questions: tuple[str, ...]) -> None:
    assert split_questions(text) == questions


@pytest.mark.parametrize(
    "text",
    [
        "",
        "apples and pears",
        "salt, pepper, sugar",
        "how do I cut apples and pears?",
        "how and why do boats float",
        "install it and how do I remove it",
        "what is x, y and z",
        "is it? yes",
    ],
)
def test_one_question_stays_one(text: str) -> None:
    assert split_questions(text) == (text,)


def test_there_are_four_questions_at_most_and_the_last_keeps_the_rest() -> None:
    found = split_questions("what is a one? " * 6)
    assert len(found) == 4
    assert found[3].count("what") == 3
