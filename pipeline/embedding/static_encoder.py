"""A static encoder, without a neural network: term vectors whose sum is near the model's vector of a text.

    v(q) = Σ_t idf(t) · T_t,  normalized
    T    = argmin Σ_i w_i ‖x_i T − y_i‖² + λ ‖T‖²

``x_i`` is the normalized vector of a text's term weights, idf times ``1 + ln tf``, and ``y_i`` is the vector
that the text should get: the model's own, or the centroid of the document that it names. The problem is
solved for all dimensions at once by preconditioned conjugate gradients (Hestenes & Stiefel 1952), which need
only products with the sparse ``X``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..lexical.analyzer import prose_analyzer
from ..lexical.field_counts import FieldCounts, count_fields
from ..settings.settings import StaticEncoderSettings
from ..thread_pool import ThreadPool
from .quantization import QuantizedTermVectors, Vectors, quantized

if TYPE_CHECKING:
    from scipy import sparse

# Dimensions are solved a block at a time: this bounds memory, and no bit depends on the number of threads.
_BLOCK_DIMENSIONS = 32
_THREADS = 2
_GONE = 1e-20


@dataclass(frozen=True, slots=True)
class TrainingTexts:
    """Texts and languages, target unit vectors of shape ``(texts, dimension)``, and the texts' weight.

    ``counts`` holds the texts' term counts where they are already known.
    """

    texts: Sequence[str]
    languages: Sequence[str]
    vectors: Vectors
    weight: float
    counts: FieldCounts | None = None


def fit_term_vectors(
    training: Sequence[TrainingTexts],
    terms: Sequence[str],
    idf: npt.NDArray[np.float64],
    settings: StaticEncoderSettings,
) -> QuantizedTermVectors:
    """Fit term vectors that reproduce the target vectors as closely as possible, quantized to int8."""
    from scipy import sparse

    row = {term: at for at, term in enumerate(terms)}
    used = [each for each in training if len(each.texts)]
    if not used:
        dimension = training[0].vectors.shape[1] if training else 0
        return QuantizedTermVectors((), np.zeros(0, np.float32), np.zeros((0, dimension), np.int8))
    x = sparse.vstack([weighted_terms(each, row, idf) for each in used], format="csr")
    weight = np.repeat(
        np.array([each.weight for each in used], np.float32), [len(each.texts) for each in used]
    )
    seen = np.unique(x.indices)
    found = solve(x[:, seen], [each.vectors for each in used], weight, settings.ridge, settings.iterations)
    return quantized([terms[at] for at in seen.tolist()], found * idf[seen].astype(np.float32)[:, None])


def count_texts(texts: Sequence[str], languages: Sequence[str]) -> FieldCounts:
    """Return how often each term occurs in each text."""
    return count_fields([texts], [prose_analyzer(language) for language in languages])


def weighted_terms(
    training: TrainingTexts, row: Mapping[str, int], idf: npt.NDArray[np.float64]
) -> sparse.csr_matrix:
    """Return the unit rows of the texts' idf weights, shape ``(texts, terms)``, ignoring unknown terms."""
    from scipy import sparse

    counts = training.counts or count_texts(training.texts, training.languages)
    number = np.array([row.get(term, -1) for term in counts.terms], dtype=np.int64)
    term = number[counts.term] if len(counts.term) else np.zeros(0, np.int64)
    known = term >= 0
    value = (1 + np.log(counts.count[known])) * idf[term[known]]
    place = (counts.text[known], term[known])
    x = sparse.csr_matrix((value.astype(np.float32), place), shape=(len(training.texts), len(row)))
    length = np.sqrt(np.asarray(x.multiply(x).sum(axis=1), dtype=np.float32)).ravel()
    return sparse.csr_matrix(
        sparse.diags(np.divide(1, length, out=np.zeros_like(length), where=length > 0)) @ x
    )


def solve(
    x: sparse.csr_matrix, y: Sequence[Vectors], weight: npt.NDArray[np.float32], ridge: float, iterations: int
) -> Vectors:
    """Take ``iterations`` steps of conjugate gradients towards ``(XᵀWX + ridge·I)⁻¹ XᵀWY``.

    ``y`` are the rows of Y in several arrays. The result has shape ``(terms, dimension)``. The conjugate
    gradients are preconditioned by the diagonal (Jacobi): rare terms would otherwise converge much later.
    """
    from scipy import sparse

    parts = [slice(at, at + _BLOCK_DIMENSIONS) for at in range(0, y[0].shape[1], _BLOCK_DIMENSIONS)]
    transposed = sparse.csr_matrix(x.T)
    squares = transposed.multiply(transposed)
    diagonal = squares @ weight[:, None] + np.float32(ridge)
    system = _System(x, transposed, weight[:, None], np.float32(ridge), diagonal)
    with ThreadPool(_THREADS) as pool:
        solved = pool.map(
            lambda part: _solve(system, np.concatenate([each[:, part] for each in y]), iterations), parts
        )
        return np.concatenate(list(solved), axis=1)


@dataclass(frozen=True, slots=True)
class _System:
    """The matrix ``XᵀWX + ridge·I``, never formed; ``weight`` has a row per text."""

    x: sparse.csr_matrix
    transposed: sparse.csr_matrix
    weight: npt.NDArray[np.float32]
    ridge: np.float32
    diagonal: Vectors

    def times(self, vectors: Vectors, room: Vectors) -> Vectors:
        """Return the product; ``room`` is a scratch array of the vectors' shape and is overwritten."""
        texts = self.x @ vectors
        texts *= self.weight
        found: Vectors = self.transposed @ texts
        found += np.multiply(vectors, self.ridge, out=room)
        return found


def _solve(system: _System, y: Vectors, iterations: int) -> Vectors:
    # In place: fresh memory in each step has to be cleared by the system, which took a quarter of the time.
    residual: Vectors = system.transposed @ (y * system.weight)
    found, direction, room = np.zeros_like(residual), residual / system.diagonal, np.empty_like(residual)
    left = np.multiply(residual, direction, out=room).sum(axis=0)
    for _ in range(iterations):
        image = system.times(direction, room)
        step = left / np.maximum(np.multiply(direction, image, out=room).sum(axis=0), _GONE)
        found += np.multiply(direction, step, out=room)
        residual -= np.multiply(image, step, out=room)
        scaled = np.divide(residual, system.diagonal, out=image)
        before, left = left, np.multiply(residual, scaled, out=room).sum(axis=0)
        direction *= left / np.maximum(before, _GONE)
        direction += scaled
    return found
