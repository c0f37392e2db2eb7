"""The space of a tuning: what may stand in its file, and what a point in it makes of today's settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from noctule.flows.quality.tuning.descent import AxisOfToday, Effort, search
from noctule.flows.quality.tuning.space import (
    DEFAULT_SPACE,
    Axis,
    Change,
    Point,
    Value,
    applied,
    as_toml,
    axes,
    checked,
    read_space,
    today,
)
from noctule.pipeline.errors import SettingsError
from noctule.pipeline.settings.reading import parse
from noctule.pipeline.settings.settings import Settings


def default_axes() -> tuple[Axis, ...]:
    return axes({key: list(values) for key, values in DEFAULT_SPACE.items()}, "the default space")


def point(**changes: Value) -> Point:
    made = Point()
    for key, value in changes.items():
        made = made.having(key.replace("__", "."), value)
    return made


def test_the_default_space_can_be_set_and_is_the_one_that_is_printed(tmp_path: Path) -> None:
    checked(default_axes(), Settings())
    (tmp_path / "space.toml").write_text(as_toml())
    assert read_space(tmp_path / "space.toml") == default_axes()


def test_the_default_space_holds_todays_value_of_every_setting() -> None:
    assert [axis.key for axis in default_axes() if today(Settings(), axis) is None] == []


def test_a_name_below_a_list_of_names_switches_it() -> None:
    off = applied(Settings(), point(search__stages__support=False)).search.stages
    assert off == tuple(name for name in Settings().search.stages if name != "support")
    on = applied(parse({"search": {"stages": list(off)}}, where="test"), point(search__stages__support=True))
    assert on.search.stages == Settings().search.stages


def test_a_stage_that_is_switched_on_stands_before_the_first_that_comes_later() -> None:
    stages = applied(Settings(), point(search__stages__mmr=True)).search.stages
    assert stages.index("mmr") == stages.index("per_document") - 1
    assert applied(Settings(), point(search__stages__elbow=True)).search.stages[-1] == "elbow"


def test_a_star_is_every_field() -> None:
    changed = applied(Settings(), Point((Change("lexical.fields.*.b", 0.4),))).lexical.fields
    assert {field.b for field in changed.values()} == {0.4}
    assert changed["title"].weight == Settings().lexical.fields["title"].weight


def test_no_change_is_todays_settings() -> None:
    assert applied(Settings(), Point()) == Settings()


@pytest.mark.parametrize(
    ("table", "what"),
    [
        ({"chunk.max_tokens": [128, 256]}, "chunk.max_tokens cannot be tuned: it shapes the snapshot"),
        ({"search.rrf_k": 10}, "search.rrf_k needs a list of values"),
        ({"search.rrf_k": []}, "search.rrf_k needs a list of values"),
        ({"search.stages": [["support"]]}, "search.stages needs a list of values"),
    ],
)
def test_what_cannot_be_an_axis_is_refused(table: dict[str, object], what: str) -> None:
    with pytest.raises(SettingsError, match=what) as caught:
        axes(table, "space.toml")
    assert caught.value.hint and caught.value.where == "space.toml"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("search.rrf_k", -1),
        ("search.rrf", 10),
        ("search.rrf_k.deep", 10),
        ("search.stages.supprt", True),
        ("search.stages.support", "on"),
        ("search.weights.keywords", 1.0),
        ("lexical.fields.heading.weight", 1.0),
    ],
)
def test_a_value_that_cannot_be_set_is_refused_before_any_search(key: str, value: Value) -> None:
    with pytest.raises(SettingsError) as caught:
        checked([Axis(key, (value,))], Settings())
    assert key.split(".")[1] in str(caught.value)


@pytest.mark.parametrize(
    "text", ["", "[space]\n", "space = 1\n", "[space]\nx = [\n", "[other]\na = [1]\n", "\x00"], ids=repr
)
def test_a_file_that_is_no_space_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "space.toml").write_text(text)
    with pytest.raises(SettingsError) as caught:
        read_space(tmp_path / "space.toml")
    assert caught.value.where == str(tmp_path / "space.toml")


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot read the space"):
        read_space(tmp_path / "space.toml")


# The search through it

LETTERS = [
    AxisOfToday(Axis("a", (0, 1, 2, 3)), 0),
    AxisOfToday(Axis("b", (0, 1, 2, 3)), 0),
    AxisOfToday(Axis("c", (5, 6)), None),
]


def worth(point: Point) -> float:
    """Best at a = 2, b = 3, c = 6; a and b help each other."""
    a, b = int(point.value("a") or 0), int(point.value("b") or 0)
    return -((a - 2) ** 2) - (b - 3) ** 2 + 0.5 * a * b + (1.0 if point.value("c") == 6 else 0.0)


def test_descent_finds_the_best_point_of_a_smooth_space() -> None:
    found = search(LETTERS, worth, Effort(points=60, random=5))
    assert worth(found) == max(
        worth(point(a=a, b=b, c=c)) for a in range(4) for b in range(4) for c in (5, 6)
    )
    assert found.value("c") == 6


def test_the_same_seed_gives_the_same_point() -> None:
    effort = Effort(points=30, random=10, seed=3)
    assert search(LETTERS, worth, effort) == search(LETTERS, worth, effort)


def test_todays_settings_stay_where_nothing_is_better() -> None:
    assert search(LETTERS, lambda _: 0.5, Effort()) == Point()


def test_a_change_that_adds_nothing_is_taken_back() -> None:
    found = search(LETTERS, lambda p: float(p.value("b") == 2), Effort(points=100, random=30))
    assert found == point(b=2)


def test_no_more_points_are_looked_at_than_was_said() -> None:
    looked = set()

    def counted(point: Point) -> float:
        looked.add(point)
        return worth(point)

    search(LETTERS, counted, Effort(points=12, random=4))
    assert len(looked) == 12


def test_todays_value_is_no_change_but_true_is_not_one() -> None:
    axis = AxisOfToday(Axis("a", (1, True)), 1)
    assert axis.put(Point(), 1) == Point()
    assert axis.put(Point(), True) == point(a=True)
