"""Postings and rows read from Parquet as a query needs them, a row group at a time."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

_CACHED_GROUPS = 256


@dataclass(frozen=True, slots=True)
class PostingList:
    """The passages that hold a term, rising, and the score of each."""

    passages: npt.NDArray[np.int32]
    scores: npt.NDArray[np.float32]


class Postings:
    """The postings of one index: ``terms`` says in which row group a term's list lies."""

    def __init__(self, terms: pa.Table, path: Path) -> None:
        self._terms = terms.column("term").combine_chunks()
        self._group = terms.column("row_group").to_numpy()
        self._first_of_group = np.searchsorted(
            self._group, np.arange(self._group[-1] + 2 if len(terms) else 1)
        )
        self._file = pq.ParquetFile(path, memory_map=True)
        self._read = lru_cache(maxsize=_CACHED_GROUPS)(self._read_group)

    def of(self, term: str) -> PostingList | None:
        """The term's postings, or ``None`` where no passage holds it."""
        at = bisect_left(self._terms, term, key=lambda value: value.as_py())
        if at == len(self._terms) or self._terms[at].as_py() != term:
            return None
        group = int(self._group[at])
        return self._read(group)[at - int(self._first_of_group[group])]

    def _read_group(self, group: int) -> _Group:
        table = self._file.read_row_group(group, columns=["passage", "score"])
        return _Group(table.column("passage").combine_chunks(), table.column("score").combine_chunks())


class _Group:
    """One row group, its lists cut without copying."""

    def __init__(self, passages: pa.ListArray, scores: pa.ListArray) -> None:
        self._offsets = passages.offsets.to_numpy()
        self._passages = passages.values.to_numpy()
        self._scores = scores.values.to_numpy()

    def __getitem__(self, at: int) -> PostingList:
        start, end = self._offsets[at], self._offsets[at + 1]
        return PostingList(self._passages[start:end], self._scores[start:end])


class Rows:
    """Rows of a table by number; only the row groups that hold them are read, and the last ones kept."""

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        self._file = pq.ParquetFile(path, memory_map=True)
        self._columns = list(columns)
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
        return self._file.read_row_group(group, columns=self._columns)
