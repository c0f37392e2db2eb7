"""Output of terminals: its text, and the runs of it that stand out, from ANSI escapes or from HTML.

Colours become those of the eight names that terminals have, which a theme can draw with enough contrast.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import unescape

ESCAPE = "\x1b"
_COLOURS = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_RGB = (
    (0, 0, 0), (204, 0, 0), (60, 170, 30), (200, 160, 0), (50, 100, 200), (150, 80, 150), (30, 170, 180),
    (211, 215, 207),
)  # fmt: skip
_CONTROL = re.compile(r"\x1b\[([\d;:]{0,40})([A-Za-z])|\x1b\][^\x07\x1b\n]{0,300}(?:\x07|\x1b\\)|\x1b.?")
_TAG = re.compile(r"<(/?)(font|span|b|strong|i|em|u)\b([^<>]{0,300})>", re.IGNORECASE)
_COLOUR = re.compile(r"(?:^|[\s;\"'])color\s*[=:]\s*[\"']?\s*(#[0-9a-f]{6}|[a-z]+)", re.IGNORECASE)
_BACKGROUND = re.compile(r"background(?:-color)?\s*:", re.IGNORECASE)
_STYLES = {"b": "bold", "strong": "bold", "i": "italic", "em": "italic", "u": "underlined"}
_SGR = {1: "bold", 2: "dim", 3: "italic", 4: "underlined", 7: "inverse", 9: "struck"}


@dataclass(frozen=True, slots=True)
class Run:
    """Text of one look; ``styles`` are names such as ``red`` and ``bold``, in order."""

    text: str
    styles: tuple[str, ...] = ()


def text_of(runs: Iterable[Run]) -> str:
    """Return the runs' text."""
    return "".join(run.text for run in runs)


def ansi_runs(text: str) -> tuple[Run, ...]:
    """Return the text in runs by its ANSI escapes; those that move the cursor are left out."""
    return tuple(run for run in _ansi(text) if run.text)


def _ansi(text: str) -> Iterator[Run]:
    styles: dict[str, str] = {}
    at = 0
    for found in _CONTROL.finditer(text):
        yield Run(text[at : found.start()], tuple(sorted(styles.values())))
        at = found.end()
        if found[2] == "m":
            _select([int(code or 0) for code in re.split("[;:]", found[1])], styles)
    yield Run(text[at:], tuple(sorted(styles.values())))


def _select(codes: list[int], styles: dict[str, str]) -> None:
    """Change the styles as ``Select Graphic Rendition`` does."""
    while codes:
        code = codes.pop(0)
        if code == 0:
            styles.clear()
        elif code in _SGR:
            styles[_SGR[code]] = _SGR[code]
        elif code in (22, 23, 24, 27, 29):
            off = {22: ("bold", "dim"), 23: ("italic",), 24: ("underlined",), 27: ("inverse",)}
            for style in off.get(code, ("struck",)):
                styles.pop(style, None)
        elif 30 <= code <= 37 or 90 <= code <= 97:
            styles["colour"] = _COLOURS[code % 10]
        elif code in (38, 48):
            colour = _indexed(codes)
            styles |= {"colour": colour} if code == 38 else {"inverse": "inverse"}
        elif code == 39:
            styles.pop("colour", None)
        elif 40 <= code <= 47 or 100 <= code <= 107:
            styles["inverse"] = "inverse"
        elif code == 49:
            styles.pop("inverse", None)


def _indexed(codes: list[int]) -> str:
    """Take ``5;N`` or ``2;R;G;B`` off the codes; return the nearest colour's name."""
    if codes[:1] == [2]:
        rgb = [*codes[1:4], 0, 0, 0][:3]
        del codes[:4]
        return _nearest(rgb)
    number = codes[1] if len(codes) > 1 else 0
    del codes[:2]
    if number < 16:
        return _COLOURS[number % 8]
    if number >= 232:
        return _nearest([8 + 10 * (number - 232)] * 3)
    number -= 16
    return _nearest([51 * (number // 36), 51 * (number // 6 % 6), 51 * (number % 6)])


def _nearest(rgb: list[int]) -> str:
    distances = [sum((a - b) ** 2 for a, b in zip(rgb, known, strict=True)) for known in _RGB]
    return _COLOURS[distances.index(min(distances))]


def html_runs(text: str) -> tuple[Run, ...]:
    """Return the text in runs by the HTML that terminals are copied as: ``font``, ``span``, ``b``, ``u``."""
    return tuple(run for run in _html(text) if run.text)


def _html(text: str) -> Iterator[Run]:
    opened: list[tuple[str, tuple[str, ...]]] = []
    at = 0
    for found in _TAG.finditer(text):
        yield _run(text[at : found.start()], opened)
        at = found.end()
        name = found[2].lower()
        if not found[1]:
            opened.append((name, _look(name, found[3])))
        elif opened and any(each[0] == name for each in opened[-9:]):
            while opened.pop()[0] != name:
                pass
    yield _run(text[at:], opened)


def _run(text: str, opened: list[tuple[str, tuple[str, ...]]]) -> Run:
    # Deeper than nine tags nobody means anything; a bomb would make it quadratic.
    inner = [style for _, styles in opened[-9:] for style in styles]
    colour = [style for style in inner if style in _COLOURS][-1:]
    others = {style for style in inner if style not in _COLOURS}
    return Run(unescape(text), tuple(sorted({*colour, *others})))


def _look(name: str, attributes: str) -> tuple[str, ...]:
    style = _STYLES.get(name)
    if style:
        return (style,)
    colour = _COLOUR.search(attributes)
    shown = _named(colour[1].lower()) if colour else ""
    inverse = "inverse" if _BACKGROUND.search(attributes) else ""
    return tuple(filter(None, (shown, inverse)))


def _named(colour: str) -> str:
    if colour.startswith("#"):
        return _nearest([int(colour[at : at + 2], 16) for at in (1, 3, 5)])
    return colour if colour in _COLOURS else ""
