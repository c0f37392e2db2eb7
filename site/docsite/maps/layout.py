"""Positions in a plane for linked things: each close to those it is linked with, without overlaps.

Each takes the best free point of a grid, the largest and most linked first; then each may move once more, now
that all others have been placed. There is no randomness, and nothing ever overlaps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
# The number of grid points along the longer side; the number of further rounds.
POINTS, ROUNDS = 72, 3
# How strongly the centre of the picture attracts, in addition to the links.
_CENTRE = 0.45
_GROWTH = 1.25


@dataclass(frozen=True, slots=True)
class Shapes:
    """Half the width and height of every thing, gaps included, and how strongly each is linked with each
    other.
    """

    half_width: Floats
    half_height: Floats
    weight: Floats
    round: bool


def placed(shapes: Shapes, width: float, height: float) -> Floats:
    """Return the centre of every thing, shape ``(n, 2)``; the picture grows if the things do not fit."""
    while True:
        places = _attempt(shapes, width, height)
        if places is not None:
            return places
        width, height = width * _GROWTH, height * _GROWTH


def _attempt(shapes: Shapes, width: float, height: float) -> Floats | None:
    count = len(shapes.half_width)
    grid = _grid(width, height)
    centre = np.hypot(grid[:, 0] - width / 2, (grid[:, 1] - height / 2) * width / height)
    taken = _Taken.none(shapes, grid)
    size = shapes.half_width * shapes.half_height if shapes.round else np.zeros(count)
    order = np.lexsort((np.arange(count), -shapes.weight.sum(axis=1), -size)).tolist()
    for number in [number for _ in range(ROUNDS + 1) for number in order]:
        taken.leave(number)
        best = _best(shapes, taken, centre, number)
        if best is None:
            return None
        taken.place(number, best)
    return taken.places


@dataclass(frozen=True, slots=True)
class _Taken:
    """Where things are, and each grid point's distances from each of them: across, upright and straight."""

    grid: Floats
    places: Floats
    across: Floats
    upright: Floats
    apart: Floats

    @classmethod
    def none(cls, shapes: Shapes, grid: Floats) -> _Taken:
        """Return a state in which nothing has been placed yet."""
        count = len(shapes.half_width)
        away = [np.full((len(grid), count), np.inf) for _ in range(3)]
        return cls(grid, np.full((count, 2), np.inf), *away)

    def leave(self, number: int) -> None:
        """Remove the thing from its place."""
        self.places[number] = np.inf

    def place(self, number: int, point: int) -> None:
        """Put the thing at a point of the grid; only its own distances change."""
        self.places[number] = self.grid[point]
        away = np.abs(self.grid - self.grid[point])
        self.across[:, number], self.upright[:, number] = away.T
        self.apart[:, number] = np.hypot(away[:, 0], away[:, 1])


def _grid(width: float, height: float) -> Floats:
    step = max(width, height) / POINTS
    x, y = np.meshgrid(np.arange(0, width + step, step), np.arange(0, height + step, step))
    points: Floats = np.round(np.stack([x.ravel(), y.ravel()], axis=1))
    return points


def _best(shapes: Shapes, taken: _Taken, centre: Floats, number: int) -> int | None:
    """Return the free grid point nearest to what this is linked with, and to the centre."""
    known = np.flatnonzero(np.isfinite(taken.places[:, 0]))
    wide = shapes.half_width[number] + shapes.half_width[known]
    high = shapes.half_height[number] + shapes.half_height[known]
    apart = taken.apart[:, known]
    on_another = (
        apart < wide if shapes.round else (taken.across[:, known] < wide) & (taken.upright[:, known] < high)
    )
    free = np.flatnonzero(~on_another.any(axis=1))
    if not len(free):
        return None
    weight = shapes.weight[number, known]
    pull = apart[free] @ weight / weight.sum() if weight.sum() > 0 else 0.0
    score = np.round(pull + _CENTRE * centre[free], 3)
    return int(free[np.lexsort((free, score))[0]])
