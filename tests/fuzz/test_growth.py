"""Pieces of syntax repeated: each is read and shown, and what is looked through again is bounded."""

from __future__ import annotations

import gc
import time
from collections.abc import Sequence

import pytest

from noctule.pipeline.parse.markdown.parser import _Reader, markdown_parser
from noctule.pipeline.parse.markup import FoundLink
from tests.fuzz.growth import Case, TooSlow, cases, growth, seconds, work
from tests.fuzz.pieces import PIECES, Piece
from tests.repetitions import sample

_MANY, _LIMIT_S = 20_000, 3.0


@pytest.mark.parametrize("suffix", sample(PIECES, 3))
def test_every_piece_is_read_and_shown_when_it_is_repeated(suffix: str) -> None:
    for case in cases((suffix,)):
        if case.between == "on one line":
            work(case.text(12), suffix)


def test_an_address_is_looked_for_in_no_more_than_one_may_be_long(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths, linkify = list[int](), markdown_parser().linkify
    really = linkify.match_at_start  # type: ignore[union-attr]
    monkeypatch.setattr(linkify, "match_at_start", lambda text: lengths.append(len(text)) or really(text))
    markdown_parser().render("![](https://youtu.be/" * 500)
    assert len(lengths) >= 500 and max(lengths) <= 2_048


def test_the_end_of_a_formula_is_not_looked_for_from_each_of_its_lines() -> None:
    began = time.process_time()
    markdown_parser().parse("$$a\n" * _MANY)
    assert time.process_time() - began < _LIMIT_S


def _reader(text: str, unsearched: Sequence[range] = ()) -> _Reader:
    return _Reader(text, [0, len(text)], None, unsearched=tuple(unsearched))


def test_a_target_that_is_written_otherwise_is_not_looked_for_in_all_that_follows() -> None:
    text, began = "x" * 4_000_000, time.process_time()
    reader = _reader(text)
    reader.locate([FoundLink("link", "zz", "a")] * _MANY, 0, len(text))
    assert len(reader.links) == _MANY and time.process_time() - began < _LIMIT_S


def test_a_block_is_not_compared_with_everything_that_searches_leave_out() -> None:
    reader, began = _reader("x", [range(at, at + 1) for at in range(0, 2 * _MANY, 2)]), time.process_time()
    for at in range(2 * _MANY):
        reader.add("text", at, at + 1, "x")
    assert [block.start for block in reader.blocks] == list(range(1, 2 * _MANY, 2))
    assert time.process_time() - began < _LIMIT_S


def test_a_text_that_takes_too_long_is_given_up() -> None:
    with pytest.raises(TooSlow):
        seconds(Case(Piece("a *b* "), "on one line", ".md"), 20_000, limit_s=0.05)


def test_a_text_is_given_up_where_the_collector_has_a_slow_callback() -> None:
    gc.callbacks.append(_look_around_slowly)
    try:
        with pytest.raises(TooSlow):
            seconds(Case(Piece("a *b* "), "on one line", ".md"), 20_000, limit_s=0.05)
    finally:
        gc.callbacks.remove(_look_around_slowly)


def _look_around_slowly(*_: object) -> None:
    sum(range(2_000_000))


def test_what_takes_a_square_of_its_length_is_told_by_its_growth(monkeypatch: pytest.MonkeyPatch) -> None:
    case, used = Case(Piece("a"), "on one line", ".md"), [1.0]
    monkeypatch.setattr("tests.fuzz.growth.seconds", lambda _, times: (times / 1_000) ** used[0])
    assert growth(case, 1_000)[1] == pytest.approx(2)
    used[0] = 2.0
    assert growth(case, 1_000)[1] == pytest.approx(4)


def test_pieces_are_numbered_nested_and_headed() -> None:
    case = Case(Piece("[{n}", "]", "# T\n"), "on lines", ".md")
    assert case.text(2) == "# T\n[0\n[1]\n]"
    assert str(case) == ".md '[{n}' … ']' after '# T\\n' on lines"
