"""A treemap: each thing a rectangle as large as it is, nearly square, with its changes as bands in it.

Squarified as by Bruls, Huizing and van Wijk (2000): rows along the shorter side, each filled as long as its
worst rectangle gets no thinner.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...pipeline.printable import counted
from .figure import Figure, box, fitting, label, plain, svg

WIDE, NARROW = (960.0, 400.0), (340.0, 460.0)
_GAP = 2.0
# A band that is there can be seen.
_LEAST_BAND = 4.0
_LEGEND = (
    ("added", "+ added"),
    ("changed", "~ changed"),
    ("removed", "− removed"),
    ("same", "as before"),
)


@dataclass(frozen=True, slots=True)
class Cell:
    """A folder: how many documents it has or had, and what became of them."""

    name: str
    size: int
    added: int = 0
    changed: int = 0
    removed: int = 0

    @property
    def told(self) -> str:
        """Return the changes in words."""
        kinds = (("added", self.added), ("changed", self.changed), ("removed", self.removed))
        words = ", ".join(f"{count:,} {name}" for name, count in kinds if count)
        return f"{self.name}: {counted(self.size, 'document')}, {words or 'none changed'}"

    @property
    def signs(self) -> str:
        """Return the changes in a few characters."""
        kinds = (("+", self.added), ("~", self.changed), ("−", self.removed))
        return " ".join(f"{sign}{count:,}" for sign, count in kinds if count)


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A part of the picture."""

    x: float
    y: float
    width: float
    height: float


def treemap_figure(title: str, sentence: str, cells: Sequence[Cell]) -> Figure | None:
    """Return the cells as a treemap for wide and for narrow screens; ``None`` where nothing has a size."""
    some = [each for each in cells if each.size > 0]
    if not some:
        return None
    changed = [each for each in some if each.signs]
    told = f"{sentence} {'; '.join(each.told for each in changed)}"
    wide, narrow = (svg(*size, title, told, _drawn(some, *size)) for size in (WIDE, NARROW))
    return Figure(title, sentence, wide, narrow, legend=_LEGEND)


def _drawn(cells: Sequence[Cell], width: float, height: float) -> Iterator[str]:
    ordered = sorted(cells, key=lambda each: (-each.size, each.name))
    places = squarified([each.size for each in ordered], Rectangle(0, 0, width, height))
    for cell, place in zip(ordered, places, strict=True):
        yield from _cell(cell, place)


def squarified(sizes: Sequence[float], room: Rectangle) -> list[Rectangle]:
    """Return a rectangle for each size, largest first, that fill the room; sizes are above zero."""
    scale = room.width * room.height / sum(sizes) if sizes else 0.0
    areas, placed = [size * scale for size in sizes], list[Rectangle]()
    while areas:
        side = min(room.width, room.height)
        count = 1
        while count < len(areas) and _worst(areas[: count + 1], side) <= _worst(areas[:count], side):
            count += 1
        row, areas = areas[:count], areas[count:]
        placed += _row(row, room)
        room = _rest(room, sum(row))
    return placed


def _worst(row: Sequence[float], side: float) -> float:
    """Return how many times longer than wide the worst rectangle of the row is."""
    total = sum(row)
    return max(side * side * max(row) / (total * total), total * total / (side * side * min(row)))


def _row(row: Sequence[float], room: Rectangle) -> Iterator[Rectangle]:
    total, upright = sum(row), room.width >= room.height
    thick = total / (room.height if upright else room.width)
    at = room.y if upright else room.x
    for area in row:
        long = area / thick
        yield Rectangle(room.x, at, thick, long) if upright else Rectangle(at, room.y, long, thick)
        at += long


def _rest(room: Rectangle, area: float) -> Rectangle:
    if room.width >= room.height:
        used = area / room.height
        return Rectangle(room.x + used, room.y, max(room.width - used, 1e-9), room.height)
    used = area / room.width
    return Rectangle(room.x, room.y + used, room.width, max(room.height - used, 1e-9))


def _cell(cell: Cell, place: Rectangle) -> Iterator[str]:
    width, height = max(place.width - _GAP, 0.5), max(place.height - _GAP, 0.5)
    yield box(place.x, place.y, width, height, "cell", cell.told)
    bottom = place.y + height
    for kind, count in (("removed", cell.removed), ("changed", cell.changed), ("added", cell.added)):
        if count:
            tall = min(max(count / cell.size * height, _LEAST_BAND), max(bottom - place.y, 0.0))
            bottom -= tall
            yield box(place.x, bottom, width, tall, f"band {kind}", cell.told)
    yield from _words(cell, place, width, height)


def _words(cell: Cell, place: Rectangle, width: float, height: float) -> Iterator[str]:
    """Yield the name and the changes on a ground of their own, as far as there is room for them."""
    name = fitting(plain(cell.name), width - 16)
    signs = fitting(cell.signs, width - 16)
    lines = [each for each in ((name, "name"), (signs, "signs")) if each[0]][: int((height - 8) // 17)]
    if not lines or not name:
        return
    ground = min(max(len(text) for text, _ in lines) * 7.4 + 10, width - 6)
    yield box(place.x + 3, place.y + 3, ground, len(lines) * 17 + 4, "ground")
    for at, (text, kind) in enumerate(lines):
        yield label(place.x + 8, place.y + 17 + at * 17, text, kind)
