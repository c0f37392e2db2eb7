"""Postings, term vectors and rows, read from Parquet as a query needs them, a row group at a time."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from ...store.snapshot import Snapshot
from ..model import Ints, Scores, Vector

_CACHED_GROUPS = 256


@dataclass(frozen=True, slots=True)
class PostingList:
    """The passages that hold a term, in rising order, and the score of each.

    ``fields`` are bits in the order of ``FIELDS``.
    """

    passages: npt.NDArray[np.int32]
    scores: npt.NDArray[np.float32]
    fields: npt.NDArray[np.uint16]


WeightedPostings = tuple[PostingList, float]


def add_up(found: Iterable[WeightedPostings], passages: int) -> Scores:
    """Sum the posting scores of each passage, every list times its weight; shape ``(passages,)``."""
    weighted = list(found)
    if not weighted:
        return np.zeros(passages)
    rows = np.concatenate([posting.passages for posting, _ in weighted])
    scores = np.concatenate([posting.scores.astype(np.float64) * weight for posting, weight in weighted])
    return np.bincount(rows, weights=scores, minlength=passages).astype(np.float64, copy=False)


def best(rows: Ints, scores: Scores, limit: int) -> tuple[Ints, Scores]:
    """Return the ``limit`` highest scores in the order ``(-score, row)``."""
    if len(scores) > limit:
        cut = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        rows, scores = rows[scores >= cut], scores[scores >= cut]
    order = np.lexsort((rows, -scores))[:limit]
    return rows[order].astype(np.int64), scores[order]


class SortedStrings:
    """Sorted strings, looked up where Arrow keeps them: 100,000 Python objects would cost too much."""

    def __init__(self, strings: pa.StringArray) -> None:
        self.strings = strings

    def first_from(self, string: str) -> int:
        """Return the position of the first string that is not before ``string``."""
        return bisect_left(self.strings, string, key=lambda value: value.as_py())

    def position(self, string: str) -> int | None:
        """Return the position of ``string``, or ``None`` if it is not among them."""
        at = self.first_from(string)
        return at if at < len(self.strings) and self.strings[at].as_py() == string else None


class InvertedIndex:
    """The postings of one index: ``terms`` says in which row group a term's list lies."""

    def __init__(self, terms: pa.Table, path: Path) -> None:
        self._table, self._lock = terms, threading.Lock()
        self._sorted = SortedStrings(terms.column("term").combine_chunks())
        self._group = terms.column("row_group").to_numpy()
        self._first_of_group = np.searchsorted(
            self._group, np.arange(self._group[-1] + 2 if len(terms) else 1)
        )
        self._file = pq.ParquetFile(path, memory_map=True)
        self._read = lru_cache(maxsize=_CACHED_GROUPS)(self._read_group)

    @property
    def terms(self) -> pa.StringArray:
        """Return all terms, sorted."""
        return self._sorted.strings

    @cached_property
    def frequency(self) -> npt.NDArray[np.int32]:
        """Return how many passages hold each term."""
        found: npt.NDArray[np.int32] = self._table.column("passages").to_numpy()
        return found

    def __contains__(self, term: object) -> bool:
        return self._sorted.position(str(term)) is not None

    def of(self, term: str) -> PostingList | None:
        """Return the term's postings, or ``None`` if no passage holds it."""
        at = self._sorted.position(term)
        if at is None:
            return None
        group = int(self._group[at])
        return self._read(group)[at - int(self._first_of_group[group])]

    def count(self, term: str) -> int:
        """Return how many passages hold the term."""
        at = self._sorted.position(term)
        return 0 if at is None else int(self.frequency[at])

    def idf(self, term: str) -> float:
        """Return the term's inverse document frequency, 0 for one that no passage holds."""
        at = self._sorted.position(term)
        return 0.0 if at is None else float(self._table.column("idf")[at].as_py())

    def beginning_with(self, prefix: str, limit: int) -> list[str]:
        """Return the ``limit`` most common terms with this prefix, most common first."""
        start, end = self._sorted.first_from(prefix), self._sorted.first_from(prefix + chr(0x10FFFF))
        order = np.lexsort((np.arange(start, end), -self.frequency[start:end]))[:limit]
        return [self.terms[start + int(at)].as_py() for at in order]

    def _read_group(self, group: int) -> _Group:
        with self._lock:  # a Parquet file is not to be read by two threads at once
            return _Group(self._file.read_row_group(group, columns=["passage", "score", "fields"]))


class _Group:
    """One row group, its lists cut without copying."""

    def __init__(self, table: pa.Table) -> None:
        lists = [table.column(name).combine_chunks() for name in ("passage", "score", "fields")]
        self._offsets = lists[0].offsets.to_numpy()
        self._passages, self._scores, self._fields = (each.values.to_numpy() for each in lists)

    def __getitem__(self, at: int) -> PostingList:
        start, end = self._offsets[at], self._offsets[at + 1]
        return PostingList(self._passages[start:end], self._scores[start:end], self._fields[start:end])


class TableRows:
    """Rows of a table by number; only the row groups that hold them are read, and the last ones are kept."""

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        self._file = pq.ParquetFile(path, memory_map=True)
        self._columns, self._lock = list(columns), threading.Lock()
        sizes = [self._file.metadata.row_group(i).num_rows for i in range(self._file.num_row_groups)]
        self._starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self._read = lru_cache(maxsize=_CACHED_GROUPS)(self._read_group)

    def of(self, row: int) -> Mapping[str, Any]:
        """Return the row's values by column."""
        group = int(np.searchsorted(self._starts, row, side="right")) - 1
        table = self._read(group)
        at = row - int(self._starts[group])
        return {name: table.column(name)[at].as_py() for name in self._columns}

    def _read_group(self, group: int) -> pa.Table:
        with self._lock:
            return self._file.read_row_group(group, columns=self._columns)


class TermVectorRows:
    """What each index term adds to a query's vector."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._terms = SortedStrings(snapshot.table("term_vectors", ["term"]).column("term").combine_chunks())
        self._rows = TableRows(snapshot.file("term_vectors"), ("scale", "code"))

    def __contains__(self, term: object) -> bool:
        return self._terms.position(str(term)) is not None

    def __getitem__(self, term: str) -> Vector:
        """Return the term's vector, its rarity included; raise ``KeyError`` for a term without one."""
        at = self._terms.position(term)
        if at is None:
            raise KeyError(term)
        row: Any = self._rows.of(at)
        vector: Vector = np.float32(row["scale"]) * np.array(row["code"], dtype=np.float32)
        return vector
