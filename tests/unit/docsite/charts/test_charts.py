"""Charts: where things stand, gaps, nothing to draw, hostile names, the same bytes every time."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from noctule.docsite.charts.answers import (
    Difference,
    Predicted,
    binned,
    differences_figure,
    expected_error,
    queries_named,
    reliability_figure,
)
from noctule.docsite.charts.figure import Figure, bounds, fitting, seconds, short, shown
from noctule.docsite.charts.page import figure_html, lone_page
from noctule.docsite.charts.rows import Bar, Shift, bars_figure, moves_figure
from noctule.docsite.charts.treemap import Cell, Rectangle, squarified, treemap_figure
from noctule.docsite.charts.trends import Stack, Trend, stack_figure, trend_figure

EVIL = "</svg><script>alert(1)</script>\x00\ud800\u202e&\"'"


def _drawn(figure: Figure | None) -> ElementTree.Element:
    assert figure is not None
    return ElementTree.fromstring(figure.drawing)


def test_a_line_with_an_unknown_night_is_two_lines() -> None:
    nights = [f"2026-01-0{day}" for day in range(1, 6)]
    found = _drawn(trend_figure(Trend("Documents", (1.0, 2.0, None, 4.0, 5.0)), nights))
    ways = [each.get("d") for each in found.iter("path")]
    assert ways == ["M56 90L120 70", "M248 30L312 10"]


def test_a_known_night_between_unknown_ones_is_a_dot() -> None:
    found = _drawn(trend_figure(Trend("x", (1.0, None, 3.0)), ["a", "b", "c"]))
    assert not list(found.iter("path")) and len(list(found.iter("circle"))) == 3


def test_the_first_night_is_a_dot_in_the_middle_and_says_so() -> None:
    figure = trend_figure(Trend("Documents", (0.0,)), ["2026-01-01"])
    assert figure is not None
    assert (figure.value, figure.change) == ("0", "first night")
    assert {each.get("cx") for each in _drawn(figure).iter("circle")} == {"184"}


def test_no_night_with_the_figure_is_no_chart() -> None:
    assert trend_figure(Trend("x", (None, None)), ["a", "b"]) is None
    assert stack_figure(Stack("x", ({}, {})), ["a", "b"]) is None
    assert bars_figure("x", "", []) is None and moves_figure("x", "", []) is None
    assert treemap_figure("x", "", [Cell("a", 0)]) is None
    assert differences_figure("x", [], "nDCG") is None and reliability_figure("x", []) is None


def test_columns_stack_up_to_their_sum_and_small_parts_share_a_colour() -> None:
    parts = {f"p{at}": float(10 - at) for at in range(9)}
    figure = stack_figure(Stack("Seconds", (parts,)), ["a"])
    assert figure is not None
    assert [name for _, name in figure.legend] == ["p0", "p1", "p2", "p3", "p4", "others"]
    columns = list(_drawn(figure).iter("rect"))
    heights = [float(each.get("height", 0)) for each in columns]
    assert sum(heights) == pytest.approx(80 * 54 / 60, abs=0.5)
    assert heights[-1] == pytest.approx(80 * 14 / 60, abs=0.1)


def test_a_treemap_fills_its_room_without_overlaps() -> None:
    places = squarified([6, 6, 4, 3, 2, 2, 1], Rectangle(0, 0, 6, 4))
    assert [(round(p.width, 2), round(p.height, 2)) for p in places[:2]] == [(3, 2), (3, 2)]
    assert sum(each.width * each.height for each in places) == pytest.approx(24)
    for at, a in enumerate(places):
        for b in places[at + 1 :]:
            across = min(a.x + a.width, b.x + b.width) - max(a.x, b.x)
            upright = min(a.y + a.height, b.y + b.height) - max(a.y, b.y)
            assert min(across, upright) < 1e-6


def test_a_change_in_a_large_folder_can_be_seen() -> None:
    bands = [
        each
        for each in _drawn(treemap_figure("x", "", [Cell("a", 10_000, changed=1), Cell("b", 5)])).iter("rect")
        if each.get("class") == "band changed"
    ]
    assert [each.get("height") for each in bands] == ["4"]


def test_bars_end_at_their_share_and_a_loss_begins_at_zero() -> None:
    bars = [Bar("a", 3.0, usual=1.0), Bar("b", -1.0)]
    found = [each for each in _drawn(bars_figure("x", "", bars)).iter("rect") if each.get("class") == "s1"]
    assert [(each.get("x"), each.get("width")) for each in found] == [("85", "255"), ("0", "85")]


def test_only_the_first_rows_are_drawn_and_the_others_counted() -> None:
    figure = bars_figure("x", "Said.", [Bar(str(at), 1.0) for at in range(40)])
    assert figure is not None and figure.sentence == "Said. 25 more are not drawn."


def test_moves_go_from_an_open_dot_to_a_full_one() -> None:
    found = _drawn(moves_figure("x", "", [Shift("a", 0, 10), Shift("b", 10, 5)]))
    dots = [(each.get("class"), each.get("cx")) for each in found.iter("circle")]
    assert dots == [("open", "6"), ("up", "334"), ("open", "334"), ("down", "170")]


def test_queries_stand_from_the_best_won_to_the_worst_lost() -> None:
    differences = [Difference("b", -0.5), Difference("a", 1.0), Difference("c", 0.0)]
    figure = differences_figure("x", differences, "nDCG@10")
    assert figure is not None and figure.sentence.startswith("1 query won, 1 tied, 1 lost, by nDCG@10")
    tips = [each.findtext("title") for each in _drawn(figure).iter("circle")]
    assert tips == ["a: +1.000", "c: +0.000", "b: -0.500"]
    assert queries_named(differences) == [("-0.500", "b"), ("+1.000", "a")]


def test_ten_thousand_queries_are_a_page_and_not_a_megabyte() -> None:
    figure = differences_figure("x", [Difference("q", at / 9999) for at in range(10_000)], "nDCG@10")
    assert figure is not None and len(figure.drawing) < 300_000


def test_confidence_is_binned_by_tenths_and_one_belongs_to_the_last() -> None:
    bins = binned([Predicted(1.0, True), Predicted(0.95, False), Predicted(0.0, False)])
    assert [(each.count, each.predicted, each.found) for each in bins] == [(1, 0.0, 0.0), (2, 0.975, 0.5)]
    assert expected_error(bins) == pytest.approx(0.95 / 3)


@pytest.mark.parametrize(
    ("value", "unit", "full", "brief"),
    [
        (1_234_567, "count", "1,234,567", "1.23 M"),
        (999_999, "bytes", "1000 kB", "1000 kB"),
        (55_720_000, "bytes", "55.7 MB", "55.7 MB"),
        (3_725, "seconds", "1 h 2 min", "1.03 h"),
        (0.25, "share", "25.0%", "25 %"),
    ],
)
def test_numbers_are_as_people_read_them(value: float, unit: str, full: str, brief: str) -> None:
    assert (shown(value, unit), short(value, unit)) == (full, brief)  # type: ignore[arg-type]


def test_durations_have_the_units_of_their_length() -> None:
    assert [seconds(value) for value in (0.0, 0.25, 2.0, 61.0)] == ["0.0 s", "250 ms", "2.0 s", "1 min 1 s"]


@pytest.mark.parametrize("values", [[0.0], [5.0, 5.0], [0.71, 0.74], [1e12], [0.0, 1e-9]])
def test_an_axis_is_round_holds_all_values_and_has_a_length(values: list[float]) -> None:
    low, high = bounds(values, "score")
    assert 0 <= low <= min(values) and max(values) <= high and low < high


def test_a_text_is_cut_to_its_room() -> None:
    assert fitting("guide", 100) == "guide"
    assert fitting("a-very-long-name", 60) == "a-very-…" and fitting("long name", 10) == ""


def test_hostile_names_are_text_and_the_same_figures_give_the_same_bytes() -> None:
    def figures() -> list[Figure | None]:
        return [
            trend_figure(Trend(EVIL, (1.0, 2.0)), [EVIL, EVIL]),
            stack_figure(Stack(EVIL, ({EVIL: 1.0},)), [EVIL]),
            treemap_figure(EVIL, EVIL, [Cell(EVIL * 9, 3, 1, 1, 1)]),
            bars_figure(EVIL, EVIL, [Bar(EVIL, 1.0, note=EVIL)]),
            moves_figure(EVIL, EVIL, [Shift(EVIL, 1, 2, EVIL)]),
            differences_figure(EVIL, [Difference(EVIL, 1.0)], EVIL),
            reliability_figure(EVIL, [Predicted(0.5, True)]),
        ]

    pages = [lone_page(EVIL, "".join(figure_html(each) for each in figures() if each)) for _ in range(2)]
    assert (
        pages[0] == pages[1] and "<script" not in pages[0] and not re.search("[\x00\ud800\u202e]", pages[0])
    )
    for each in figures():
        _drawn(each)


def test_a_lone_page_asks_for_nothing() -> None:
    page = lone_page("x", "")
    assert "default-src 'none'; style-src 'sha256-" in page
    assert not re.search(r"<script|<link|src=|url\(|@import", page)
