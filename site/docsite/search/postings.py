"""Postings as a browser reads them: in tiers by how much they can matter, with a few bits for each number.

A posting says in which document and in which of its passages a term occurs, its *impact* there (BM25F without
the term's rarity) and its *cosine contributions*: what the term adds to the cosines of the document and of
the passage, already multiplied out. A passage that holds all the terms of a query thus has its whole score in
the postings, and no vector is loaded for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...artifacts.tables.outside_memory import zeros
from ..incremental.search_changes import Changes
from .cosine_contributions import CosineContributions, changes, term_of
from .format import zigzag
from .index_inputs import Floats, Ints, Lexicon, Narrow, Shape, places_of
from .quantization import Ranges, quantize

# Passages of a term in its first tier, which lies in the term's shard, and in the next; the last has the
# rest.
TIERS = (1_000, 2_500, 6_000, 14_000, 32_000)
_CONTRIBUTION_SHARE = 0.5
_UNCHANGED = -2
_POSTINGS_AT_A_TIME = 1_000_000
_RANGES = ("impact", "contribution", "length")
_OFFSETS = ("lists", "passages")
_COLUMNS = (
    *_OFFSETS, "document_gap", "ordinal_gap", "impact", "contribution", "change", "documents_of"
)  # fmt: skip
Column = npt.NDArray[Any]
# What is multiplied out for the terms from the first up to the second.
CosinesOfTerms = Callable[[int, int], CosineContributions]


@dataclass(frozen=True, slots=True)
class Postings:
    """Lists of *pairs* (a term, a document), a list for each term and tier, one after the other.

    List ``l`` owns ``pairs[lists[l] : lists[l + 1]]``. Pair ``p`` has a ``document_gap`` (how many documents
    lie between its own and the one before it in the list) and a ``contribution``, and owns ``passages[p] :
    passages[p + 1]`` of ``impact``, ``change`` (by how many steps the passage's contribution differs from its
    document's, as ``zigzag`` gives it) and ``ordinal_gap``. Term ``t`` has its tier ``k`` in list
    ``list_of(t, k)``.
    """

    ranges: Ranges
    lists: Ints
    document_gap: Narrow
    passages: Ints
    ordinal_gap: Narrow
    impact: npt.NDArray[np.uint8]
    contribution: npt.NDArray[np.uint8]
    change: npt.NDArray[np.uint8]
    documents_of: Ints

    def list_of(self, term: int, tier: int) -> int:
        """Return the number of a term's list of a tier."""
        return term * (len(TIERS) + 1) + tier

    def size(self, number: int) -> int:
        """Return how many passages a list has."""
        first, end = self.lists[number], self.lists[number + 1]
        return int(self.passages[end] - self.passages[first])

    def sizes(self) -> Ints:
        """Return how many passages every list has."""
        return np.diff(self.passages[self.lists])

    def columns(self, numbers: Ints) -> Mapping[str, object]:
        """Return the values of the columns of a file that holds these lists."""
        pairs = _spans(self.lists[numbers], self.lists[numbers + 1])
        first, end = self.passages[pairs], self.passages[pairs + 1]
        rows = _spans(first, end)
        return {
            "list_documents": self.lists[numbers + 1] - self.lists[numbers],
            "document_gap": self.document_gap[pairs],
            "more_passages": end - first - 1,
            "ordinal_gap": self.ordinal_gap[rows],
            "impact": self.impact[rows],
            "contribution": self.contribution[pairs],
            "contribution_change": self.change[rows],
        }


def unchanged_postings(
    base: Lexicon, shape: Shape, now: Lexicon, shape_now: Shape, changes: Changes
) -> npt.NDArray[np.bool_]:
    """Return which postings of a base are of documents that hold their terms now."""
    today = np.full(shape.documents, _UNCHANGED, dtype=np.int64)
    today[changes.stale] = changes.now
    rows = today[shape.document_of[base.passage]]
    asked = np.flatnonzero(rows != _UNCHANGED)
    recent = shape_now.document_of[now.passage]
    held = np.flatnonzero(np.isin(recent, changes.now))
    pairs = term_of(now)[held].astype(np.int64) * shape_now.documents + recent[held]
    terms = places_of(base, now)[term_of(base)[asked]]
    kept = np.ones(len(base.passage), dtype=np.bool_)
    kept[asked] = (terms >= 0) & (rows[asked] >= 0)
    kept[asked] &= np.isin(terms * shape_now.documents + rows[asked], pairs)
    return kept


def _gaps(values: Narrow, starts: Ints) -> Narrow:
    """Return ascending values as the gaps between them; the first of each run, at its start, as it is."""
    found = np.diff(values, prepend=np.int32(0))
    found -= 1
    opening = starts[starts < len(values)]
    found[opening] = values[opening]
    return found


def _spans(starts: Ints, ends: Ints) -> Narrow:
    """Return the rows of all spans, one after the other; narrow, as there are as many as postings."""
    sizes = ends - starts
    found = np.repeat((starts - (np.cumsum(sizes) - sizes)).astype(np.int32), sizes)
    found += np.arange(len(found), dtype=np.int32)
    return found


def arrange(
    lexicon: Lexicon,
    shape: Shape,
    cosines: CosinesOfTerms,
    ceiling: float,
    passages: int | None = None,
    folder: Path | None = None,
) -> Postings:
    """Arrange the postings in their tiers; ``ceiling`` is BM25F's maximum for a term of rarity 1.

    Levels are those of an index with so many ``passages``: as many as there are, if nothing is said. Terms do
    not matter to one another: a range of them at a time bounds the memory that the work takes, and what was
    arranged lies outside memory where there is a ``folder`` for that. Raises ``WriteFailed``.
    """
    most = shape.passages if passages is None else passages
    document_of, found = shape.document_of, _JoinedRanges(lexicon, folder)
    for first, end in _term_ranges(lexicon.starts):
        part = lexicon.between(first, end)
        document = document_of[part.passage]
        opening = np.flatnonzero(changes(term_of(part)) | changes(document))
        ordinal = part.passage - shape.first.astype(np.int32)[document]
        found.add(_arranged(part, document, ordinal, opening, cosines(first, end), ceiling, most))
    return found.postings()


def _term_ranges(starts: Ints) -> Iterator[tuple[int, int]]:
    """Yield ranges of terms that share about so many postings; one, if there are no terms."""
    first, terms = 0, len(starts) - 1
    while True:
        end = int(np.searchsorted(starts, starts[first] + _POSTINGS_AT_A_TIME, side="right")) - 1
        end = min(terms, max(end, first + 1))
        yield first, end
        if end == terms:
            return
        first = end


def _arranged(
    lexicon: Lexicon,
    document: Narrow,
    ordinal: Narrow,
    opening: Ints,
    cosines: CosineContributions,
    ceiling: float,
    passages: int,
) -> Postings:
    term = term_of(lexicon)
    impact = lexicon.score / (lexicon.idf[term] * np.float32(ceiling))
    counts = np.diff(np.append(opening, len(term)))
    tier = _tiers(term, opening, counts, _worth(term, impact, cosines, lexicon, opening))
    order = np.lexsort((document[opening], tier, term[opening]))
    written = quantize(passages, lexicon, opening, impact, cosines)
    del impact
    rows = _spans(opening[order], (opening + counts)[order])
    owner = term[opening].astype(np.int64) * (len(TIERS) + 1) + tier
    ends = np.arange(len(lexicon.terms) * (len(TIERS) + 1) + 1)
    lists = np.searchsorted(owner[order], ends).astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(counts[order])]).astype(np.int64)
    return Postings(
        written.ranges,
        lists,
        _gaps(document[opening][order], lists),
        starts,
        _gaps(ordinal[rows], starts),
        written.impact[rows],
        written.contribution[order],
        zigzag(written.change)[rows],
        np.bincount(term[opening], minlength=len(lexicon.terms)),
    )


