"""Postings, term vectors and rows, read from Parquet as a query needs them, a row group at a time."""

from __future__ import annotations

import threading
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ....pipeline.lexical.bm25f import inverse_frequency
from ....pipeline.lexical.word_pieces import letters, word_pieces
from ...disk.manifest import damaged
from ...store.snapshot import Snapshot
from ...tables.parquet import group_rows, read_group
from ..caches import Cache
from ..model import Ints, Scores, Vector

_CACHED_GROUPS = 256
_NO_PASSAGES, _NO_SCORES, _NO_FIELDS = np.empty(0, np.int32), np.empty(0, np.float32), np.empty(0, np.uint16)


@dataclass(frozen=True, slots=True)
class PostingList:
    """The passages that hold a term, their scores, and fields as bits in the order of ``FIELDS``.

    ``most`` is the best score in the whole corpus, of which these may be a part.
    """

    passages: npt.NDArray[np.int32]
    scores: npt.NDArray[np.float32]
    fields: npt.NDArray[np.uint16]
    most: float


WeightedPostings = tuple[PostingList, float]


def add_up(found: Iterable[WeightedPostings], passages: int) -> Scores:
    """Sum the posting scores of each passage, every list times its weight; shape ``(passages,)``."""
    weighted = list(found)
    if not weighted:
        return np.zeros(passages)
    rows = np.concatenate([posting.passages for posting, _ in weighted])
    scores = np.concatenate([posting.scores.astype(np.float64) * weight for posting, weight in weighted])
    return np.bincount(rows, weights=scores, minlength=passages).astype(np.float64, copy=False)


def best(rows: Ints, scores: Scores, limit: int, places: Ints | None = None) -> tuple[Ints, Scores]:
    """Return the ``limit`` highest scores in the order ``(-score, place)``, or ``(-score, row)``."""
    if len(scores) > limit:
        cut = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        rows, scores = rows[scores >= cut], scores[scores >= cut]
    order = np.lexsort((rows if places is None else places[rows], -scores))[:limit]
    return rows[order].astype(np.int64), scores[order]


def places_of(doc_ids: pa.ChunkedArray, passages_of: npt.NDArray[np.int32]) -> Ints:
    """Return the place of each passage in order of ``(doc_id, ordinal)``; documents have these passages."""
    order = pc.sort_indices(doc_ids).to_numpy().astype(np.int64)
    sizes, starts = passages_of[order].astype(np.int64), np.empty(len(order), np.int64)
    starts[order] = np.cumsum(sizes) - sizes
    first = np.cumsum(passages_of, dtype=np.int64) - passages_of
    places: Ints = np.arange(int(sizes.sum())) + np.repeat(starts - first, passages_of)
    return places


class TableRows:
    """Rows of a table by number; only the row groups that hold them are read, and the last ones are kept."""

    def __init__(self, snapshot: Snapshot, table: str, columns: Sequence[str]) -> None:
        held = [(each.file(table), each.open_table(table)) for each in snapshot.holders(table)]
        self._columns, self._lock = list(columns), threading.Lock()
        self._places = [(path, file, group) for path, file in held for group in range(file.num_row_groups)]
        sizes = [rows for path, _ in held for rows in group_rows(path)]
        self._starts = [0, *accumulate(sizes)]
        self._groups: Cache[list[pa.ChunkedArray]] = Cache(_CACHED_GROUPS)

    def of(self, row: int) -> Mapping[str, Any]:
        """Return the row's values by column."""
        return {name: value.as_py() for name, value in zip(self._columns, self.scalars(row), strict=True)}

    def scalars(self, row: int) -> list[pa.Scalar]:
        """Return the row's values as Arrow has them, in the order of the columns."""
        # A search by NumPy lets other threads take their turn, and waits five milliseconds for its own.
        group = bisect_right(self._starts, row) - 1
        at = row - self._starts[group]
        return [column[at] for column in self._read(group)]

    def _read(self, group: int) -> list[pa.ChunkedArray]:
        found = self._groups.get(group)
        if found is None:
            found = self._read_group(group)
            self._groups.put(group, found)
        return found

    def _read_group(self, group: int) -> list[pa.ChunkedArray]:
        path, file, at = self._places[group]
        with self._lock:  # a Parquet file is not to be read by two threads at once
            columns: list[pa.ChunkedArray] = read_group(file, at, path, self._columns).columns
        return columns


class _SortedTerms:
    """Sorted terms, looked up where Arrow keeps them: 100,000 Python objects would cost too much."""

    def __init__(self, terms: pa.ChunkedArray) -> None:
        self.terms: pa.StringArray = terms.combine_chunks()

    def __contains__(self, term: object) -> bool:
        return self.position(str(term)) is not None

    def first_from(self, term: str) -> int:
        """Return the position of the first term that is not before this one."""
        return bisect_left(self.terms, term, key=lambda value: value.as_py())

    def position(self, term: str) -> int | None:
        """Return the position of a term, or ``None`` if it is not among them."""
        at = self.first_from(term)
        return at if at < len(self.terms) and self.terms[at].as_py() == term else None


# Reads the postings of a term, which stands in that row of the terms; ``None`` where no passage holds it.
ReadPostings = Callable[[str, int], PostingList | None]


