"""A query's kind is told by its looks, and puts a factor on one list's weight."""

from __future__ import annotations

import pytest

from noctule.artifacts.query.understanding.classify import adapted, classify
from noctule.pipeline.settings.search import Classify
from tests.processor_time import processor_seconds

FACTUAL = [
    "getUserById function",
    "get_user_by_id",
    "get_user2_by_id",
    "HTTP_TIMEOUT",
    "__init__",
    "what does __init__ do",
    "how to call `fetch`",
    '"exact words"',
    "launchBoat() fails",
    "python 3.13",
    "what is new in v2.0.1",
    "IPv6Address",
    "utf8Decode",
    "user_id",
]


@pytest.mark.parametrize("text", FACTUAL)
def test_names_and_literals_are_factual(text: str) -> None:
    assert classify(text) == "factual"


NAMES_AND_PLURALS = [
    "What APIs are there?",
    "How do PDFs render?",
    "How do I sign in with GitHub?",
    "What is OAuth?",
    "how does JavaScript run",
    "why do URLs break",
    "What does macOS need?",
]


@pytest.mark.parametrize("text", NAMES_AND_PLURALS)
def test_plurals_of_acronyms_and_names_of_products_are_no_identifiers(text: str) -> None:
    assert classify(text) == "exploratory"


@pytest.mark.parametrize(
    "text", ["installation guide", "[[Boats]]", "Where is the documentation of sails?", "pages on tides"]
)
def test_places_are_navigational(text: str) -> None:
    assert classify(text) == "navigational"


@pytest.mark.parametrize(
    "text", ["How do I configure authentication?", "why boats float", "apples or pears?", " is it cold"]
)
def test_questions_are_exploratory(text: str) -> None:
    assert classify(text) == "exploratory"


@pytest.mark.parametrize(
    "text",
    ["", "boats", "configure authentication", "know how", "tell me what floats", "the rise and fall",
     "GitHub", "API keys", "e-mail", "1999", "3"],
)  # fmt: skip
def test_most_queries_are_of_no_kind_and_a_question_word_inside_is_no_question(text: str) -> None:
    assert classify(text) is None


def test_the_first_kind_that_fits_decides() -> None:
    assert classify("where is the guide to getUserById?") == "factual"
    assert classify("where is the guide?") == "navigational"


def test_a_kind_multiplies_the_weight_of_the_list_that_serves_it() -> None:
    weights = {"keyword": 1.0, "semantic": 1.0, "graph": 0.5}
    factors = Classify()
    assert adapted(weights, "factual", factors) == {"keyword": 1.5, "semantic": 1.0, "graph": 0.5}
    assert adapted(weights, "navigational", factors) == {"keyword": 1.0, "semantic": 1.0, "graph": 0.75}
    assert adapted(weights, "exploratory", factors) == {"keyword": 1.0, "semantic": 1.3, "graph": 0.5}


def test_without_a_kind_nothing_changes() -> None:
    weights = {"keyword": 1.0, "semantic": 0.7}
    assert adapted(weights, None, Classify()) == weights


def test_a_list_of_weight_zero_stays_out() -> None:
    assert adapted({"graph": 0.0}, "navigational", Classify()) == {"graph": 0.0}


@pytest.mark.parametrize(
    "text", ["a" * 10_000, "aA" * 5_000, "a_" * 5_000, "`" * 10_000, '"' * 9_999, "1." * 5_000]
)
def test_no_query_takes_long_to_classify(text: str) -> None:
    begun = processor_seconds()
    classify(text)
    assert processor_seconds() - begun < 1