class _JoinedRanges:
    """The postings of consecutive ranges of terms as one: columns have room for all ranges from the first on.

    Columns of their own for each range would each keep a file open where they lie outside memory.
    """

    def __init__(self, lexicon: Lexicon, folder: Path | None) -> None:
        terms, rows = len(lexicon.terms), len(lexicon.passage)
        # There are no more pairs than rows.
        self._sizes = dict.fromkeys(_COLUMNS, rows) | {
            "lists": terms * (len(TIERS) + 1) + 1, "passages": rows + 1, "documents_of": terms
        }  # fmt: skip
        self._used = {name: int(name in _OFFSETS) for name in _COLUMNS}
        self._columns: dict[str, Column] = {}
        self._ranges: list[Ranges] = []
        self._folder = folder

    def add(self, part: Postings) -> None:
        """Write the postings of the next range of terms; raises ``WriteFailed``."""
        for name in _COLUMNS:
            values, start = getattr(part, name), self._used[name]
            if name not in self._columns:
                self._columns[name] = zeros((self._sizes[name],), values.dtype.type, self._folder)
            column = self._columns[name]
            if name in _OFFSETS:  # they go on where those of the range before end
                values = values[1:] + column[start - 1]
            self._used[name] = start + len(values)
            column[start : self._used[name]] = values
        self._ranges.append(part.ranges)

    def postings(self) -> Postings:
        """Return the postings of all ranges."""
        columns: dict[str, Any] = {name: column[: self._used[name]] for name, column in self._columns.items()}
        ranges = (np.concatenate([getattr(each, name) for each in self._ranges]) for name in _RANGES)
        return Postings(ranges=Ranges(*ranges), **columns)


def _worth(
    term: Narrow, impact: Floats, cosines: CosineContributions, lexicon: Lexicon, opening: Ints
) -> Floats:
    """Return what each pair can add to a score: its best impact, and half as much its contribution."""
    if not len(term):
        return np.zeros(0, dtype=np.float32)
    most = np.maximum.reduceat(impact, lexicon.starts[:-1])
    owner = term[opening]
    near = cosines.document / np.maximum(cosines.length[owner], np.float32(1e-9))
    worth = np.maximum.reduceat(impact, opening) / most[owner] + np.float32(_CONTRIBUTION_SHARE) * near
    return np.asarray(worth, dtype=np.float32)


def _tiers(term: Narrow, opening: Ints, counts: Ints, worth: Floats) -> npt.NDArray[np.int8]:
    """Return the tier of each pair: those worth most come first, as many as a tier has room for."""
    owner = term[opening]
    order = np.lexsort((np.arange(len(owner)), -worth, owner))
    before = np.cumsum(counts[order]) - counts[order]
    first = np.flatnonzero(changes(owner[order]))
    before -= np.repeat(before[first], np.diff(np.append(first, len(owner))))
    tier = np.empty(len(owner), dtype=np.int8)
    tier[order] = np.searchsorted(np.array(TIERS), before, side="right")
    return tier
