"""The concept vocabulary: the corpus's own words with their frequencies, vectors and near terms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import faiss
import numpy as np
import numpy.typing as npt

from ..embedding.encoder import Vectors
from ..lexical.analyzer import has_cjk
from ..lexical.bm25f import LexicalIndex
from ..lexical.field_counts import FieldCounts
from ..settings.settings import VocabularySettings

# A word in more than this share of passages names no concept.
_COMMON_SHARE = 0.25
_MIN_CHARS = 3
# Near terms are chosen from this many times as many candidates, so that their exact order is ours.
_OVERSAMPLE = 2
_SIMILARITY_DECIMALS = 4
_AT_A_TIME = 512


@dataclass(frozen=True, slots=True)
class VocabularyTerm:
    """A word in its commonest spelling, and the index term it stands for."""

    term: str
    index_term: str
    passages: int
    idf: float


@dataclass(frozen=True, slots=True)
class NearTerms:
    """The positions and cosines of each term's nearest terms, shape ``(terms, near)``."""

    position: npt.NDArray[np.int64]
    similarity: npt.NDArray[np.float32]


def surface_forms(batches: Sequence[FieldCounts]) -> dict[str, str]:
    """Return each index term's most frequent spelling, as ``commonest`` does."""
    return commonest(spelling for batch in batches for spelling in spellings(batch))


def spellings(batch: FieldCounts) -> Iterator[tuple[str, str, int]]:
    """Yield the index term that each token begins with, its spelling and its count.

    A run of CJK characters up to the next space is no spelling of its first two.
    """
    for i in np.flatnonzero(np.diff(batch.surface_offsets)).tolist():
        if not has_cjk(batch.surface[i]):
            first = batch.surface_terms[batch.surface_offsets[i]]
            yield batch.terms[first], batch.surface[i], int(batch.surface_count[i])


def commonest(counted: Iterable[tuple[str, str, int]]) -> dict[str, str]:
    """Return each index term's most frequent spelling (ties: the first in alphabetical order)."""
    counts: Counter[tuple[str, str]] = Counter()
    for index_term, surface, count in counted:
        counts[index_term, surface] += count
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]), reverse=True)
    return {index_term: surface for (index_term, surface), _ in ranked}


def select_terms(
    index: LexicalIndex, forms: dict[str, str], passages: int, settings: VocabularySettings
) -> list[VocabularyTerm]:
    """Return the commonest words that still discriminate between passages, sorted by name."""
    eligible = (index.frequency >= settings.min_passages) & (index.frequency <= _COMMON_SHARE * passages)
    ranked = sorted(np.flatnonzero(eligible), key=lambda i: (-index.frequency[i], index.terms[i]))
    words = ((i, forms.get(index.terms[i], index.terms[i])) for i in ranked)
    found: dict[str, VocabularyTerm] = {}
    for i, word in words:
        if len(found) == settings.max_terms:
            break
        if _is_word(word) and word not in found:
            found[word] = VocabularyTerm(word, index.terms[i], int(index.frequency[i]), float(index.idf[i]))
    return [found[word] for word in sorted(found)]


def _is_word(word: str) -> bool:
    """Return whether the text consists of letters, and enough of them; CJK words are short."""
    letters = sum(c.isalpha() for c in word)
    if letters == len(word):
        return len(word) >= _MIN_CHARS or not word.isascii()
    return letters >= _MIN_CHARS and any(c in ".+#_" for c in word)


def near_terms(vectors: Vectors, count: int) -> NearTerms:
    """Return the ``count`` nearest other terms of each term by cosine, nearest first, ties by position.

    Candidates come from FAISS; their cosines are recomputed in double precision and rounded, so that the
    order does not depend on how a matrix product was split over threads.
    """
    size, dimension = vectors.shape
    count = min(count, max(0, size - 1))
    if count == 0:
        return NearTerms(np.zeros((size, 0), np.int64), np.zeros((size, 0), np.float32))
    flat = faiss.IndexFlatIP(dimension)
    flat.add(vectors)
    _, candidates = flat.search(vectors, min(size, (count + 1) * _OVERSAMPLE))
    parts = [slice(at, at + _AT_A_TIME) for at in range(0, size, _AT_A_TIME)]
    exact = [
        np.einsum("td,tcd->tc", vectors[part], vectors[candidates[part]], dtype=np.float64) for part in parts
    ]
    similarity = np.concatenate(exact).round(_SIMILARITY_DECIMALS)
    similarity[candidates == np.arange(size)[:, None]] = -np.inf
    order = np.lexsort((candidates, -similarity))[:, :count]
    return NearTerms(
        np.take_along_axis(candidates, order, axis=1),
        np.take_along_axis(similarity, order, axis=1).astype(np.float32),
    )
