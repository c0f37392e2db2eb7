"""Removal of passages that repeat a better one: the same text or address, almost the same words, or meaning.

Each stage walks the candidates in order and keeps those that repeat none kept before.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import numpy as np
import numpy.typing as npt

from ..model import Candidate

Grams = npt.NDArray[np.uint64]


def without_same(candidates: Sequence[Candidate], keys: Sequence[Hashable]) -> list[Candidate]:
    """Keep the first candidate of every key, such as a content hash or an address."""
    first: dict[Hashable, Candidate] = {}
    for key, candidate in zip(keys, candidates, strict=True):
        first.setdefault(key, candidate)
    return list(first.values())


def without_near_text(
    candidates: Sequence[Candidate], text_of: Callable[[Candidate], str], threshold: float
) -> list[Candidate]:
    """Keep candidates whose character 3-grams are unlike those of every one kept (Jaccard)."""
    grams = [char_ngrams(text_of(each)) for each in candidates]
    return _unlike(candidates, jaccard_matrix(grams) >= threshold)


def without_near_meaning(
    candidates: Sequence[Candidate], vectors: npt.NDArray[np.float32], threshold: float
) -> list[Candidate]:
    """Keep candidates whose cosine with every one kept is below ``threshold``; each has a row of vectors."""
    return _unlike(candidates, (vectors @ vectors.T) >= threshold)


def _unlike(candidates: Sequence[Candidate], alike: npt.NDArray[np.bool_]) -> list[Candidate]:
    kept: list[int] = []
    for at in range(len(candidates)):
        if not alike[at, kept].any():
            kept.append(at)
    return [candidates[at] for at in kept]


def char_ngrams(text: str, n: int = 3) -> Grams:
    """Return the distinct character n-grams of the lower-cased text as sorted numbers; ``n`` is at most 3.

    A text shorter than that is its own only gram: it is like itself, and like nothing else.
    """
    encoded = text.lower().encode("utf-32-le", "surrogatepass")
    codes = np.frombuffer(encoded, dtype=np.uint32).astype(np.uint64)
    if 0 < len(codes) < n:
        whole = sum(int(code) << (21 * at) for at, code in enumerate(codes))
        return np.array([(8 + len(codes)) << 60 | whole], dtype=np.uint64)  # beyond all that n-grams take
    if not len(codes):
        return np.zeros(0, dtype=np.uint64)
    grams = np.zeros(len(codes) - n + 1, dtype=np.uint64)
    for offset in range(n):
        grams = (grams << np.uint64(21)) | codes[offset : len(codes) - n + 1 + offset]
    return np.unique(grams)


def jaccard_matrix(sets: Sequence[Grams]) -> npt.NDArray[np.float32]:
    """Return the Jaccard similarity of every pair of sets, shape ``(n, n)``; 0 where a set is empty."""
    sizes = np.array([len(each) for each in sets], dtype=np.int64)
    grams, column = np.unique(np.concatenate([*sets, np.zeros(0, np.uint64)]), return_inverse=True)
    holds = np.zeros((len(sets), len(grams)), dtype=np.float32)
    holds[np.repeat(np.arange(len(sets)), sizes), column] = 1
    common = holds @ holds.T
    union = sizes[:, None] + sizes[None, :] - common
    similarity: npt.NDArray[np.float32] = np.divide(common, union, out=np.zeros_like(common), where=union > 0)
    return similarity
