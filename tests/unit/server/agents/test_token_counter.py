"""Counts of tokens: sums over lines, never less than bytes where the model knows no token."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noctule.artifacts.store.store import Store
from noctule.server.agents.documents import one_line, quoted
from noctule.server.agents.excerpts import shares
from noctule.server.agents.token_counter import TokenCounter, counter_of


@pytest.fixture(scope="module")
def counter(library: Store) -> TokenCounter:
    with library.open() as snapshot:
        return counter_of(snapshot)


def test_what_the_model_does_not_know_counts_its_bytes(counter: TokenCounter) -> None:
    assert counter.count("apples") == 1
    assert counter.count("x" * 500) == 500  # one token to the model
    assert counter.count("𓀀𓀀") >= 2 * 4
    assert counter.count("a" + "\u0301" * 100) >= 100  # the model drops combining marks
    assert counter.count("a\n\n    b") >= 5


def test_without_a_tokenizer_bytes_are_counted() -> None:
    assert TokenCounter().count("héllo") == 6


@given(lines=st.lists(st.text(st.characters(exclude_characters="\n"), max_size=60), min_size=1, max_size=6))
def test_lines_add_up(counter: TokenCounter, lines: list[str]) -> None:
    whole = counter.count("\n".join(lines))
    assert whole <= sum(counter.counts(lines)) + len(lines) - 1


@given(text=st.text(max_size=400), most=st.integers(0, 120))
def test_a_cut_text_fits(counter: TokenCounter, text: str, most: int) -> None:
    for cut in (counter.cut(text, most), counter.cut_lines(text, most)):
        assert counter.count(cut) <= most
    if counter.count(text) <= most:
        assert counter.cut(text, most) == counter.cut_lines(text, most) == text


@given(st.lists(st.integers(0, 500), max_size=20), st.integers(0, 3_000))
def test_shares_spend_the_room_and_no_more(wanted: list[int], room: int) -> None:
    given_ = shares(wanted, room)
    assert sum(given_) <= room and all(a <= b for a, b in zip(given_, wanted, strict=True))
    assert sum(given_) == min(room, sum(wanted))


@given(st.text())
def test_no_line_of_a_document_passes_for_the_servers_own(text: str) -> None:
    assert all(line.startswith(">") for line in quoted(text).split("\n"))
    assert "\n" not in one_line(text)
