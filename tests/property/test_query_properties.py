"""Whatever a query is, it is answered in bounded time, without an error, and twice the same."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from noctule.artifacts.query.answer import Answer
from noctule.artifacts.query.hits import excerpt
from noctule.artifacts.query.index.postings import best
from noctule.artifacts.query.model import ListName, RankedList
from noctule.artifacts.query.ranking.fuse import convex_combination, reciprocal_rank_fusion
from noctule.artifacts.query.searcher import Searcher
from noctule.artifacts.query.understanding.operators import parse_query, split_questions
from noctule.artifacts.store.store import Store
from noctule.pipeline.embedding.encoder import load_encoder
from noctule.pipeline.settings.search import Understanding
from noctule.pipeline.settings.settings import FIELDS, Embed
from tests.library_builder import searcher_of
from tests.repetitions import examples

# What a machine of two busy cores may need; without a bound, the worst of these took minutes.
MOST_S = 5.0
BITS = [
    '"', "“", "”", "-", "*", ":", "(", ")", "OR", "AND", "NOT", "~", "^", "/", "\\", "'", "''", ";", "--",
    "%", "_", "{}",
    "\x00", "\n", "\t", "\u202e", "\u200f", "\ufeff", "\U0001f4a9", "🎉", "👩‍👩‍👧", "é", "e\u0301", "ß", "İ",
    "ǅ", "١٢", "²",
    "עברית", "سفينة", "中文字", "ไทย", "apples", "cellar", "-boats", "title:", "tags:sea", "body:*", "boat*",
    "harbuor",
    "SSO", "launchBoat()", "get_user_by_id", "node.js", "c++", "std::vector", "--force", "x' OR '1'='1",
    "'; drop table passages; --",
    "select * from passages", "$1", "${x}", "how", "what is", "and how", "?", "?? ", ",", "saga of the whale",
]  # fmt: skip
FIELD_WORDS = [f"{field}:{word}" for field in FIELDS for word in ("sea", '"a b"', "*")]
QUERIES = st.one_of(
    st.text(max_size=60),
    st.lists(st.sampled_from([*BITS, *FIELD_WORDS]), max_size=25).map(" ".join),
    st.lists(st.sampled_from([*BITS, *FIELD_WORDS]), max_size=25).map("".join),
    st.text(alphabet=st.characters(categories=["Cs", "Cc", "Cf", "Cn", "Mn", "So"]), max_size=20),
)
LONG = {
    "nothing": "",
    "a megabyte": "a" * 1_000_000,
    "a megabyte of words": "apples cellar " * 75_000,
    "a megabyte of quotes": '"' * 1_000_000,
    "a megabyte of minuses": "- " * 500_000,
    "a megabyte of emoji": "🎉" * 250_000,
    "a megabyte of NUL": "\x00" * 1_000_000,
    "a megabyte of spaces": " " * 1_000_000,
    "10,000 terms": " ".join(f"word{at}" for at in range(10_000)),
    "10,000 misspellings": " ".join(["aple", "celler", "harbuor", "lighthuose"] * 2_500),
    "10,000 questions": "what is it? how does it go, and why is it so? " * 3_000,
    "10,000 phrases": '"cool cellar" ' * 10_000,
    "10,000 exclusions": "boats " + "-apples " * 10_000,
    "10,000 fields": "title:boats " * 10_000,
    "10,000 beginnings": "bo* " * 10_000,
    "10,000 acronyms": "SSO " * 10_000,
    "one long identifier": "getUser" * 10_000,
    "brackets": "(" * 50_000 + ")" * 50_000,
    "links": "[[Boats]] " * 10_000,
    "backticks": "`" * 99_999,
}  # fmt: skip


@pytest.fixture(scope="module")
def searcher(library: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    """Every step of understanding and every list, but nothing kept."""
    glossary = Path(tmp_path_factory.mktemp("glossary")) / "glossary.toml"
    glossary.write_text('cellar = ["basement"]\nsso = ["log in"]\n')
    with searcher_of(
        library,
        load_encoder(Embed(workers=1)),
        understand=list(get_args(Understanding)),
        fuzziness="auto",
        weights={"keyword": 1.0, "semantic": 1.0, "code": 0.5, "graph": 0.5},
        stages=[
            "support",
            "community",
            "glossary",
            "calibrate",
            "duplicate_hash",
            "duplicate_ngram",
            "mmr",
            "per_document",
        ],
        synonyms={"file": str(glossary)},
        caches={"answers": 0, "vectors": 0},
    ) as found:
        found.search("boats")  # loads the model, which is no part of any query's time
        yield found


def asked(searcher: Searcher, text: str, hypothesis: str = "") -> Answer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a phrase that stands nowhere, a demand that nothing meets
        return searcher.search(text, hypothesis=hypothesis)


def confirm_order(answer: Answer) -> None:
    places = [(-hit.score, hit.doc_id, int(hit.passage_id.rpartition("@")[2])) for hit in answer.hits]
    assert len(places) == len(set(places)) <= 10
    assert all(hit.score > 0 for hit in answer.hits)


@settings(max_examples=examples(50))
@given(QUERIES)
@example("caf\udce9 boats")
@example('"\udc80\udc80"')
@example("title:\ud800 -\udfff*")
def test_any_query_is_answered_and_twice_the_same(searcher: Searcher, text: str) -> None:
    first, second = asked(searcher, text), asked(searcher, text)
    confirm_order(first)
    assert first.hits == second.hits
    assert first.understood == second.understood
    assert not [each for each in first.warnings if each.startswith(("no semantic", "the query is taken"))]
    for hit in first.hits:
        assert all(0 <= start < end <= len(hit.excerpt) for start, end in hit.highlights)


@pytest.mark.parametrize("name", LONG)
def test_what_no_person_types_takes_no_long_time(searcher: Searcher, name: str) -> None:
    start = time.perf_counter()
    confirm_order(asked(searcher, LONG[name]))
    assert time.perf_counter() - start < MOST_S


@pytest.mark.parametrize(
    "name", ["nothing", "a megabyte of words", "a megabyte of emoji", "a megabyte of NUL"]
)
def test_no_hypothesis_takes_a_long_time(searcher: Searcher, name: str) -> None:
    start = time.perf_counter()
    confirm_order(asked(searcher, "boats", LONG[name] + "\udcff"))
    assert time.perf_counter() - start < MOST_S


@given(QUERIES)
@settings(max_examples=examples(200))
def test_taking_a_query_apart_loses_no_word_and_demands_little(text: str) -> None:
    typed = parse_query(text)
    operators = typed.operators
    assert all(any(c.isalnum() for c in value) for value in (*operators.phrases, *operators.excluded))
    assert all(field in FIELDS and value for field, value in operators.fielded)
    if not operators and not operators.prefixes:
        assert typed.plain == parse_query(typed.plain).plain
    questions = split_questions(typed.plain)
    assert 1 <= len(questions) <= 4
    assert len(questions) == 1 or all(questions)


SCORES = st.lists(st.sampled_from([0.1, 0.2, 0.2000001, 0.3, 0.5]), max_size=30)


@given(SCORES, st.integers(1, 10))
@settings(max_examples=examples(150))
def test_the_best_are_those_of_a_stable_sort_ties_by_row(scores: list[float], limit: int) -> None:
    rows, found = best(np.arange(len(scores)), np.array(scores), limit)
    expected = sorted(range(len(scores)), key=lambda row: (-scores[row], row))[:limit]
    assert rows.tolist() == expected
    assert found.tolist() == [scores[row] for row in expected]


LISTS = st.lists(st.lists(st.integers(0, 12), unique=True, max_size=10), min_size=1, max_size=4)
NAMES: tuple[ListName, ...] = ("keyword", "semantic", "code", "graph")


@given(LISTS)
@settings(max_examples=examples(150))
def test_the_order_of_fusion_is_total_and_scores_stay_below_what_can_be_had(lists: list[list[int]]) -> None:
    given_lists = [
        RankedList(name, np.array(rows, dtype=np.int64), np.linspace(1, 0.1, len(rows)), 1.0)
        for name, rows in zip(NAMES, lists, strict=False)
    ]
    weights = {"keyword": 1.0, "semantic": 0.7, "code": 0.0, "graph": 0.5}
    for found in (reciprocal_rank_fusion(given_lists, weights, 60), convex_combination(given_lists, weights)):
        keys = [(-each.score, each.row) for each in found]
        assert all(a < b for a, b in pairwise(keys))
        asked_for = {row for name, rows in zip(NAMES, lists, strict=False) if weights[name] for row in rows}
        assert {each.row for each in found} == asked_for


@given(st.text(max_size=300), st.sets(st.sampled_from(["boat", "apple", "a", "x"])), st.integers(40, 80))
@settings(max_examples=examples(200))
def test_an_excerpt_is_a_window_with_its_highlights_inside(text: str, wanted: set[str], most: int) -> None:
    text = f"{text} boats {text} apples"
    shown = excerpt(text, wanted, ("en",), most)
    inner = shown.text.removeprefix("… " if shown.start else "")
    inner = inner if inner == text[shown.start :] else inner.removesuffix(" …")
    assert text[shown.start :].startswith(inner)
    assert len(inner) <= most
    for start, end in shown.highlights:
        at = shown.start + start - (2 if shown.start else 0)
        assert shown.text[start:end] == text[at : at + end - start] != ""
