"""Columnar checks: a mask marks the rows that break a rule, and the first of them is reported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ..vector_columns import vector_matrix
from ..vectors import Vectors

_BLOCK_ROWS = 16_384

Mask = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Tables = Mapping[str, pa.Table]


@dataclass(frozen=True, slots=True)
class Problem:
    """A broken rule: which table, and which row of it."""

    table: str
    what: str


def vector_blocks(column: pa.ChunkedArray, dimension: int) -> Iterator[tuple[int, Vectors]]:
    """Yield uncopied blocks of rows of a column of fixed-size lists, with the number of the first row."""
    for at in range(0, len(column), _BLOCK_ROWS):
        yield at, vector_matrix(column.slice(at, _BLOCK_ROWS), dimension)


def where(table: str, wrong: Mask, what: str) -> Iterator[Problem]:
    """Yield a problem if any row is wrong: the first, and how many there are."""
    if wrong.any():
        yield Problem(table, f"row {int(np.argmax(wrong))}: {what}; {int(wrong.sum())} such rows")


def mask(condition: pa.ChunkedArray) -> Mask:
    """Return a condition as truth values; null counts as true."""
    return np.asarray(pc.fill_null(condition, True).to_numpy(zero_copy_only=False), dtype=np.bool_)


def missing(column: pa.ChunkedArray, among: pa.ChunkedArray, null_is_fine: bool = False) -> Mask:
    """Return the rows whose value is not among the others."""
    known = pc.is_in(column, value_set=among.combine_chunks())
    wrong = pc.invert(known)
    return mask(pc.and_(wrong, pc.is_valid(column)) if null_is_fine else wrong)


def row_in(column: pa.ChunkedArray, among: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    """Return the row of each value among others, -1 if it is missing or null."""
    rows = pc.index_in(column, value_set=among.combine_chunks())
    found = np.array(pc.fill_null(rows, -1).to_numpy(), dtype=np.int64)
    found[mask(pc.is_null(column))] = -1
    return found


def ints(table: pa.Table, column: str) -> npt.NDArray[np.int64]:
    """Return a column of numbers; null is -1."""
    return np.asarray(pc.fill_null(table[column], -1).to_numpy(), dtype=np.int64)


def not_rising(column: pa.ChunkedArray) -> Mask:
    """Return the rows that are not greater than the previous row, or null; strings compare by code point."""
    flat = column.combine_chunks()
    wrong = np.zeros(len(flat), dtype=np.bool_)
    if len(flat):
        wrong[0] = not flat[0].is_valid
        wrong[1:] = mask(pc.invert(pc.greater(flat[1:], flat[:-1])))
    return wrong


def repeated(column: pa.ChunkedArray) -> Mask:
    """Return the rows whose value is null or occurred before."""
    return np.asarray(row_in(column, column) != np.arange(len(column)), dtype=np.bool_)
