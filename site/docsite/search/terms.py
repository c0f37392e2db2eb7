"""Term shards: each term's rarity, vector and first tier of postings, and where its other tiers lie."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from .files import Files
from .format import (
    POSTINGS,
    TERM_SHARD,
    Numbers,
    runs,
    strings,
    utf16,
)
from .index_inputs import Ints, Lexicon
from .postings import TIERS, Postings
from .quantization import (
    ProjectedTerms,
    length_bytes,
    length_steps,
    vector_bytes,
    vector_rows,
)


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bounds on the weight of a run: up to ``least`` it is never cut, beyond ``most`` it always is."""

    least: float
    most: float


# What a file of later tiers holds, in bytes as they are estimated before anything is packed.
TAIL_BYTES = 1_500
# What a shard holds; and how many bytes a query one more is worth, less than its name in the manifest takes,
# which is loaded but once.
_SHARD_SIZES, _SHARD_COST = Sizes(1_000, 4_000), 0.5
# The more passages hold a term, the more queries ask for it: the commonest is in this share of them, about.
ASKED_SHARE = 0.06
_PASSAGE_BYTES, _VECTOR_BYTES, _TERM_BYTES = 1.9, 56, 14

Aliases = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Shards:
    """The names of the term shards, with the first and last term of each, and the files of later tiers."""

    first: tuple[str, ...]
    last: tuple[str, ...]
    shards: tuple[str, ...]
    tails: tuple[str, ...]


NO_SHARDS = Shards((), (), (), ())


def first_terms(lexicon: Lexicon, has_vector: npt.NDArray[np.bool_]) -> list[str]:
    """Return the terms that shards begin with: little that is loaded with a term is for nothing."""
    order = sorted(range(len(lexicon.terms)), key=lambda at: utf16(lexicon.terms[at]))
    frequency = lexicon.frequency[order]
    weights = (
        np.minimum(frequency, TIERS[0]) * _PASSAGE_BYTES + has_vector[order] * _VECTOR_BYTES + _TERM_BYTES
    )
    asked = frequency / max(1, frequency.max(initial=0)) * ASKED_SHARE
    cuts = runs_by_use(weights, asked, _SHARD_SIZES, _SHARD_COST)
    return [lexicon.terms[order[run.start]] for run in cuts]


def _runs_from(terms: Sequence[str], borders: Sequence[str]) -> Iterator[slice]:
    """Yield the runs of terms between borders that hold any."""
    keys = [utf16(term) for term in terms]
    starts = [bisect_left(keys, utf16(border)) for border in borders[1:]]
    for start, end in pairwise([0, *starts, len(terms)]):
        if start < end:
            yield slice(start, end)


def make_shards(
    lexicon: Lexicon,
    postings: Postings,
    projected: ProjectedTerms | None,
    aliases: Aliases,
    files: Files,
    borders: Sequence[str],
    first_tail: int = 0,
) -> Shards:
    """Add all shards; ``aliases`` are words that a browser cannot reduce to their terms by itself.

    A shard begins at each of the ``borders``; ``first_tail`` is the number of the first file of later tiers.
    """
    order = sorted(range(len(lexicon.terms)), key=lambda at: utf16(lexicon.terms[at]))
    sizes = postings.sizes()
    heads = np.array(order, dtype=np.int64) * (len(TIERS) + 1)
    tails, places = _tails(order, sizes, postings, files, first_tail)
    vectors = postings.ranges.length[order] > 0
    cuts = list(_runs_from([lexicon.terms[at] for at in order], borders))
    first = [lexicon.terms[order[run.start]] for run in cuts]
    last = [lexicon.terms[order[run.stop - 1]] for run in cuts]
    rows = _rows(lexicon, postings, projected)

    def columns(run: slice, own: Sequence[str]) -> list[bytes]:
        terms = np.array(order[run], dtype=np.int64)
        values = {
            **strings([lexicon.terms[at] for at in order[run]], "term"),
            **rows.numbers(terms),
            "vector": rows.vectors(terms[vectors[run]]),
            "tier_places": _places(terms, places),
            "aliases": [[word, *aliases[word]] for word in own],
            **postings.columns(heads[run]),
        }
        return TERM_SHARD.pack(values)

    names = files.add_all(map(columns, cuts, _shared_out(aliases, first)))
    return Shards(tuple(first), tuple(last), names, tails)


