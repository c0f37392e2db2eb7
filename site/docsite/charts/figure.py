"""What all charts are made of: figures with a text that says the same, numbers as people read them, labels.

Coordinates have one decimal and every text is escaped here, so the same figures give the same bytes and a
name from a document stays a name. Colours are classes of ``charts.css``: a page's policy allows no others.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

Unit = Literal["count", "bytes", "seconds", "score", "share"]
_STEPS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
_BYTES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
# Half an em and a little: no letter of a sans-serif font but m and W is wider on average.
_WIDE = 0.58
_TEXT_SIZE = 12.0
# What XML and HTML forbid, and what turns the direction of the text after it.
_UNWRITABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]+"
)


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart under its title; ``sentence`` says in words what it shows.

    ``narrow`` takes the place of ``drawing`` on a phone. ``value`` and ``change`` make the title a headline,
    ``legend`` names the classes of colours.
    """

    title: str
    sentence: str
    drawing: str
    narrow: str = ""
    value: str = ""
    change: str = ""
    legend: tuple[tuple[str, str], ...] = ()


def plain(text: str) -> str:
    """Return the text in one line, without characters that a page may not have."""
    return " ".join(_UNWRITABLE.sub(" ", text).split())


def shown(value: float, unit: Unit) -> str:
    """Return a value in full, as a sentence has it."""
    if unit == "bytes":
        return _scaled(value, _BYTES, " ") or f"{value:.0f} B"
    if unit == "seconds":
        return seconds(value)
    if unit == "score":
        return f"{value:.4f}"
    return f"{value:.1%}" if unit == "share" else f"{value:,.0f}"


def seconds(value: float) -> str:
    """Return a duration in the units that people use for one of its length."""
    if value >= 3600:
        return f"{int(value // 3600)} h {int(value % 3600 // 60)} min"
    if value >= 60:
        return f"{int(value // 60)} min {int(value % 60)} s"
    return f"{value:.1f} s" if value >= 1 or not value else f"{value * 1000:.0f} ms"


def short(value: float, unit: Unit) -> str:
    """Return a value as an axis has it, in a few characters."""
    if unit == "share":
        return f"{value * 100:.4g} %"
    if unit == "bytes":
        return _scaled(value, _BYTES, " ") or f"{value:.0f} B"
    if unit == "seconds" and value >= 180:
        return f"{value / 3600:.3g} h" if value >= 3600 else f"{value / 60:.3g} min"
    figure = _scaled(value, _STEPS, " ") or f"{value:.4g}"
    return f"{figure} s" if unit == "seconds" else figure


def _scaled(value: float, steps: Sequence[tuple[float, str]], gap: str) -> str:
    for size, name in steps:
        if abs(value) >= size:
            return f"{_three(value / size)}{gap}{name}"
    return ""


def _three(value: float) -> str:
    """Return a number of at most 1,000 with three digits, fewer where the last are zero."""
    decimals = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if decimals else text


def bounds(values: Sequence[float], unit: Unit) -> tuple[float, float]:
    """Return round numbers around the values, never the same two and never below zero for no reason."""
    low, high = min(values), max(values)
    span = (high - low) or abs(high) * 0.1 or 1.0
    step = 10.0 ** math.floor(math.log10(span / 4))
    step = next(step * times for times in (1, 2, 5, 10) if step * times >= span / 4)
    step = max(step, 1.0) if unit in {"count", "bytes"} else step
    bottom, top = math.floor(low / step) * step, math.ceil(high / step) * step
    if top == bottom:
        bottom, top = bottom - step, top + step
    return (max(bottom, 0.0) if low >= 0 else bottom), top


def fitting(text: str, room: float) -> str:
    """Return the text, cut to the room in pixels; nothing where not even three letters fit."""
    most = int(room / (_TEXT_SIZE * _WIDE))
    if len(text) <= most:
        return text
    return f"{text[: most - 1].rstrip()}…" if most >= 4 else ""


def svg(width: float, height: float, title: str, sentence: str, parts: Iterable[str]) -> str:
    """Return the picture; its title and description are what a screen reader says instead of it."""
    words = f"<title>{escape(plain(title))}</title><desc>{escape(plain(sentence))}</desc>"
    box = f'viewBox="0 0 {number(width)} {number(height)}" width="{number(width)}"'
    return f'<svg class="chart" role="img" {box}>{words}{"".join(parts)}</svg>'


def number(value: float) -> str:
    """Return a coordinate with one decimal at most."""
    return f"{value:.1f}".removesuffix(".0").replace("-0", "0", 1 if f"{value:.1f}" == "-0.0" else 0)


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """Return a straight line."""
    ends = f'x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" y2="{number(y2)}"'
    return f'<line class="{kind}" {ends}/>'


def box(x: float, y: float, width: float, height: float, kind: str, tip: str = "") -> str:
    """Return a rectangle, with a text for those who point at it."""
    place = f'x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}"'
    return _with_tip("rect", f'class="{kind}" {place}', tip)


def dot(x: float, y: float, radius: float, kind: str, tip: str = "") -> str:
    """Return a circle, with a text for those who point at it."""
    return _with_tip("circle", f'class="{kind}" cx="{number(x)}" cy="{number(y)}" r="{number(radius)}"', tip)


def _with_tip(element: str, attributes: str, tip: str) -> str:
    if not tip:
        return f"<{element} {attributes}/>"
    return f"<{element} {attributes}><title>{escape(plain(tip))}</title></{element}>"


def label(x: float, y: float, text: str, kind: str = "", anchor: str = "") -> str:
    """Return a text that begins at ``x``, or with an anchor is centred on it (``mid``) or ends at it."""
    kinds = " ".join(each for each in (kind, anchor) if each)
    named = f' class="{kinds}"' if kinds else ""
    return f'<text{named} x="{number(x)}" y="{number(y)}">{escape(plain(text))}</text>'
