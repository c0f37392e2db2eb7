"""A search through the space: coordinate descent from today's settings and the best of some random points.

Deterministic: axes and values are tried in their order, ties stay where they are, and the seed decides the
rest.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .space import Axis, Point, Value

Worth = Callable[[Point], float]
# A smaller gain is not worth a line in somebody's settings.
LEAST_GAIN = 0.0005


@dataclass(frozen=True, slots=True)
class Effort:
    """How hard to search: points looked at in one search, random ones among them, and the seed of these."""

    points: int = 150
    random: int = 15
    seed: int = 0


@dataclass(frozen=True, slots=True)
class AxisOfToday:
    """An axis and the value that it has today, ``None`` where that is none of its values."""

    axis: Axis
    today: Value | None

    def put(self, point: Point, value: Value) -> Point:
        """Return the point with this setting put to a value; today's is no change."""
        if self.today is not None and type(value) is type(self.today) and value == self.today:
            return point.without(self.axis.key)
        return point.having(self.axis.key, value)

    def values(self) -> tuple[Value | None, ...]:
        """Return the values to try; ``None`` is today's where the axis does not name it."""
        return self.axis.values if self.today is not None else (None, *self.axis.values)

    def moved(self, point: Point, value: Value | None) -> Point:
        """Return the point with this setting put to one of :meth:`values`."""
        return point.without(self.axis.key) if value is None else self.put(point, value)


def search(axes: Sequence[AxisOfToday], worth: Worth, effort: Effort) -> Point:
    """Return the best point found; today's where nothing is better by ``LEAST_GAIN``."""
    looked = _Looked(worth, effort.points)
    best = _descended(Point(), axes, looked)
    drawn = _drawn(axes, effort)
    if drawn and looked.left > len(drawn):
        start = max(drawn, key=looked)
        other = _descended(start, axes, looked)
        if looked(other) > looked(best) + LEAST_GAIN:
            best = other
    return _pruned(best, looked)


class _Looked:
    """What points are worth, as long as there is effort left: beyond it, nothing is worth anything."""

    def __init__(self, worth: Worth, most: int) -> None:
        self._worth, self._most = worth, most
        self._known: dict[Point, float] = {}

    @property
    def left(self) -> int:
        return self._most - len(self._known)

    def __call__(self, point: Point) -> float:
        if point not in self._known:
            if self.left <= 0:
                return float("-inf")
            self._known[point] = self._worth(point)
        return self._known[point]


def _descended(start: Point, axes: Sequence[AxisOfToday], looked: _Looked) -> Point:
    """Put every axis in turn to its best value until a whole round changes nothing; return that point."""
    best, worth = start, looked(start)
    while True:
        before = best
        for axis in axes:
            for value in axis.values():
                other = axis.moved(best, value)
                if looked(other) > worth + LEAST_GAIN:
                    best, worth = other, looked(other)
        if best == before:
            return best


def _drawn(axes: Sequence[AxisOfToday], effort: Effort) -> list[Point]:
    """Return random points, each of which changes about a third of the axes."""
    rng, points = random.Random(effort.seed), []  # noqa: S311  # a search, not a secret
    for _ in range(effort.random):
        point = Point()
        for axis in axes:
            value = rng.choice(axis.axis.values)
            if rng.random() < 1 / 3:
                point = axis.put(point, value)
        points.append(point)
    return points


def _pruned(point: Point, looked: _Looked) -> Point:
    """Return the point without the changes that add nothing, tried one after the other."""
    for change in point.changes:
        less = point.without(change.key)
        if looked(less) >= looked(point) - LEAST_GAIN / 2:
            point = less
    return point
