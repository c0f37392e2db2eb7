"""Places in a plane for things that are linked: near what they are linked with, and none on another.

No randomness: it starts from a spiral in the order given, and takes a fixed number of steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
STEPS, SEPARATING_STEPS = 160, 240
_GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))


@dataclass(frozen=True, slots=True)
class Boxes:
    """Half the width and half the height of every thing, its weight to each other (symmetric), as arrays."""

    half_width: Floats
    half_height: Floats
    weight: Floats


def placed(boxes: Boxes, width: float, height: float) -> Floats:
    """The middle of every box, shape ``(n, 2)``, within this width and height where there is room for all."""
    count = len(boxes.half_width)
    places = _spiral(count, width, height)
    if count > 1:
        places = _separated(_attracted(places, boxes, width, height), boxes)
    return _fitted(places, boxes, width, height)


def _spiral(count: int, width: float, height: float) -> Floats:
    number = np.arange(count, dtype=np.float64)
    radius, angle = np.sqrt((number + 0.5) / max(count, 1)), number * _GOLDEN_ANGLE
    return np.stack([radius * np.cos(angle) * width / 2, radius * np.sin(angle) * height / 2], axis=1)


def _attracted(places: Floats, boxes: Boxes, width: float, height: float) -> Floats:
    """Fruchterman and Reingold's springs: what is linked draws together, all push each other away."""
    ideal = np.sqrt(width * height / len(places))
    pull = boxes.weight / max(float(boxes.weight.max()), 1e-9)
    for step in range(STEPS):
        apart = places[:, None, :] - places[None, :, :]
        distance = np.maximum(np.hypot(apart[..., 0], apart[..., 1]), 1e-3)
        force = ideal**2 / distance**2 - pull * distance / ideal
        np.fill_diagonal(force, 0.0)
        move = np.einsum("ij,ijk->ik", force, apart) - 0.02 * places
        length = np.maximum(np.hypot(move[:, 0], move[:, 1]), 1e-9)
        heat = ideal * 0.3 * (1 - step / STEPS)
        places = places + move / length[:, None] * np.minimum(length, heat)[:, None]
    rounded: Floats = np.round(places, 6)
    return rounded


def _separated(places: Floats, boxes: Boxes) -> Floats:
    """Pushes overlapping boxes apart, each time along the shorter way."""
    wide = boxes.half_width[:, None] + boxes.half_width[None, :]
    high = boxes.half_height[:, None] + boxes.half_height[None, :]
    number = np.arange(len(places))
    side = np.sign(number[:, None] - number[None, :]).astype(np.float64)
    for _ in range(SEPARATING_STEPS):
        apart = places[:, None, :] - places[None, :, :]
        over_x, over_y = wide - np.abs(apart[..., 0]), high - np.abs(apart[..., 1])
        touching = (over_x > 0) & (over_y > 0)
        np.fill_diagonal(touching, False)
        if not touching.any():
            break
        sideways = touching & (over_x <= over_y)
        x = np.where(sideways, over_x * np.where(apart[..., 0] == 0, side, np.sign(apart[..., 0])), 0.0)
        upright = touching & ~sideways
        y = np.where(upright, over_y * np.where(apart[..., 1] == 0, side, np.sign(apart[..., 1])), 0.0)
        places = places + 0.5 * np.stack([x.sum(axis=1), y.sum(axis=1)], axis=1)
    rounded: Floats = np.round(places, 6)
    return rounded


def _fitted(places: Floats, boxes: Boxes, width: float, height: float) -> Floats:
    """Moved into the picture; its size grows with what does not fit, so nothing is squeezed onto another."""
    half = np.stack([boxes.half_width, boxes.half_height], axis=1)
    low, high = (places - half).min(axis=0), (places + half).max(axis=0)
    spare = np.maximum(np.array([width, height]) - (high - low), 0.0) / 2
    moved: Floats = places - low + spare
    return moved
