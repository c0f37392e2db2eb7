"""The collection's own words: as they are written, near in spelling, spelled out, and with vectors."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from rapidfuzz import process
from rapidfuzz.distance import OSA

from ....pipeline.lexical.analyzer import fold
from ..model import Vector

_MAX_NEAR = 16
_WORD_BEGINS = ("\u2581", "\u0120")  # SentencePiece, byte-level BPE
_WORD = re.compile(r"\w+(?:[-'’.]\w+)*")


@dataclass(frozen=True, slots=True)
class NearWord:
    """A word, and by how many edits it differs from the one asked for."""

    word: str
    edits: int


class SpellingIndex:
    """The words of letters in a collection; identifiers and numbers are never taken for misspellings."""

    def __init__(self, words: Iterable[str]) -> None:
        # By length: comparing is the cost, and what is near has almost the same length.
        self._by_length: dict[int, list[str]] = {}
        for word in words:
            if word.isalpha():
                self._by_length.setdefault(len(word), []).append(word)

    def near(self, word: str, max_edits: int, limit: int | None = _MAX_NEAR) -> list[NearWord]:
        """Find other words within so many edits, at most ``limit``: the nearest first, ties by name.

        An edit inserts, removes or replaces a character, or swaps two neighbours (optimal string alignment).
        """
        if max_edits <= 0 or not word.isalpha():
            return []
        lengths = range(len(word) - max_edits, len(word) + max_edits + 1)
        close = [other for length in lengths for other in self._by_length.get(length, ())]
        found = process.extract(word, close, scorer=OSA.distance, score_cutoff=max_edits, limit=None)
        ranked = sorted((int(edits), other) for other, edits, _ in found if edits > 0)
        return [NearWord(other, edits) for edits, other in ranked[:limit]]


def auto_edits(word: str) -> int:
    """Return how many edits Elasticsearch's AUTO allows: 0 below 3 characters, 1 up to 5, else 2."""
    return 0 if len(word) < 3 else 1 if len(word) < 6 else 2


@dataclass(frozen=True, slots=True)
class SurfaceForms:
    """The words of a collection as they are written, and how often each is."""

    words: SpellingIndex
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ConceptVocabulary:
    """The concept vocabulary: ``vectors[i]`` is the unit vector of ``terms[i]``."""

    terms: Sequence[str]
    vectors: npt.NDArray[np.float32]

    def vector_of(self, text: str) -> Vector | None:
        """Return the vector of a term, or ``None`` if the vocabulary has no such term."""
        at = int(np.searchsorted(np.asarray(self.terms, dtype=object), text))
        return self.vectors[at] if at < len(self.terms) and self.terms[at] == text else None


@dataclass(frozen=True, slots=True)
class AcronymTable:
    """The long form of every acronym, and the acronym of every long form, by their folded spelling."""

    long_of: Mapping[str, str]
    short_of: Mapping[str, str]


def whole_words(tokenizer: bytes) -> frozenset[str]:
    """Return the words, folded, for which a tokenizer (``tokenizer.json``) has one token.

    Where tokens at the beginning of a word bear a mark, as in byte-level BPE and SentencePiece, the others
    are parts of words; in WordPiece the parts bear one.
    """
    pieces = json.loads(tokenizer)["model"]["vocab"]
    names = [each if isinstance(each, str) else each[0] for each in pieces]
    begun = [name[1:] for name in names if name[:1] in _WORD_BEGINS and len(name) > 1]
    return frozenset(fold(name) for name in (begun or names) if name.isalpha())


def folded_words(text: str) -> list[str]:
    """Return the words of a text, folded, as glossaries and acronyms are looked up."""
    return [fold(word) for word in _WORD.findall(text)]


def acronym_table(rows: Iterable[tuple[str, str, int]]) -> AcronymTable:
    """Make the table from rows of ``(acronym, expansion, documents)``.

    Of several meanings of an acronym the commonest counts, then the first by name.
    """
    best: dict[str, tuple[int, str]] = {}
    short_of: dict[str, str] = {}
    for short, long, documents in rows:
        key = (-documents, long)
        best[fold(short)] = min(best.get(fold(short), key), key)
        short_of.setdefault(" ".join(folded_words(long)), short)
    return AcronymTable({short: long for short, (_, long) in best.items()}, short_of)
