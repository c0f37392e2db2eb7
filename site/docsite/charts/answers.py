"""How judged queries are answered: which won and lost, and whether a confidence is worth what it says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...pipeline.printable import counted
from .figure import Figure, dot, label, line, number, plain, svg

_WIDE, _NARROW, _TALL = 960.0, 340.0, 240.0
_MOST_NAMED = 10
_LEFT, _EDGE = 34.0, 8.0
_SQUARE, _FROM, _TO = 340.0, 40.0, 326.0
_BINS = 10
# Queries that get a dot with a text; a picture of more would be all dots.
_MOST_DOTS = 120


@dataclass(frozen=True, slots=True)
class Difference:
    """How much better a query is answered than before; below zero, how much worse."""

    query: str
    difference: float


@dataclass(frozen=True, slots=True)
class Predicted:
    """A confidence from 0 to 1, and whether what it stands for was the case."""

    confidence: float
    found: bool


def differences_figure(title: str, differences: Sequence[Difference], measure: str) -> Figure | None:
    """Return a line for each query, those that won most at the left, those that lost most at the right."""
    if not differences:
        return None
    ordered = sorted(differences, key=lambda each: (-each.difference, each.query))
    wins = sum(each.difference > 0 for each in ordered)
    losses = sum(each.difference < 0 for each in ordered)
    ties = len(ordered) - wins - losses
    sentence = f"{counted(wins, 'query')} won, {ties:,} tied, {losses:,} lost, by {measure}; the best first."
    wide, narrow = (
        svg(width, _TALL, title, sentence, _differences(ordered, width)) for width in (_WIDE, _NARROW)
    )
    return Figure(title, sentence, wide, narrow, legend=(("up", "won"), ("s6", "tied"), ("down", "lost")))


def _differences(ordered: Sequence[Difference], width: float) -> Iterator[str]:
    most = max((abs(each.difference) for each in ordered), default=0.0) or 1.0
    middle, reach = _TALL / 2, _TALL / 2 - 14
    for value in (most, 0.0, -most):
        y = middle - value / most * reach
        yield line(_LEFT, y, width - _EDGE, y, "grid" if value else "axis")
        yield label(_LEFT - 6, y + 4, f"{value:+.2g}".replace("-", "−") if value else "0", "", "end")
    step = (width - _LEFT - _EDGE) / len(ordered)
    ways: dict[str, list[str]] = {"up": [], "down": [], "same": []}
    dots = []
    for at, each in enumerate(ordered):
        x, y = _LEFT + (at + 0.5) * step, middle - each.difference / most * reach
        kind = "up" if each.difference > 0 else "down" if each.difference < 0 else "same"
        ways[kind].append(f"M{number(x)} {number(middle)}V{number(y)}")
        if len(ordered) <= _MOST_DOTS:
            dots.append(
                dot(x, y, min(3.5, max(step / 2.5, 1.5)), kind, f"{each.query}: {each.difference:+.3f}")
            )
    # One path a colour: thousands of queries are a page, not a megabyte of elements.
    for kind, way in ways.items():
        if way:
            yield f'<path class="way {kind}" d="{"".join(way)}"/>'
    yield from dots


@dataclass(frozen=True, slots=True)
class Bin:
    """Queries of about the same confidence: how many, their mean confidence, and the share found."""

    count: int
    predicted: float
    found: float


def binned(predictions: Sequence[Predicted]) -> tuple[Bin, ...]:
    """Return the predictions by tenths of their confidence, without empty tenths."""
    tenths: dict[int, list[Predicted]] = {}
    for each in predictions:
        tenths.setdefault(min(int(each.confidence * _BINS), _BINS - 1), []).append(each)
    return tuple(
        Bin(
            len(some),
            sum(each.confidence for each in some) / len(some),
            sum(each.found for each in some) / len(some),
        )
        for _, some in sorted(tenths.items())
    )


def expected_error(bins: Sequence[Bin]) -> float:
    """Return the mean distance of the found share from the confidence, each query counting the same."""
    total = sum(each.count for each in bins)
    return sum(each.count * abs(each.predicted - each.found) for each in bins) / total if total else 0.0


def reliability_figure(title: str, predictions: Sequence[Predicted]) -> Figure | None:
    """Return predicted against found shares; on the diagonal a confidence is what it says."""
    bins = binned(predictions)
    if not bins:
        return None
    counts = "; ".join(
        f"{each.predicted:.0%} predicted, {each.found:.0%} found, {each.count:,}" for each in bins
    )
    sentence = (
        f"{len(predictions):,} queries in tenths of their confidence, each dot as large as its number. "
        f"Below the diagonal it promises too much; mean distance {expected_error(bins):.3f}."
    )
    drawing = svg(_SQUARE, _SQUARE, title, f"{sentence} {counts}.", _reliability(bins))
    return Figure(title, sentence, drawing)


def _reliability(bins: Sequence[Bin]) -> Iterator[str]:
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        at, down = _across(share), _upright(share)
        yield line(_FROM, down, _TO, down, "grid")
        yield line(at, _upright(0.0), at, _upright(1.0), "grid")
        yield label(_FROM - 6, down + 4, f"{share:.0%}", "", "end")
        if share in {0.0, 0.5, 1.0}:
            yield label(at, _upright(0.0) + 16, f"{share:.0%}", "", "mid")
    yield line(_across(0), _upright(0), _across(1), _upright(1), "diagonal")
    yield label((_FROM + _TO) / 2, _SQUARE - 6, "confidence of the best hit", "", "mid")
    yield label(_FROM, 12, "found")
    path = "L".join(f"{number(_across(each.predicted))} {number(_upright(each.found))}" for each in bins)
    yield f'<path class="trend" d="M{path}"/>'
    most = max(each.count for each in bins)
    for each in bins:
        x, y, radius = _across(each.predicted), _upright(each.found), 4 + 9 * (each.count / most) ** 0.5
        yield dot(
            x,
            y,
            radius,
            "s1",
            f"{counted(each.count, 'query')}: {each.predicted:.1%} predicted, {each.found:.1%} found",
        )
        yield label(x, y - radius - 4, f"{each.count:,}", "name", "mid")


def _across(share: float) -> float:
    return _FROM + share * (_TO - _FROM)


def _upright(share: float) -> float:
    return 300.0 - share * (300.0 - 20.0)


def queries_named(differences: Sequence[Difference]) -> list[tuple[str, str]]:
    """Return rows of the queries that changed most, those that lost first."""
    ordered = sorted(differences, key=lambda each: (each.difference, each.query))
    changed = [each for each in ordered[:_MOST_NAMED] if each.difference < 0]
    changed += [each for each in reversed(ordered[-_MOST_NAMED:]) if each.difference > 0]
    return [(f"{each.difference:+.3f}", plain(each.query)) for each in changed]
