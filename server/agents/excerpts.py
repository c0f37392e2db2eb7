"""Excerpts that grow until a budget of tokens is spent, each line quoted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .documents import quoted
from .token_counter import TokenCounter

_MORE = "> …"
# An excerpt begins with the line of its best words if they are so many characters from its start.
_NEAR = 300


@dataclass(frozen=True, slots=True)
class Window:
    """What may be shown of a document around a hit: characters ``[start, end)`` of its text.

    ``[core_start, core_end)`` is the passage that was found, ``best`` where its best words begin.
    """

    text: str
    start: int
    end: int
    core_start: int
    core_end: int
    best: int


def shares(wanted: Sequence[int], room: int) -> list[int]:
    """Divide a budget evenly; who wants less than an even share leaves the rest to the others."""
    given = [0] * len(wanted)
    waiting = sorted(range(len(wanted)), key=lambda at: (wanted[at], at))
    for count, at in enumerate(waiting):
        given[at] = min(wanted[at], room // (len(waiting) - count))
        room -= given[at]
    return given


def tokens_of(window: Window, counter: TokenCounter) -> int:
    """Return the tokens of all that may be shown, quoted, with the line end before it."""
    shown = window.text[window.start : window.end].strip("\n")
    return counter.count(quoted(shown)) + 1 if shown.strip() else 0


def excerpt_of(window: Window, room: int, counter: TokenCounter) -> str:
    """Return quoted lines around the hit within so many tokens, a line end before them included.

    They begin with the passage, or where its best words are if it does not fit, and go on to the end of the
    section; what is left goes to what precedes it.
    """
    room -= 1
    everything = _lines(window.text[window.start : window.end])
    if sum(cost + 1 for cost in counter.counts(everything)) - 1 <= room:
        return "\n".join(everything)
    begin = _begin(window, room, counter)
    after, before = _lines(window.text[begin : window.end]), _lines(window.text[window.start : begin])
    is_inside_line = bool(before) and window.text[begin - 1] != "\n"
    if is_inside_line:
        before, after[0] = [], f"{_MORE} {after[0].removeprefix('> ')}"
    more = counter.count(_MORE) + 1
    shown, left = _take(after, room - more, counter)
    if len(shown) == len(after):
        earlier, _ = _take(before[::-1], left, counter)
        shown = [*earlier[::-1], *shown]
        is_whole = len(earlier) == len(before)
        return "\n".join(shown if is_whole else [_MORE, *shown])
    while shown and shown[-1] == ">":
        shown.pop()
    shown = shown or list(filter(None, [counter.cut(after[0], left)]))
    return "\n".join([*shown, _MORE]) if shown else ""


def _begin(window: Window, room: int, counter: TokenCounter) -> int:
    passage = window.text[window.core_start : window.core_end]
    if counter.count(quoted(passage)) <= room:
        return window.core_start
    line = window.text.rfind("\n", window.core_start, window.best) + 1 or window.core_start
    return line if window.best - line <= _NEAR else window.best


def _lines(text: str) -> list[str]:
    """Return the quoted lines of a text without empty ones at its ends."""
    shown = text.strip("\n")
    return quoted(shown).split("\n") if shown.strip() else []


def _take(lines: list[str], room: int, counter: TokenCounter) -> tuple[list[str], int]:
    """Return the first lines that fit into so many tokens with their line ends, and what is left."""
    taken = 0
    for cost in counter.counts(lines):
        if cost + 1 > room:
            break
        room -= cost + 1
        taken += 1
    return lines[:taken], room
