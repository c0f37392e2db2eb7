"""Postings and rows read from Parquet as a query needs them, a row group at a time."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

_CACHED_GROUPS = 256


@dataclass(frozen=True, slots=True)
class PostingList:
    """The passages that hold a term, rising, the score of each, and the fields as bits in the order of ``FIELDS``."""

    passages: npt.NDArray[np.int32]
    scores: npt.NDArray[np.float32]
    fields: npt.NDArray[np.uint16]


class Sorted:
    """Strings in order, looked up where Arrow keeps them: 100,000 of them are not to become Python's."""

    def __init__(self, strings: pa.StringArray) -> None:
        self.strings = strings

    def first_from(self, string: str) -> int:
        """The position of the first that is not before ``string``."""
        return bisect_left(self.strings, string, key=lambda value: value.as_py())

    def position(self, string: str) -> int | None:
        """The position of ``string``, or ``None`` where it is not among them."""
        at = self.first_from(string)
        return at if at < len(self.strings) and self.strings[at].as_py() == string else None


class Postings:
    """The postings of one index: ``terms`` says in which row group a term's list lies."""

    def __init__(self, terms: pa.Table, path: Path) -> None:
        self._table, self._lock = terms, threading.Lock()
        self._sorted = Sorted(terms.column("term").combine_chunks())
        self._group = terms.column("row_group").to_numpy()
        self._first_of_group = np.searchsorted(
            self._group, np.arange(self._group[-1] + 2 if len(terms) else 1)
        )
        self._file = pq.ParquetFile(path, memory_map=True)
        self._read = lru_cache(maxsize=_CACHED_GROUPS)(self._read_group)

    @property
    def terms(self) -> pa.StringArray:
        """All terms, sorted."""
        return self._sorted.strings

    @cached_property
    def frequency(self) -> npt.NDArray[np.int32]:
        """How many passages hold each term."""
        found: npt.NDArray[np.int32] = self._table.column("passages").to_numpy()
        return found

    def __contains__(self, term: object) -> bool:
        return self._sorted.position(str(term)) is not None

    def of(self, term: str) -> PostingList | None:
        """The term's postings, or ``None`` where no passage holds it."""
        at = self._sorted.position(term)
        if at is None:
            return None
        group = int(self._group[at])
        return self._read(group)[at - int(self._first_of_group[group])]

    def count(self, term: str) -> int:
        """How many passages hold the term."""
        at = self._sorted.position(term)
        return 0 if at is None else int(self.frequency[at])

    def idf(self, term: str) -> float:
        """The term's inverse document frequency, 0 for one that no passage holds."""
        at = self._sorted.position(term)
        return 0.0 if at is None else float(self._table.column("idf")[at].as_py())

    def beginning_with(self, prefix: str, limit: int) -> list[str]:
        """The ``limit`` most common terms that begin so, most common first."""
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


class Rows:
    """Rows of a table by number; only the row groups that hold them are read, and the last ones kept."""

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        self._file = pq.ParquetFile(path, memory_map=True)
        self._columns, self._lock = list(columns), threading.Lock()
        sizes = [self._file.metadata.row_group(i).num_rows for i in range(self._file.num_row_groups)]
        self._starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self._read = lru_cache(maxsize=_CACHED_GROUPS)(self._read_group)

    def of(self, row: int) -> Mapping[str, Any]:
        """The row's values by column."""
        group = int(np.searchsorted(self._starts, row, side="right")) - 1
        table = self._read(group)
        at = row - int(self._starts[group])
        return {name: table.column(name)[at].as_py() for name in self._columns}

    def _read_group(self, group: int) -> pa.Table:
        with self._lock:
            return self._file.read_row_group(group, columns=self._columns)