class InvertedIndex(_SortedTerms):
    """The postings of one index, by the table of its terms; ``passages`` is how many the corpus has."""

    def __init__(self, terms: pa.Table, passages: int, read: ReadPostings) -> None:
        super().__init__(terms.column("term"))
        self._table, self._passages, self._read = terms, passages, read

    def with_postings(self, read: ReadPostings) -> InvertedIndex:
        """Return the same terms, each as common as it is, with other postings."""
        return InvertedIndex(self._table, self._passages, read)

    @cached_property
    def frequency(self) -> npt.NDArray[np.int32]:
        """Return how many passages hold each term."""
        found: npt.NDArray[np.int32] = self._table.column("passages").to_numpy()
        return found

    @cached_property
    def highest_score(self) -> float:
        """Return the highest score of any posting, 0 without postings."""
        return float(pc.max(self._table.column("max_score")).as_py() or 0.0)

    @property
    def unknown_score(self) -> float:
        """Return what a word that no passage holds would score where a passage of average length holds it."""
        return float(inverse_frequency(0, self._passages))

    def of(self, term: str) -> PostingList | None:
        """Return the term's postings, or ``None`` if no passage holds it."""
        at = self.position(term)
        return None if at is None else self._read(term, at)

    def count(self, term: str) -> int:
        """Return how many passages hold the term."""
        at = self.position(term)
        return 0 if at is None else int(self.frequency[at])

    def idf(self, term: str) -> float:
        """Return the term's inverse document frequency, 0 for one that no passage holds."""
        at = self.position(term)
        return 0.0 if at is None else float(self._table.column("idf")[at].as_py())

    def beginning_with(self, prefix: str, limit: int) -> list[str]:
        """Return the ``limit`` most common terms with this prefix, most common first."""
        start, end = self.first_from(prefix), self.first_from(prefix + chr(0x10FFFF))
        order = np.lexsort((np.arange(start, end), -self.frequency[start:end]))[:limit]
        return [self.terms[start + int(at)].as_py() for at in order]


class _StoredPostings:
    """The postings of a snapshot in one piece, whose rows are those of ``terms``."""

    def __init__(self, snapshot: Snapshot, postings: str, terms: pa.Table) -> None:
        self._rows = TableRows(snapshot, postings, ("passage", "score", "fields"))
        self._highest, self._path = terms.column("max_score"), snapshot.file(postings)
        self._passages = snapshot.rows("passages")

    def __call__(self, _: str, at: int) -> PostingList:
        rows, scores, fields = (each.values.to_numpy() for each in self._rows.scalars(at))
        # An array is made as long as the largest of them says.
        if len(rows) and not 0 <= rows.min() <= rows.max() < self._passages:
            raise damaged(f"row {at}: passages are not in 0..{self._passages - 1}", self._path)
        return PostingList(rows, scores, fields, float(self._highest[at].as_py()))


class _ShardedPostings:
    """The postings of a set of shards: ``terms`` are those of the set, passages are numbered over all."""

    def __init__(self, snapshot: Snapshot, names: tuple[str, str], terms: pa.Table) -> None:
        self._highest = terms.column("max_score")
        self._shards = [inverted_index(part, *names) for part in snapshot.parts]
        sizes = [part.rows("passages") for part in snapshot.parts]
        self._first = (np.cumsum(sizes) - sizes).astype(np.int32)

    def __call__(self, term: str, at: int) -> PostingList:
        found = [
            (posting, first)
            for shard, first in zip(self._shards, self._first, strict=True)
            if (posting := shard.of(term)) is not None
        ]
        return PostingList(
            np.concatenate([_NO_PASSAGES, *(posting.passages + first for posting, first in found)]),
            np.concatenate([_NO_SCORES, *(posting.scores for posting, _ in found)]),
            np.concatenate([_NO_FIELDS, *(posting.fields for posting, _ in found)]),
            float(self._highest[at].as_py()),
        )


def inverted_index(snapshot: Snapshot, terms: str, postings: str) -> InvertedIndex:
    """Return the postings of a snapshot, or of all shards of a set."""
    table, is_set = snapshot.table(terms), bool(snapshot.manifest.shards)
    read: ReadPostings = (
        _ShardedPostings(snapshot, (terms, postings), table)
        if is_set
        else _StoredPostings(snapshot, postings, table)
    )
    passages = snapshot.manifest.counts.get("passages", snapshot.rows("passages"))
    return InvertedIndex(table, passages, read)


class TermVectorRows(_SortedTerms):
    """What each index term adds to a query's vector."""

    def __init__(self, snapshot: Snapshot, table: str = "term_vectors", column: str = "term") -> None:
        super().__init__(snapshot.table(table, [column]).column(column))
        self._rows = TableRows(snapshot, table, ("scale", "code"))

    def __getitem__(self, term: str) -> Vector:
        """Return the term's vector, its rarity included; raise ``KeyError`` for a term without one."""
        at = self.position(term)
        if at is None:
            raise KeyError(term)
        scale, code = self._rows.scalars(at)
        vector: Vector = np.float32(scale.as_py()) * code.values.to_numpy().astype(np.float32)
        return vector


class TokenVectorRows(TermVectorRows):
    """The vectors of the tokens of the model's tokenizer, as long as these are rare."""

    def __init__(self, snapshot: Snapshot) -> None:
        super().__init__(snapshot, "token_vectors", "token")
        self._names = frozenset(self.terms.to_pylist())  # a word is looked up in all its beginnings
        self.longest = max(map(len, self._names), default=0)

    def __contains__(self, token: object) -> bool:
        return token in self._names

    def of_word(self, word: str) -> Vector | None:
        """Return the mean of the vectors of a word's tokens by their letters; ``None`` if there are none.

        The more tokens a word takes, the less they know of it: the mean is divided by their number.
        """
        found = [token for token in word_pieces(word, self, self.longest) if token in self]
        if not found:
            return None
        mean: Vector = np.average([self[token] for token in found], axis=0, weights=list(map(letters, found)))
        return mean / np.float32(len(found))
