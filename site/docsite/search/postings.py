"""Postings as a browser reads them: in tiers by how much they can matter, a few bits for each number.

A posting says in which document and in which of its passages a term stands, its *impact* there (BM25F without the
term's rarity) and its *kinships*: what the term adds to the cosines of the document and of the passage, already
multiplied out. A passage that holds all the terms of a query thus has its whole score in the postings, and no vector
is loaded for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from docsite.search.kinships import Kinships, changes, term_of
from docsite.search.material import Floats, Ints, Lexicon, Narrow, Shape
from docsite.search.packing import octets, varints, zigzag

# Passages of a term in its first tier, which lies in the term's shard, and in the next ones; the last has the rest.
TIERS = (1_000, 2_500, 6_000, 14_000, 32_000)
# Levels of impacts and kinships for a word of medium rarity; what is rare counts more, and is written more finely.
LEVELS, _MEDIUM_IDF, _RARITY_POWER = 48, 5.0, 1.0
_FEWEST_LEVELS, _MOST_LEVELS = 7, 255
_FREQUENCY_BITS = 32
# A step of a passage's kinship, in levels of a range as wide as the length of the term's vector.
OWN_STEP = 1.0
_KINSHIP_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Ranges:
    """What the lowest and the highest level of each term stand for; ``length`` is that of its vector.

    Impacts are parts of 255 of the most that BM25F can give; kinships are parts of 127 of the length.
    """

    impact: npt.NDArray[np.uint8]
    kinship: npt.NDArray[np.int8]
    length: Floats


@dataclass(frozen=True, slots=True)
class Postings:
    """Lists of *pairs* (a term, a document), a list for each term and tier, one after the other.

    List ``l`` owns ``pairs[lists[l] : lists[l + 1]]``; pair ``p`` has a ``kinship``, and owns
    ``passages[p] : passages[p + 1]`` of ``impact``, ``own`` (by how many steps the passage's kinship is another than
    its document's) and ``ordinal``. ``list_of[t * tiers + k]`` would be the list of term ``t``, tier ``k``.
    """

    ranges: Ranges
    lists: Ints
    document: Narrow
    passages: Ints
    ordinal: Narrow
    impact: npt.NDArray[np.uint8]
    kinship: npt.NDArray[np.uint8]
    own: npt.NDArray[np.int8]
    documents_of: Ints

    def list_of(self, term: int, tier: int) -> int:
        """The number of a term's list of a tier."""
        return term * (len(TIERS) + 1) + tier

    def size(self, number: int) -> int:
        """How many passages a list has."""
        first, end = self.lists[number], self.lists[number + 1]
        return int(self.passages[end] - self.passages[first])

    def sizes(self) -> Ints:
        """How many passages every list has."""
        return np.diff(self.passages[self.lists])

    def columns(self, numbers: Ints) -> list[bytes]:
        """The columns of a file that holds these lists."""
        pairs = _spans(self.lists[numbers], self.lists[numbers + 1])
        rows = _spans(self.passages[pairs], self.passages[pairs + 1])
        counts = (self.passages[pairs + 1] - self.passages[pairs]).astype(np.int64)
        starts = np.zeros(len(rows), dtype=np.bool_)
        starts[np.cumsum(counts) - counts] = True
        sizes = self.lists[numbers + 1] - self.lists[numbers]
        opening = np.zeros(len(pairs), dtype=np.bool_)
        opening[(np.cumsum(sizes) - sizes)[sizes > 0]] = True
        return [
            varints(sizes),
            varints(_gaps(self.document[pairs].astype(np.int64), opening)),
            varints(counts - 1),
            varints(_gaps(self.ordinal[rows].astype(np.int64), starts)),
            octets(self.impact[rows]),
            octets(self.kinship[pairs]),
            octets(zigzag(self.own[rows].astype(np.int64))),
        ]


def _gaps(values: Ints, opening: npt.NDArray[np.bool_]) -> Ints:
    """Rising values as what lies between them; the first of a run as it is."""
    return np.where(opening, values, np.diff(values, prepend=0) - 1)


def _spans(starts: Ints, ends: Ints) -> Ints:
    sizes = ends - starts
    if not int(sizes.sum()):
        return np.zeros(0, dtype=np.int64)
    return np.repeat(starts - (np.cumsum(sizes) - sizes), sizes) + np.arange(int(sizes.sum()))


def arrange(lexicon: Lexicon, shape: Shape, kin: Kinships, ceiling: float) -> Postings:
    """The postings in their tiers; ``ceiling`` is the most that BM25F gives for a term of rarity 1."""
    term = term_of(lexicon)
    document = shape.document_of[lexicon.passage]
    impact = lexicon.score / (lexicon.idf[term] * np.float32(ceiling))
    opening = np.flatnonzero(changes(term) | changes(document))
    counts = np.diff(np.append(opening, len(term)))
    tier = _tiers(term, opening, counts, _worth(term, impact, kin, lexicon, opening))
    order = np.lexsort((document[opening], tier, term[opening]))
    levels = levels_by_bits(shape.passages)[_bits_of(lexicon.frequency)]
    leveled = _leveled(levels, term, opening, counts, lexicon, impact, kin)
    rows = _spans(opening[order], (opening + counts)[order])
    owner = term[opening].astype(np.int64) * (len(TIERS) + 1) + tier
    lists = np.searchsorted(owner[order], np.arange(len(lexicon.terms) * (len(TIERS) + 1) + 1))
    return Postings(
        leveled.ranges,
        lists.astype(np.int64),
        document[opening][order],
        np.concatenate([[0], np.cumsum(counts[order])]).astype(np.int64),
        (lexicon.passage[rows] - shape.first[document[rows]]).astype(np.int32),
        leveled.impact[rows],
        leveled.kinship[order],
        leveled.own[rows],
        np.bincount(term[opening], minlength=len(lexicon.terms)),
    )


def _worth(term: Narrow, impact: Floats, kin: Kinships, lexicon: Lexicon, opening: Ints) -> Floats:
    """What each pair can bring to a score: by its best impact, and half as much by its best kinship."""
    if not len(term):
        return np.zeros(0, dtype=np.float32)
    most = np.maximum.reduceat(impact, lexicon.starts[:-1])
    owner = term[opening]
    near = kin.document / np.maximum(kin.length[owner], np.float32(1e-9))
    worth = np.maximum.reduceat(impact, opening) / most[owner] + np.float32(_KINSHIP_SHARE) * near
    return np.asarray(worth, dtype=np.float32)


def _tiers(term: Narrow, opening: Ints, counts: Ints, worth: Floats) -> npt.NDArray[np.int8]:
    """The tier of each pair: those worth most come first, as many as a tier has room for."""
    owner = term[opening]
    order = np.lexsort((np.arange(len(owner)), -worth, owner))
    before = np.cumsum(counts[order]) - counts[order]
    first = np.flatnonzero(changes(owner[order]))
    before -= np.repeat(before[first], np.diff(np.append(first, len(owner))))
    tier = np.empty(len(owner), dtype=np.int8)
    tier[order] = np.searchsorted(np.array(TIERS), before, side="right")
    return tier


def levels_by_bits(passages: int) -> Ints:
    """How many levels above the lowest a term has, by the bits of the number of passages that hold it."""
    typical = np.minimum(1.5 * 2.0 ** (np.arange(_FREQUENCY_BITS) - 1), passages)
    idf = np.log1p((passages - typical + 0.5) / (typical + 0.5))
    levels = np.round(LEVELS * (idf / _MEDIUM_IDF) ** _RARITY_POWER)
    found: Ints = levels.clip(_FEWEST_LEVELS, _MOST_LEVELS).astype(np.int64)
    return found


def _bits_of(frequency: Ints) -> Ints:
    found: Ints = np.frexp(frequency.astype(np.float64))[1].astype(np.int64)
    return found


@dataclass(frozen=True, slots=True)
class _Leveled:
    """The ranges of all terms; the levels of all impacts and of pairs' kinships; the steps to those of passages."""

    ranges: Ranges
    impact: npt.NDArray[np.uint8]
    kinship: npt.NDArray[np.uint8]
    own: npt.NDArray[np.int8]


def _leveled(
    levels: Ints, term: Narrow, opening: Ints, counts: Ints, lexicon: Lexicon, impact: Floats, kin: Kinships
) -> _Leveled:
    if not len(term):
        none = np.zeros(0, dtype=np.uint8)
        signed = none.astype(np.int8)
        empty = Ranges(none.reshape(0, 2), signed.reshape(0, 2), kin.length)
        return _Leveled(empty, none, none, signed)
    starts, owner = lexicon.starts[:-1], term[opening]
    steps_of = levels.astype(np.float32)  # half of what as many 64-bit numbers take, millions of times
    first = np.searchsorted(opening, starts)
    low, high = np.minimum.reduceat(impact, starts), np.maximum.reduceat(impact, starts)
    impacts = np.stack([np.floor(low * 255), np.ceil(high * 255)], axis=1).clip(0, 255)
    scale = np.maximum(kin.length, np.float32(1e-9))
    near = kin.document / scale[owner] * 127
    nearest = [np.floor(np.minimum.reduceat(near, first)), np.ceil(np.maximum.reduceat(near, first))]
    bounds = np.stack(nearest, axis=1).clip(-127, 127)
    level = _level(near, bounds[owner], steps_of[owner])
    width = bounds[:, 1] - bounds[:, 0]
    written = (bounds[owner, 0] + width[owner] * level / steps_of[owner]) / 127
    steps = (kin.passage / scale[term] - np.repeat(written, counts)) * steps_of[term]
    return _Leveled(
        Ranges(impacts.astype(np.uint8), bounds.astype(np.int8), kin.length),
        _level(impact * 255, impacts[term], steps_of[term]),
        level,
        np.round(steps / OWN_STEP).clip(-128, 127).astype(np.int8),
    )


def _level(values: npt.NDArray[Any], bounds: npt.NDArray[Any], levels: Floats) -> npt.NDArray[np.uint8]:
    width = np.maximum(bounds[:, 1] - bounds[:, 0], 1e-9)
    found: npt.NDArray[np.uint8] = (
        np.round((values - bounds[:, 0]) / width * levels).clip(0, levels).astype(np.uint8)
    )
    return found
