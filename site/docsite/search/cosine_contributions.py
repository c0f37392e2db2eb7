"""Cosine contributions: what each term adds to the cosines of passages and documents, multiplied out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...artifacts.tables.vectors import inner_products
from .index_inputs import Floats, Ints, Lexicon, Narrow, Shape, TermVectors

_TERMS_AT_A_TIME, _PRODUCTS_AT_A_TIME = 20_000, 1_000_000


@dataclass(frozen=True, slots=True)
class CosineContributions:
    """What every posting adds to its passage's cosine, and every pair to its document's.

    Both are multiplied by the query's length; ``length`` is that of every term's vector.
    """

    passage: Floats
    document: Floats
    length: Floats


def cosine_contributions(
    lexicon: Lexicon, shape: Shape, vectors: TermVectors, passages: Floats, documents: Floats
) -> CosineContributions:
    """Multiply every posting's term with its passage, and every pair's term with its document."""
    term = term_of(lexicon)
    document = shape.document_of[lexicon.passage]
    opening = np.flatnonzero(changes(term) | changes(document))
    length = np.zeros(len(lexicon.terms), dtype=np.float32)
    for some in _blocks(len(length)):
        length[some] = np.linalg.norm(vectors.of(some), axis=1)
    return CosineContributions(
        _products(term, lexicon.passage, vectors, passages),
        _products(term[opening], document[opening], vectors, documents),
        length,
    )


def no_contributions(lexicon: Lexicon, shape: Shape) -> CosineContributions:
    """Return the contributions in an index without vectors: zeros."""
    pairs = changes(term_of(lexicon)) | changes(shape.document_of[lexicon.passage])
    sizes = len(lexicon.passage), int(pairs.sum()), len(lexicon.terms)
    return CosineContributions(*(np.zeros(size, dtype=np.float32) for size in sizes))


def _products(term: Narrow, row: Narrow, vectors: TermVectors, rows: Floats) -> Floats:
    found = np.zeros(len(term), dtype=np.float32)
    for some in _blocks(len(vectors.scale)):
        own = vectors.of(some)
        # Terms ascend; any type but their own would mean copying them all.
        start, end = np.searchsorted(term, np.array([some[0], some[-1] + 1], dtype=term.dtype)).tolist()
        for at in range(start, end, _PRODUCTS_AT_A_TIME):
            part = slice(at, min(end, at + _PRODUCTS_AT_A_TIME))
            found[part] = inner_products(own, term[part] - some[0], rows, row[part])
    return found


def _blocks(terms: int) -> Iterator[Ints]:
    """Yield the terms in order, as many at a time as are held in memory in full."""
    for first in range(0, terms, _TERMS_AT_A_TIME):
        yield np.arange(first, min(terms, first + _TERMS_AT_A_TIME))


def term_of(lexicon: Lexicon) -> Narrow:
    """Return the term of every posting."""
    return np.repeat(np.arange(len(lexicon.terms), dtype=np.int32), lexicon.frequency)


def changes(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return where a value differs from the one before; the first always does."""
    return np.concatenate([np.ones(min(1, len(values)), np.bool_), values[1:] != values[:-1]])
