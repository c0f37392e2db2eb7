"""Drawings of the pages around one page: those linking to it on the left, those it links to on the right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from ..library import Entry
from ..outline.plan import SitePlan

EACH_SIDE = 7
MIN_NEIGHBOURS = 2
LABEL_CHARS = 26
WIDTH, LINE, EDGE = 640, 26, 14
_MIDDLE, _HALF = WIDTH // 2, 76
_LEFT, _RIGHT = 200, WIDTH - 200


@dataclass(frozen=True, slots=True)
class _Neighbour:
    """A page at one end of a line; ``both`` if links go both ways."""

    entry: Entry
    both: bool


def neighbour_graph(plan: SitePlan, entry: Entry) -> Markup:
    """Return the drawing as SVG, or nothing if there is hardly anything to draw or the settings want none."""
    if not plan.settings.graph:
        return Markup("")
    to_here = plan.relations.backlinks_of(entry.row)
    from_here = plan.relations.links_of(entry.row)
    if len(to_here) + len(from_here) < MIN_NEIGHBOURS:
        return Markup("")
    mutual = set(to_here) & set(from_here)
    left = _best(plan, [row for row in to_here if row not in mutual], mutual)
    right = _best(plan, from_here, mutual)
    return _drawing(plan, entry, left, right)


def _best(plan: SitePlan, rows: Sequence[int], mutual: set[int]) -> list[_Neighbour]:
    entries = sorted(
        (plan.library.entries[row] for row in rows),
        key=lambda e: (e.row not in mutual, -e.links_in, e.doc_id),
    )
    return [_Neighbour(entry, entry.row in mutual) for entry in entries[:EACH_SIDE]]


def _drawing(plan: SitePlan, entry: Entry, left: Sequence[_Neighbour], right: Sequence[_Neighbour]) -> Markup:
    height = 2 * EDGE + LINE * max(len(left), len(right), 1)
    middle = height / 2
    say = plan.theme.words_in(plan.languages.of(entry.page)).say
    parts = [
        f'<svg class="graph" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="group"'
        f' aria-label="{escape(say("around_title", title=entry.title))}">'
    ]
    for side, neighbours in (("l", left), ("r", right)):
        for y, neighbour in zip(_places(len(neighbours), height), neighbours, strict=True):
            parts.append(_line(side, y, middle, neighbour.both))
            parts.append(
                _label(side, y, plan.library.href(entry.page, neighbour.entry.page), neighbour.entry)
            )
    box = middle - 13
    parts.append(f'<rect x="{_MIDDLE - _HALF}" y="{_number(box)}" width="{2 * _HALF}" height="26" rx="6"/>')
    parts.append(
        f'<text x="{_MIDDLE}" y="{_number(middle + 4)}">{escape(shortened(entry.title, 20))}</text></svg>'
    )
    return Markup("".join(parts))  # noqa: S704 - all that is not ours was escaped


def _places(count: int, height: float) -> list[float]:
    top = height / 2 - LINE * (count - 1) / 2
    return [top + LINE * place for place in range(count)]


def _line(side: str, y: float, middle: float, both: bool) -> str:
    start, end = (_LEFT + 6, _MIDDLE - _HALF) if side == "l" else (_MIDDLE + _HALF, _RIGHT - 6)
    first, last = (y, middle) if side == "l" else (middle, y)
    bend = (start + end) / 2
    kind = ' class="both"' if both else ""
    points = (
        f"M{start} {_number(first)}"
        f"C{_number(bend)} {_number(first)} {_number(bend)} {_number(last)} {end} {_number(last)}"
    )
    return f'<path{kind} d="{points}"/>'


def _label(side: str, y: float, href: str, entry: Entry) -> str:
    x = _LEFT if side == "l" else _RIGHT
    return (
        f'<a href="{escape(href)}"><text class="{side}" x="{x}" y="{_number(y + 4)}">'
        f"{escape(shortened(entry.title, LABEL_CHARS))}</text></a>"
    )


def shortened(text: str, most: int) -> str:
    """Return the text, truncated if it is longer than this many characters."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