def _shared_out(aliases: Aliases, first: Sequence[str]) -> list[list[str]]:
    """Return for each shard the words that belong in it, in order; ``first`` are shards' first terms."""
    keys = [utf16(each) for each in first]
    found: list[list[str]] = [[] for _ in first]
    for word in sorted(aliases, key=utf16) if first else ():
        found[max(0, bisect_right(keys, utf16(word)) - 1)].append(word)
    return found


@dataclass(frozen=True, slots=True)
class _Rows:
    """What shards say of every term, a row each: numbers, and the vector if it has one."""

    frequency: Ints
    documents: Ints
    impact: npt.NDArray[np.uint8]
    contribution: npt.NDArray[np.int8]
    steps: Ints
    vector: npt.NDArray[np.uint8]

    def numbers(self, terms: Ints) -> Mapping[str, object]:
        """Return the values of the columns of some terms' numbers."""
        steps = self.steps[terms]
        return {
            "passages": self.frequency[terms],
            "documents": self.documents[terms],
            "impact_range": self.impact[terms].T.ravel(),
            "contribution_range": self.contribution[terms].T.ravel(),
            "vector_length": length_bytes(steps),
        }

    def vectors(self, terms: Ints) -> bytes:
        """Return the vectors of some terms."""
        return vector_bytes(self.vector[terms])


def _rows(lexicon: Lexicon, postings: Postings, projected: ProjectedTerms | None) -> _Rows:
    ranges = postings.ranges
    steps = length_steps(ranges.length)
    none = np.zeros((len(lexicon.terms), 0), np.uint8)
    found = none if projected is None else vector_rows(ranges.length, projected)
    return _Rows(
        lexicon.frequency,
        postings.documents_of,
        ranges.impact,
        ranges.contribution,
        steps,
        found,
    )


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a later tier is: the file, its position there, and about how many bytes it has."""

    file: int
    place: int
    size: int


def _places(terms: Ints, places: Mapping[int, Sequence[_Place]]) -> list[int]:
    numbers: list[int] = []
    for at, term in enumerate(terms.tolist()):
        if term in places:
            numbers += [at, len(places[term])]
            numbers += [number for each in places[term] for number in (each.file, each.place, each.size)]
    return numbers


def _tails(
    order: Sequence[int], sizes: Ints, postings: Postings, files: Files, first: int
) -> tuple[tuple[str, ...], Mapping[int, list[_Place]]]:
    """Add the files of later tiers: those of small tiers together, with each tier of a term in one place."""
    places: dict[int, list[_Place]] = {}

    def columns() -> Iterator[list[bytes]]:
        file = first
        for tier in range(1, len(TIERS) + 1):
            terms = [at for at in order if sizes[postings.list_of(at, tier)]]
            numbers = np.array([postings.list_of(at, tier) for at in terms], dtype=np.int64)
            for run in runs(sizes[numbers] * _PASSAGE_BYTES, TAIL_BYTES):
                for place, at in enumerate(terms[run]):
                    size = int(sizes[postings.list_of(at, tier)] * _PASSAGE_BYTES)
                    places.setdefault(at, []).append(_Place(file, place, size))
                file += 1
                yield POSTINGS.pack(postings.columns(numbers[run]))

    return files.add_all(columns()), places


def runs_by_use(weights: Numbers, asked: Numbers, sizes: Sizes, cost: float) -> Iterator[slice]:
    """Yield runs in which little is loaded for nothing.

    ``asked[i]`` is the share of queries that ask for entry ``i``, and then load its neighbours too. One joins
    the run before it as long as this makes fewer bytes a query than ``cost``, within ``sizes``.
    """
    start, weight, share = 0, 0.0, 0.0
    for at, (each, own) in enumerate(zip(weights.tolist(), asked.tolist(), strict=True)):
        whole, wasted = weight + each, share * each + own * weight
        if at > start and (whole > sizes.most or (wasted > cost and whole > sizes.least)):
            yield slice(start, at)
            start, weight, share = at, 0.0, 0.0
        weight += each
        share += own
    if start < len(weights):
        yield slice(start, len(weights))
