"""The numbers of postings and of the vectors of terms and tokens, each in a few bits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .cosine_contributions import CosineContributions, term_of
from .format import LENGTH_OFFSET, LENGTH_STEPS, VECTOR_LEVELS
from .index_inputs import Floats, Ints, Lexicon, Narrow, TermVectors
from .inverted_file import Codes, Quantizer, project

_VECTORS_AT_A_TIME = 4_096

# Levels of impacts and contributions for a word of medium rarity; rare words count more, and get more.
LEVELS, _MEDIUM_IDF, _RARITY_POWER = 48, 5.0, 1.0
_FEWEST_LEVELS, _MOST_LEVELS = 7, 255
_FREQUENCY_BITS = 32
_ROWS_AT_A_TIME = 262_144
TOKEN_BITS = 2
# A step of a passage's contribution, in levels of a range as wide as the length of the term's vector.
OWN_STEP = 1.0


@dataclass(frozen=True, slots=True)
class Ranges:
    """What each term's lowest and highest levels stand for; ``length`` is the length of its vector.

    Impacts are parts of 255 of the most that BM25F can give; contributions are parts of 127 of the length.
    """

    impact: npt.NDArray[np.uint8]
    contribution: npt.NDArray[np.int8]
    length: Floats


def levels_by_bits(passages: int) -> Ints:
    """Return how many levels above the lowest a term has, by the bits of its number of passages."""
    typical = np.minimum(1.5 * 2.0 ** (np.arange(_FREQUENCY_BITS) - 1), passages)
    idf = np.log1p((passages - typical + 0.5) / (typical + 0.5))
    levels = np.round(LEVELS * (idf / _MEDIUM_IDF) ** _RARITY_POWER)
    found: Ints = levels.clip(_FEWEST_LEVELS, _MOST_LEVELS).astype(np.int64)
    return found


def _bits_of(frequency: Ints) -> Ints:
    found: Ints = np.frexp(frequency.astype(np.float64))[1].astype(np.int64)
    return found


@dataclass(frozen=True, slots=True)
class Quantized:
    """The ranges of terms, the levels of impacts and of pairs' contributions, and passages' steps."""

    ranges: Ranges
    impact: npt.NDArray[np.uint8]
    contribution: npt.NDArray[np.uint8]
    change: npt.NDArray[np.int8]


def quantize(
    passages: int, lexicon: Lexicon, opening: Ints, impact: Floats, cosines: CosineContributions
) -> Quantized:
    """Quantize all postings; ``opening`` has the posting that each pair begins with."""
    term = term_of(lexicon)
    if not len(term):
        return _nothing(cosines.length)
    levels = levels_by_bits(passages)[_bits_of(lexicon.frequency)].astype(np.float32)
    scale = np.maximum(cosines.length, np.float32(1e-9))
    owner, starts = term[opening], lexicon.starts[:-1]
    near = (cosines.document / scale[owner] * 127).astype(np.float32, copy=False)
    impacts = _bounds(impact * 255, starts).clip(0, 255)
    nearest = _bounds(near, np.searchsorted(opening, starts)).clip(-127, 127)
    levels_of_pairs = _levels(near, nearest, levels, owner)
    written = nearest[owner, 0] + (nearest[:, 1] - nearest[:, 0])[owner] * levels_of_pairs / levels[owner]
    return Quantized(
        Ranges(impacts.astype(np.uint8), nearest.astype(np.int8), cosines.length),
        _levels(impact * 255, impacts, levels, term),
        levels_of_pairs,
        _steps(cosines.passage, written / 127, opening, term, scale, levels),
    )


def _nothing(length: Floats) -> Quantized:
    none = np.zeros(0, dtype=np.uint8)
    signed = none.astype(np.int8)
    return Quantized(Ranges(none.reshape(0, 2), signed.reshape(0, 2), length), none, none, signed)


def _bounds(values: Floats, starts: Ints) -> Floats:
    """Return the least and the most of each run of values, rounded outwards, a row each."""
    least, most = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
    return np.stack([np.floor(least), np.ceil(most)], axis=1)


def _levels(values: Floats, bounds: Floats, levels: Floats, owner: Narrow) -> npt.NDArray[np.uint8]:
    """Return the level of each value between the bounds of its term, which has this many levels."""
    width = np.maximum(bounds[:, 1] - bounds[:, 0], 1e-9)
    found = np.empty(len(values), dtype=np.uint8)
    for part in _parts(len(values)):
        own = owner[part]
        share = (values[part] - bounds[own, 0]) / width[own]
        found[part] = np.round(share * levels[own]).clip(0, levels[own])
    return found


def _steps(
    passage: Floats, written: Floats, opening: Ints, term: Narrow, scale: Floats, levels: Floats
) -> npt.NDArray[np.int8]:
    """Return by how many steps every passage's contribution differs from the one ``written`` for its pair."""
    pair = np.repeat(np.arange(len(opening), dtype=np.int32), np.diff(np.append(opening, len(term))))
    found = np.empty(len(term), dtype=np.int8)
    for part in _parts(len(term)):
        own = term[part]
        steps = (passage[part] / scale[own] - written[pair[part]]) * levels[own]
        found[part] = np.round(steps / OWN_STEP).clip(-128, 127)
    return found


