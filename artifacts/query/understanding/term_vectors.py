"""The query encoder without a neural network: it adds up the vectors of the query's terms."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from ....pipeline.lexical.analyzer import prose_analyzer
from ....pipeline.lexical.word_pieces import UNSEEN_SHARE
from ..index.corpus import CorpusReader
from ..model import Vector

# As many as the search in SQL reads.
_MOST_CHARS = 10_000
# An unknown word is read as the known ones that it is made of; they say less than the word would.
PIECE_WEIGHT = 0.6
PIECE_BEGIN = 3
_PIECE_CHARS = range(PIECE_BEGIN, 21)
PIECE_PASSAGES = 3
# What a piece costs, and a letter that is in none; at most this share of a word's letters may be lost.
_PIECE_COST, _LETTER_COST, _MOST_COST = 0.5, 1.0, 0.4


@dataclass(frozen=True, slots=True)
class TermEncoder:
    """Encodes queries with the term vectors of one snapshot, and words that have none by their tokens'."""

    corpus: CorpusReader

    def encode_query(self, text: str) -> Vector:
        """Return the unit vector of a query, shape ``(dimension,)``; zeros if none of its words has one."""
        total = np.zeros(self.corpus.dimension, dtype=np.float64)
        known, strange = self._words(text)
        for term in known:
            total += self.corpus.term_vectors[term]
        for word in strange:
            total += self._by_tokens(word)
        length = float(np.sqrt(total @ total))
        return (total / length if length > 0 else total).astype(np.float32)

    def _words(self, text: str) -> tuple[dict[str, None], list[str]]:
        """Return the terms that have a vector, each once, and the words without any.

        A text without words is one that no token stands for.
        """
        known, strange = dict[str, None](), list[str]()
        analyzers = [prose_analyzer(language) for language in self.corpus.languages]
        words = dict.fromkeys(analyzers[0].tokens(text[:_MOST_CHARS])) or ([text] if text.strip() else [])
        for word in words:
            terms = [term for analyzer in analyzers for term in analyzer.expand(word)]
            found = [term for term in terms if term in self.corpus.term_vectors]
            known |= dict.fromkeys(found)
            strange += [] if found else [word]
        return known, strange

    def _by_tokens(self, word: str) -> Vector | float:
        """Return what a word that no document holds adds, as a term of the highest rarity would."""
        tokens = self.corpus.token_vectors
        mean = None if tokens is None else tokens.of_word(word)
        return 0.0 if mean is None else UNSEEN_SHARE * rarity_of_unseen(self.corpus.passages) * mean


def rarity_of_unseen(passages: int) -> float:
    """Return the inverse document frequency of a term that none of so many passages holds."""
    return math.log1p((passages + 0.5) / 0.5)


def pieces(
    word: str, known: Callable[[str], bool], may_begin: Callable[[str], bool] = bool
) -> tuple[str, ...]:
    """Cover most of ``word`` by the fewest known words; return none if too little can be covered.

    ``may_begin`` tells, faster than ``known``, whether any piece begins with these three letters.
    """
    costs, from_where = [0.0] + [inf] * len(word), [0] * (len(word) + 1)
    for start in range(len(word)):
        # Every way to get here is known. Of equal ones the loss of a letter counts, then the first piece.
        if costs[start] + _LETTER_COST <= costs[start + 1]:
            costs[start + 1], from_where[start + 1] = costs[start] + _LETTER_COST, start
        if not may_begin(word[start : start + PIECE_BEGIN]):
            continue
        cost = costs[start] + _PIECE_COST
        for end in range(start + _PIECE_CHARS.start, min(len(word) + 1, start + _PIECE_CHARS.stop)):
            if cost < costs[end] and known(word[start:end]):
                costs[end], from_where[end] = cost, start
    return _walked(word, from_where) if costs[-1] < _MOST_COST * len(word) else ()


def _walked(word: str, from_where: Sequence[int]) -> tuple[str, ...]:
    """Walk back from the end and return the pieces; a step of one letter is a letter lost."""
    found: list[str] = []
    end = len(word)
    while end:
        start = from_where[end]
        if end - start > 1:
            found.append(word[start:end])
        end = start
    return tuple(reversed(found))
