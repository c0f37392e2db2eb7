"""The tools without a protocol: budgets hold, arguments are understood, errors name what is right."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from noctule.artifacts.query.searcher import Searcher
from noctule.artifacts.store.store import Store
from noctule.server.agents.tools import MOST_INSTRUCTIONS, Tools, ToolText
from tests.library_builder import PLAIN, TODAY, WordEncoder, settings_of

STRANGE = [
    "",
    " ",
    "\x00",
    "\u202etxet",
    "🎉" * 300,
    "a" * 900,
    '"',
    "-apples",
    "title:",
    "..",
    "../../etc/passwd",
]


@pytest.fixture(scope="module")
def searcher(library: Store) -> Iterator[Searcher]:
    settings = settings_of(**PLAIN)
    with Searcher(library.open(), settings, WordEncoder(), clock=lambda: TODAY, silent=True) as opened:
        yield opened


@pytest.fixture(scope="module")
def tools() -> Tools:
    return Tools()


class _Asking:
    def __init__(self, tools: Tools, searcher: Searcher) -> None:
        self._tools, self._searcher = tools, searcher

    def __call__(self, name: str, **given: Any) -> str:
        found = self._tools.call(self._searcher, name, given)
        assert not found.is_error, found.text
        return found.text

    def error(self, name: str, **given: Any) -> str:
        found = self._tools.call(self._searcher, name, given)
        assert found.is_error, found.text
        return found.text


@pytest.fixture(scope="module")
def ask(tools: Tools, searcher: Searcher) -> _Asking:
    return _Asking(tools, searcher)


def test_no_answer_exceeds_its_tokens(tools: Tools, searcher: Searcher) -> None:
    documents, chance = tools.of(searcher).documents, random.Random(25)
    words = [*searcher.corpus.written.counts, *STRANGE]
    refs = [*documents.listed, *STRANGE, "notes:saga.md#part-7", "notes:boats.md@1", "notes:boats.md@99"]
    folders = ["", "fruit", "notes:", *STRANGE]
    for _ in range(150):
        most = chance.choice([200, 250, 400, 2_000])
        name, given = chance.choice(
            [
                (
                    "search_docs",
                    {"query": " ".join(chance.sample(words, 3)), "limit": chance.randint(-3, 90)},
                ),
                ("read_doc", {"ref": chance.choice(refs), "start": chance.choice([0, 0, 17, 400, 10**9])}),
                ("read_doc", {"ref": "notes:apples.md", "section": chance.choice(words)}),
                ("browse_docs", {"path": chance.choice(folders), "depth": chance.randint(1, 5)}),
            ]
        )
        found = tools.call(searcher, name, {**given, "max_tokens": most})
        assert documents.counter.count(found.text) <= most, (name, given)


def test_a_search_tells_ref_address_and_quoted_text(ask: _Asking) -> None:
    text = ask("search_docs", query="cellar", path="fruit/apples.md")
    assert ". Apples › Storing\n   ref: notes:fruit/apples.md#storing\n" in text
    assert "   url: fruit/apples.html#storing\n> Keep apples in a cool cellar" in text
    assert text.split("\n")[-1].startswith("Showing ")


def test_every_ref_of_an_answer_can_be_read(ask: _Asking) -> None:
    text = ask("search_docs", query="whale saga apples boats", limit=20, max_tokens=8000)
    refs = [line.removeprefix("   ref: ") for line in text.split("\n") if line.startswith("   ref: ")]
    assert len(refs) > 5
    for ref in refs:
        assert f"ref: {ref}" in ask("read_doc", ref=ref) or "@" in ref


def test_a_larger_budget_shows_more_of_a_long_section(ask: _Asking) -> None:
    small, large = (ask("search_docs", query="whale saga", limit=9, max_tokens=most) for most in (200, 2_000))
    assert small.count("   ref: ") < large.count("   ref: ")
    assert "raise max_tokens" in small


def test_reading_goes_on_where_it_ended_and_loses_nothing(ask: _Asking) -> None:
    start, pieces = 0, []
    for _ in range(40):
        text = ask("read_doc", ref="saga.md", start=start, max_tokens=300)
        body = text.split("instructions.\n")[1].rpartition("\n\n")[0]
        pieces += [line.removeprefix(">").removeprefix(" ") for line in body.split("\n")]
        if text.endswith("End of the document."):
            break
        start = int(text.rpartition("start=")[2].rstrip(")"))
    words = " ".join(pieces).split()
    assert (
        words
        == " ".join(f"## Part {n} The saga of the whale, part {n}." for n in range(60))
        .join(["# Saga ", ""])
        .split()
    )


def test_front_matter_is_not_read_to_an_agent(ask: _Asking) -> None:
    assert "status: draft" not in ask("read_doc", ref="notes:boats.md")


@pytest.mark.parametrize(
    ("name", "given", "same"),
    [
        ("search_docs", {"q": "a", "top_k": "3", "maxTokens": 400.0},
         {"query": "a", "limit": 3, "max_tokens": 400}),
        ("search_docs", {"query": "a", "k": 2, "source": ["notes"]},
         {"query": "a", "limit": 2, "collection": "notes"}),
        ("search_docs", {"query": "apples", "n": 1, "collection": None}, {"query": "apples", "limit": 1}),
        ("read_doc", {"id": "notes:saga.md#part-3"}, {"ref": "saga.md", "section": "Part 3"}),
        ("read_doc", {"path": "boats.md"}, {"ref": "boats.html"}),
        ("browse_docs", {"folder": "fruit/"}, {"path": "notes:fruit/"}),
    ],
)  # fmt: skip
def test_names_that_programs_give_by_habit_are_understood(
    ask: _Asking, name: str, given: dict[str, Any], same: dict[str, Any]
) -> None:
    assert ask(name, **given) == ask(name, **same)


def test_a_number_out_of_range_is_held_in_it_with_a_note(ask: _Asking) -> None:
    text = ask("search_docs", query="apples", limit=1_000, max_tokens=10)
    assert "Note: limit is 20: it may be 1 to 20" in text and "Note: max_tokens is 200" in text


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        (
            "search_docs",
            {"query": "a", "limt": 3},
            "Did you mean limit? search_docs takes: query, collection",
        ),
        ("search_docs", {}, "query is missing or empty"),
        ("search_docs", {"query": "a", "q": "b"}, "query is given twice"),
        ("search_docs", {"query": ["a", "b"]}, "query must be one text"),
        ("search_docs", {"query": "a" * 1_001}, "1,001 characters; at most 1,000"),
        ("search_docs", {"query": "a", "limit": "many"}, "limit must be a whole number"),
        ("search_docs", {"query": "a", "limit": True}, "limit must be a whole number"),
        ("search_docs", {"query": "a", "limit": float("nan")}, "limit must be a whole number"),
        ("search_docs", {"query": "a", "collection": "note"}, "Collections: notes (13)."),
        ("read_doc", {"ref": "fruit/aples.md"}, "Nearest: notes:fruit/apples.md, notes:fruit/pears.md"),
        ("read_doc", {"ref": "boats.md", "section": "sail"}, "Nearest: notes:boats.md#sails"),
        ("read_doc", {"ref": "boats.md#sail"}, "Nearest: notes:boats.md#sails"),
        ("read_doc", {"ref": "noctule://0123/notes:boats.md"}, "is not the one that is served now"),
        ("read_doc", {"ref": "boats.md", "start": 99_999}, "start is past the end: the part ends at"),
        ("browse_docs", {"path": "fruits"}, "Nearest: notes:fruit/"),
        ("forget_docs", {}, "Tools: search_docs, read_doc, browse_docs."),
    ],
)
def test_what_is_wrong_is_told_with_what_is_right(
    ask: _Asking, name: str, given: dict[str, Any], told: str
) -> None:
    assert told in ask.error(name, **given)


def test_a_number_of_hundreds_of_digits_is_the_most_that_there_is(ask: _Asking) -> None:
    assert "Note: limit is 20: it may be 1 to 20" in ask("search_docs", query="apples", limit=10**400)


def test_a_wrong_ref_names_the_five_nearest(ask: _Asking) -> None:
    assert ask.error("read_doc", ref="appels").partition("Nearest: ")[2].count("notes:") == 5


def test_without_a_hit_near_words_and_collections_are_named(ask: _Asking) -> None:
    text = ask("search_docs", query="appels", path="nowhere/*")
    assert "Nothing found.\nWords that are near: apples." in text and "Collections: notes (13)." in text


def test_browsing_counts_documents(ask: _Asking) -> None:
    text = ask("browse_docs", depth=2)
    assert "notes:fruit/ (3)" in text and "  notes:fruit/pears.md · Pears" in text


def test_instructions_are_short_and_name_the_collections(tools: Tools, searcher: Searcher) -> None:
    text = tools.instructions(searcher)
    assert len(text) <= MOST_INSTRUCTIONS and "notes (13)" in text and "quoted from documents" in text


def test_the_same_call_gives_the_same_text(tools: Tools, searcher: Searcher) -> None:
    given = {"query": "apples and pears", "limit": 8}
    again: list[ToolText] = [tools.call(searcher, "search_docs", given) for _ in range(2)]
    assert again[0] == again[1] == Tools().call(searcher, "search_docs", given)