def _parts(count: int) -> Iterator[slice]:
    """Yield slices over this many rows, to bound the memory that intermediate columns take."""
    for first in range(0, count, _ROWS_AT_A_TIME):
        yield slice(first, min(count, first + _ROWS_AT_A_TIME))


@dataclass(frozen=True, slots=True)
class ProjectedTerms:
    """The vectors of terms, and the directions along which they are to be written."""

    vectors: TermVectors
    projection: Floats


def length_steps(length: Floats) -> Ints:
    """Return the lengths of vectors as steps of their logarithm; 0 for no vector."""
    steps = np.round((np.log2(np.maximum(length, np.float32(1e-9))) + LENGTH_OFFSET) * LENGTH_STEPS)
    steps[length <= 0] = 0
    return steps.astype(np.int64)


def length_bytes(steps: Ints) -> Ints:
    """Return the low bytes of steps, then the high ones."""
    return np.concatenate([steps & 255, steps >> 8])


def vector_rows(length: Floats, projected: ProjectedTerms) -> npt.NDArray[np.uint8]:
    """Return the bytes of vectors of these lengths, a row each."""
    starts = range(0, max(1, len(length)), _VECTORS_AT_A_TIME)
    parts = [np.arange(at, min(len(length), at + _VECTORS_AT_A_TIME)) for at in starts]
    return np.concatenate([_vectors(part, length, projected) for part in parts])


def vector_bytes(rows: npt.NDArray[np.uint8]) -> bytes:
    """Return the vectors of a shard: what their greatest numbers are, then the numbers."""
    return rows[:, :1].tobytes() + rows[:, 1:].tobytes()


def _vectors(terms: Ints, lengths: Floats, projected: ProjectedTerms) -> npt.NDArray[np.uint8]:
    return packed_vectors(project(projected.vectors.of(terms), projected.projection), lengths[terms])


def packed_vectors(numbers: Floats, lengths: Floats) -> npt.NDArray[np.uint8]:
    """Write vectors: a byte for the greatest number as a part of the length, then four bits a number."""
    length = np.maximum(lengths, np.float32(1e-9))
    greatest = np.ceil(np.abs(numbers).max(axis=1) / length * 255).clip(1, 255)
    step = greatest / 255 * length / VECTOR_LEVELS
    levels = np.round(numbers / step[:, None]).clip(-VECTOR_LEVELS, VECTOR_LEVELS).astype(np.int8) + np.int8(
        8
    )
    if levels.shape[1] % 2:
        levels = np.pad(levels, ((0, 0), (0, 1)), constant_values=8)
    return np.column_stack(
        [greatest.astype(np.uint8), (levels[:, ::2] | levels[:, 1::2] << 4).astype(np.uint8)]
    )


@dataclass(frozen=True, slots=True)
class CodedTokens:
    """Vectors of tokens in the model's own numbers: their lengths, and codes of their directions."""

    quantizer: Quantizer
    length: Floats
    codes: Codes


def coded_tokens(vectors: TermVectors) -> CodedTokens:
    """Write every number of every token's direction in as many bits, around the mean of all tokens."""
    numbers = vectors.code.astype(np.float32) * vectors.scale[:, None]
    length = np.sqrt((numbers**2).sum(axis=1))
    unit = numbers / np.maximum(length, np.float32(1e-9))[:, None]
    widths = np.full(unit.shape[1], TOKEN_BITS, dtype=np.int64)
    deviation = np.maximum(unit.std(axis=0), np.float32(1e-9))
    quantizer = Quantizer(unit.mean(axis=0), deviation, widths)
    return CodedTokens(quantizer, length, quantizer.encode(unit))
