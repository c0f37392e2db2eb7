"""The part of a passage that shows best why it was found."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from ...pipeline.lexical.analyzer import matches


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A stretch of a passage: ``highlights`` are character ranges of ``text``, ``start`` is where it begins there."""

    text: str
    highlights: tuple[tuple[int, int], ...]
    start: int = 0


def excerpt(text: str, wanted: AbstractSet[str], languages: Sequence[str], max_chars: int) -> Excerpt:
    """The window of at most ``max_chars`` characters with the most distinct matches, the earliest on a tie."""
    spans = list(matches(text, wanted, languages))
    start = _best_start(text, spans, max_chars)
    end = _word_end(text, start, max_chars)
    prefix = "… " if start > 0 else ""
    suffix = " …" if end < len(text) else ""
    shift = len(prefix) - start
    inside = tuple((a + shift, b + shift) for a, b in spans if a >= start and b <= end)
    return Excerpt(prefix + text[start:end] + suffix, inside, start)


def _best_start(text: str, spans: Sequence[tuple[int, int]], max_chars: int) -> int:
    if len(text) <= max_chars or not spans:
        return 0
    lead = max_chars // 5
    starts = [0, *(_word_start(text, max(0, a - lead)) for a, _ in spans)]

    words = [(a, b, text[a:b].lower()) for a, b in spans]

    def distinct(start: int) -> int:
        return len({word for a, b, word in words if a >= start and b <= start + max_chars})

    return max(starts, key=lambda start: (distinct(start), -start))


def _word_start(text: str, at: int) -> int:
    """The first character of the word after the first white space from ``at`` on."""
    if at == 0:
        return 0
    space = next((i for i in range(at, min(len(text), at + 40)) if text[i].isspace()), at - 1)
    return space + 1


def _word_end(text: str, start: int, max_chars: int) -> int:
    end = start + max_chars
    if end >= len(text):
        return len(text)
    space = max(text.rfind(" ", start, end), text.rfind("\n", start, end))
    return space if space > start + max_chars // 2 else end
