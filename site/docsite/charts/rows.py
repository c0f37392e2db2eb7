"""One thing a row: bars with a mark for what is usual, and how far something went, from before to now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .figure import Figure, Unit, box, dot, fitting, label, line, shown, svg

WIDTH, ROW = 340, 36
_MOST = 15


@dataclass(frozen=True, slots=True)
class Bar:
    """A value; ``usual`` is marked on the bar, ``note`` takes the place of the value's own text."""

    name: str
    value: float
    usual: float | None = None
    note: str = ""
    kind: str = "s1"


@dataclass(frozen=True, slots=True)
class Shift:
    """A figure before and now; ``note`` says what happened."""

    name: str
    before: float
    now: float
    note: str = ""


def bars_figure(title: str, sentence: str, bars: Sequence[Bar], unit: Unit = "count") -> Figure | None:
    """Return a bar for each value, in the order given, and how many more there are."""
    if not bars:
        return None
    some, more = bars[:_MOST], len(bars) - _MOST
    if more > 0:
        sentence = f"{sentence} {more:,} more are not drawn."
    tall = len(some) * ROW
    return Figure(
        title, sentence, svg(WIDTH, tall, title, f"{sentence} {_told(some, unit)}", _bars(some, unit))
    )


def _told(bars: Sequence[Bar], unit: Unit) -> str:
    return "; ".join(f"{each.name}: {each.note or shown(each.value, unit)}" for each in bars)


def _bars(bars: Sequence[Bar], unit: Unit) -> Iterator[str]:
    low = min(0.0, *(each.value for each in bars))
    high = max(0.0, *(max(each.value, each.usual or 0.0) for each in bars))
    scale = WIDTH / ((high - low) or 1.0)
    zero = -low * scale
    for at, each in enumerate(bars):
        y, note = at * ROW, each.note or shown(each.value, unit)
        yield _named(y, each.name, note)
        yield box(0, y + 20, WIDTH, 8, "track")
        ends = sorted((zero, zero + each.value * scale))
        yield box(
            ends[0], y + 20, max(ends[1] - ends[0], 1.0 if each.value else 0.0), 8, each.kind, each.name
        )
        if each.usual is not None:
            x = min(max(zero + each.usual * scale, 1), WIDTH - 1)
            yield line(x, y + 17, x, y + 31, "mark")


def _named(y: float, name: str, note: str) -> str:
    """Return the two texts above a row: the name gets what room the note leaves."""
    room = WIDTH - len(note) * 7 - 12
    return label(0, y + 14, fitting(name, room), "name") + label(WIDTH, y + 14, note, "", "end")


def moves_figure(title: str, sentence: str, moves: Sequence[Shift]) -> Figure | None:
    """Return a line from before to now for each, in the order given: an open dot, and a full one."""
    if not moves:
        return None
    some, more = moves[:_MOST], len(moves) - _MOST
    if more > 0:
        sentence = f"{sentence} {more:,} more are not drawn."
    told = "; ".join(
        f"{each.name}: {_count(each.before)} to {_count(each.now)}{each.note and ', '}{each.note}"
        for each in some
    )
    drawing = svg(WIDTH, len(some) * ROW, title, f"{sentence} {told}", _moves(some))
    legend = (("open", "before"), ("up", "now, more"), ("down", "now, fewer"))
    return Figure(title, sentence, drawing, legend=legend)


def _count(value: float) -> str:
    return shown(value, "count")


def _moves(moves: Sequence[Shift]) -> Iterator[str]:
    most = max(max(each.before, each.now) for each in moves) or 1.0
    low = min(0.0, *(min(each.before, each.now) for each in moves))
    for at, each in enumerate(moves):
        y = at * ROW
        then, now = (
            6 + (value - low) / ((most - low) or 1.0) * (WIDTH - 12) for value in (each.before, each.now)
        )
        figures = f"{_count(each.before)} → {_count(each.now)}"
        kind = "up" if each.now > each.before else "down" if each.now < each.before else "same"
        yield _named(y, each.name, f"{each.note}, {figures}" if each.note else figures)
        yield line(6, y + 25, WIDTH - 6, y + 25, "grid")
        yield line(then, y + 25, now, y + 25, f"way {kind}")
        yield dot(then, y + 25, 4, "open")
        yield dot(now, y + 25, 4.5, kind)
