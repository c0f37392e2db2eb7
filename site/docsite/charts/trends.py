"""Figures over time: a line with gaps where nothing is known, and columns stacked from parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from .figure import Figure, Unit, bounds, box, dot, label, line, number, short, shown, svg

WIDTH, HEIGHT = 320, 118
# Room for the labels of the axis at the left, and where the first and the last value stand.
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 312, 10, 90
_PARTS = 6


@dataclass(frozen=True, slots=True)
class Trend:
    """A figure over several nights, oldest first; ``None`` where it is not known."""

    title: str
    values: tuple[float | None, ...]
    unit: Unit = "count"


@dataclass(frozen=True, slots=True)
class Stack:
    """Seconds or counts of named parts in each of several nights, oldest first."""

    title: str
    parts: tuple[Mapping[str, float], ...]
    unit: Unit = "seconds"


def trend_figure(trend: Trend, nights: Sequence[str]) -> Figure | None:
    """Return the line of a trend; ``None`` where no night has the figure."""
    known = [(at, value) for at, value in enumerate(trend.values) if value is not None]
    if not known:
        return None
    last = known[-1][1]
    before = known[-2][1] if len(known) > 1 else None
    sentence = _sentence(trend, known, nights)
    drawing = svg(WIDTH, HEIGHT, trend.title, sentence, _line_parts(trend, known, nights))
    return Figure(
        trend.title,
        sentence,
        drawing,
        value=shown(last, trend.unit),
        change=_change(last, before, trend.unit),
    )


def _change(last: float, before: float | None, unit: Unit) -> str:
    if before is None:
        return "first night"
    if last == before:
        return "as the night before"
    sign = "+" if last > before else "−"
    return f"{sign}{shown(abs(last - before), unit)} since the night before"


def _sentence(trend: Trend, known: Sequence[tuple[int, float]], nights: Sequence[str]) -> str:
    values = [value for _, value in known]
    (first, old), (last, new) = known[0], known[-1]
    if len(known) == 1:
        return f"{shown(new, trend.unit)} in the night of {nights[last]}, the only one known."
    missing = len(trend.values) - len(known)
    gap = f" {missing:,} nights without the figure are gaps." if missing else ""
    return (
        f"From {shown(old, trend.unit)} ({nights[first]}) to {shown(new, trend.unit)} ({nights[last]}), "
        f"least {shown(min(values), trend.unit)}, most {shown(max(values), trend.unit)}.{gap}"
    )


def _line_parts(trend: Trend, known: Sequence[tuple[int, float]], nights: Sequence[str]) -> Iterator[str]:
    low, high = bounds([value for _, value in known], trend.unit)
    yield from _axis(low, high, trend.unit, nights)
    points = {
        at: (_x(at, len(nights)), _BOTTOM - (value - low) / (high - low) * (_BOTTOM - _TOP))
        for at, value in known
    }
    for run in _runs(list(points)):
        path = "L".join(f"{number(points[at][0])} {number(points[at][1])}" for at in run)
        if len(run) > 1:
            yield f'<path class="trend" d="M{path}"/>'
        else:
            yield dot(*points[run[0]], 2, "end")
    yield dot(*points[known[-1][0]], 3.5, "end")
    wide = (_RIGHT - _LEFT) / max(len(nights) - 1, 1)
    for at, value in known:
        tip = f"{nights[at]}: {shown(value, trend.unit)}"
        yield box(points[at][0] - wide / 2, 0, wide, _BOTTOM, "touch", tip)


def _runs(places: Sequence[int]) -> Iterator[list[int]]:
    """Yield stretches of consecutive nights."""
    for _, run in groupby(enumerate(places), key=lambda pair: pair[1] - pair[0]):
        yield [place for _, place in run]


def _axis(low: float, high: float, unit: Unit, nights: Sequence[str]) -> Iterator[str]:
    for value, y in ((high, _TOP), (low, _BOTTOM)):
        yield line(_LEFT, y, _RIGHT, y, "grid")
        yield label(_LEFT - 8, y + 4, short(value, unit), "", "end")
    if len(nights) == 1:
        yield label((_LEFT + _RIGHT) / 2, HEIGHT - 8, nights[0], "", "mid")
        return
    yield label(_LEFT, HEIGHT - 8, nights[0])
    yield label(_RIGHT, HEIGHT - 8, nights[-1], "", "end")


def _x(at: int, nights: int) -> float:
    return _LEFT + (_RIGHT - _LEFT) * (at / (nights - 1) if nights > 1 else 0.5)


def stack_figure(stack: Stack, nights: Sequence[str]) -> Figure | None:
    """Return columns of parts; the largest parts have colours of their own, the others share one."""
    totals = [sum(parts.values()) for parts in stack.parts]
    if not any(totals):
        return None
    named = _largest(stack)
    last = next(at for at in reversed(range(len(totals))) if totals[at])
    sentence = (
        f"{shown(totals[last], stack.unit)} in the night of {nights[last]}, of it "
        + ", ".join(f"{name} {shown(value, stack.unit)}" for name, value in _split(stack.parts[last], named))
        + "."
    )
    legend = tuple((f"s{at + 1}", name) for at, name in enumerate(named))
    drawing = svg(WIDTH, HEIGHT, stack.title, sentence, _columns(stack, named, max(totals), nights))
    before = next((totals[at] for at in reversed(range(last)) if totals[at]), None)
    value, change = shown(totals[last], stack.unit), _change(totals[last], before, stack.unit)
    return Figure(stack.title, sentence, drawing, value=value, change=change, legend=legend)


def _largest(stack: Stack) -> list[str]:
    sums: dict[str, float] = {}
    for parts in stack.parts:
        for name, value in parts.items():
            sums[name] = sums.get(name, 0.0) + value
    ordered = sorted(sums, key=lambda name: (-sums[name], name))
    return ordered if len(ordered) <= _PARTS else [*ordered[: _PARTS - 1], "others"]


def _split(parts: Mapping[str, float], named: Sequence[str]) -> list[tuple[str, float]]:
    """Return the values of the named parts, in their order; what has no name counts with the others."""
    own = {name: parts.get(name, 0.0) for name in named}
    rest = sum(value for name, value in parts.items() if name not in own)
    return [(name, value + (rest if name == "others" else 0.0)) for name, value in own.items()]


def _columns(stack: Stack, named: Sequence[str], most: float, nights: Sequence[str]) -> Iterator[str]:
    high = bounds([0.0, most], stack.unit)[1]
    yield from _axis(0.0, high, stack.unit, nights)
    step = (_RIGHT - _LEFT) / max(len(nights), 1)
    wide = min(step * 0.8, 24)
    for at, parts in enumerate(stack.parts):
        y, x = float(_BOTTOM), _LEFT + step * (at + 0.5) - wide / 2
        for place, (name, value) in enumerate(_split(parts, named), 1):
            tall = value / high * (_BOTTOM - _TOP)
            y -= tall
            # What is less than a tenth of a pixel cannot be seen.
            if tall >= 0.05:
                yield box(x, y, wide, tall, f"s{place}", f"{nights[at]}, {name}: {shown(value, stack.unit)}")
