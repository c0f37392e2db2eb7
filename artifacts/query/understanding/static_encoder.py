"""The static encoder, without a neural network: it adds up the vectors of the query's terms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....pipeline.lexical.analyzer import prose_analyzer
from ....pipeline.lexical.bm25f import inverse_frequency
from ....pipeline.lexical.word_pieces import UNSEEN_SHARE
from ..index.corpus import CorpusReader
from ..model import Vector

# As many as the search in SQL reads.
_MOST_CHARS = 10_000


@dataclass(frozen=True, slots=True)
class StaticEncoder:
    """Encodes queries with the term vectors of one snapshot, and words that have none by their tokens'."""

    corpus: CorpusReader

    def encode_query(self, text: str) -> Vector:
        """Return the unit vector of a query, shape ``(dimension,)``; zeros if none of its words has one."""
        total = np.zeros(self.corpus.dimension, dtype=np.float64)
        known, unknown = self._words(text)
        for term in known:
            total += self.corpus.term_vectors[term]
        for word in unknown:
            total += self._by_tokens(word)
        length = float(np.sqrt(total @ total))
        return (total / length if length > 0 else total).astype(np.float32)

    def _words(self, text: str) -> tuple[dict[str, None], list[str]]:
        """Return the terms that have a vector, each once, and the words without any.

        A text without words is one that no token stands for.
        """
        known, unknown = dict[str, None](), list[str]()
        analyzers = [prose_analyzer(language) for language in self.corpus.languages]
        words = dict.fromkeys(analyzers[0].tokens(text[:_MOST_CHARS])) or ([text] if text.strip() else [])
        for word in words:
            terms = [term for analyzer in analyzers for term in analyzer.expand(word)]
            found = [term for term in terms if term in self.corpus.term_vectors]
            known |= dict.fromkeys(found)
            unknown += [] if found else [word]
        return known, unknown

    def _by_tokens(self, word: str) -> Vector | float:
        """Return what a word that no document holds adds, as a term of the highest rarity would."""
        mean = self.corpus.token_vectors.of_word(word)
        if mean is None:
            return 0.0
        return UNSEEN_SHARE * float(inverse_frequency(0, self.corpus.passages)) * mean
