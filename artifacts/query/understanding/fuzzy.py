"""Words that are written almost like one: for fuzzy keyword search, and for spelling."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rapidfuzz import process
from rapidfuzz.distance import OSA

_MAX_NEAR = 16


@dataclass(frozen=True, slots=True)
class Near:
    """A word, and by how many edits it differs from the one asked for."""

    word: str
    edits: int


class Words:
    """The words of letters in a corpus; identifiers and numbers are never taken for misspellings."""

    def __init__(self, words: Iterable[str]) -> None:
        # By length: comparing is the cost, and what is near has almost the same length.
        self._by_length: dict[int, list[str]] = {}
        for word in words:
            if word.isalpha():
                self._by_length.setdefault(len(word), []).append(word)

    def near(self, word: str, max_edits: int, limit: int | None = _MAX_NEAR) -> list[Near]:
        """Other words within so many edits, at most ``limit``: the nearest first, ties by name.

        An edit inserts, removes or replaces a character, or swaps two neighbours (optimal string alignment).
        """
        if max_edits <= 0 or not word.isalpha():
            return []
        lengths = range(len(word) - max_edits, len(word) + max_edits + 1)
        close = [other for length in lengths for other in self._by_length.get(length, ())]
        found = process.extract(word, close, scorer=OSA.distance, score_cutoff=max_edits, limit=None)
        ranked = sorted((int(edits), other) for other, edits, _ in found if edits > 0)
        return [Near(other, edits) for edits, other in ranked[:limit]]


def auto_edits(word: str) -> int:
    """How many edits Elasticsearch's fuzziness AUTO allows: none below 3 characters, one up to 5, else two."""
    return 0 if len(word) < 3 else 1 if len(word) < 6 else 2
