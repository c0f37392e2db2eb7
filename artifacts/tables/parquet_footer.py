"""The numbers in the footer of a Parquet file: how many rows, values and bytes it promises.

Arrow reads footers as well, but a column's numbers end the process where the footer contradicts itself: its
Python side does not expect the exception. Here they are read before Arrow is asked for any.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from struct import unpack
from typing import Any

_MAGIC, _TAIL_BYTES = b"PAR1", 8
# Of the footer of a table with a hundred million rows.
_MAX_BYTES, _MAX_DEPTH = 32 << 20, 24
# Of a footer that is kept for the next reader, of 128.
_KEPT_BYTES = 64 << 10
# Thrift's compact protocol, as Parquet uses it: kinds of values, and the bytes of those that have so many.
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET = range(1, 11)
_STRUCT, _LONG_LIST = 12, 15
_NUMBERS, _WIDTHS = frozenset({_I16, _I32, _I64}), {_TRUE: 0, _FALSE: 0, _BYTE: 1, _DOUBLE: 8}
_MORE, _MOST_BITS = 127, 63
# The fields of ``FileMetaData``, ``RowGroup``, ``ColumnChunk`` and ``ColumnMetaData``,
# each its number and its kind: as Arrow does, one of another kind is passed over.
_FILE_ROWS, _FILE_GROUPS = 3 << 4 | _I64, 4 << 4 | _LIST
_GROUP_COLUMNS, _GROUP_ROWS, _CHUNK_COLUMN = 1 << 4 | _LIST, 3 << 4 | _I64, 3 << 4 | _STRUCT
_VALUES, _UNCOMPRESSED, _COMPRESSED = (number << 4 | _I64 for number in (5, 6, 7))
# Each reads a value, and says where it ends.
_Readers = Mapping[int, Callable[[bytes, int], tuple[Any, int]]]


@dataclass(frozen=True, slots=True)
class ColumnSize:
    """What a footer promises of one column of a row group."""

    values: int
    uncompressed: int
    compressed: int


@dataclass(frozen=True, slots=True)
class RowGroupSize:
    """What a footer promises of a row group."""

    rows: int
    columns: tuple[ColumnSize, ...]


@dataclass(frozen=True, slots=True)
class Footer:
    """What a footer promises of a file."""

    rows: int
    groups: tuple[RowGroupSize, ...]

    @property
    def promised(self) -> int:
        """Return the values and bytes of the largest promise."""
        sums = (sum(each.values + each.uncompressed for each in group.columns) for group in self.groups)
        return max(len(self.groups), self.rows, *sums, 0)

    @property
    def largest_column(self) -> int:
        """Return the bytes that the largest column of a row group takes in the file."""
        return max((each.compressed for group in self.groups for each in group.columns), default=0)


def read_footer(path: Path) -> Footer:
    """Return what the file's footer promises; raise ``OSError``, and ``ValueError`` if it cannot be."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TAIL_BYTES))
        tail = file.read(_TAIL_BYTES)
        length = unpack("<I", tail[:4])[0] if len(tail) == _TAIL_BYTES and tail[4:] == _MAGIC else 0
        if not 0 < length <= min(size - _TAIL_BYTES, _MAX_BYTES):
            raise ValueError("it has no footer")
        file.seek(size - _TAIL_BYTES - length)
        content = file.read(length)
    try:
        return _kept_footer(content) if length <= _KEPT_BYTES else _footer(content)
    except (IndexError, KeyError, TypeError):
        raise ValueError("its footer ends too early, or lacks a number") from None


def _footer(content: bytes) -> Footer:
    given = _struct(content, 0, {_FILE_ROWS: _signed, _FILE_GROUPS: _groups})[0]
    found = Footer(_count(given[_FILE_ROWS]), tuple(given[_FILE_GROUPS]))
    if sum(group.rows for group in found.groups) != found.rows:
        of_groups = sum(group.rows for group in found.groups)
        raise ValueError(f"{found.rows} rows, {of_groups} of them in row groups")
    return found


@lru_cache(maxsize=128)
def _kept_footer(content: bytes) -> Footer:
    """Return the same; a file has many readers, and files of equal tables have equal footers."""
    return _footer(content)


def _groups(content: bytes, at: int) -> tuple[list[RowGroupSize], int]:
    given, at = _structs(content, at, {_GROUP_ROWS: _signed, _GROUP_COLUMNS: _columns})
    return [RowGroupSize(_count(each[_GROUP_ROWS]), tuple(each[_GROUP_COLUMNS])) for each in given], at


def _columns(content: bytes, at: int) -> tuple[list[ColumnSize], int]:
    given, at = _structs(content, at, {_CHUNK_COLUMN: _column})
    return [each[_CHUNK_COLUMN] for each in given], at


def _column(content: bytes, at: int) -> tuple[ColumnSize, int]:
    given, at = _struct(content, at, _SIZES)
    return ColumnSize(*(_count(given[name]) for name in (_VALUES, _UNCOMPRESSED, _COMPRESSED))), at


def _count(number: int) -> int:
    if number < 0:
        raise ValueError("its footer promises less than nothing")
    return number


def _struct(content: bytes, at: int, readers: _Readers, depth: int = 0) -> tuple[dict[int, Any], int]:
    """Return the values of the fields that have readers, and where the structure ends."""
    found: dict[int, Any] = {}
    number = 0
    while head := content[at]:
        at += 1
        if head >> 4:
            number += head >> 4
        else:
            number, at = _signed(content, at)
        if (field := number << 4 | head & 15) in readers:
            found[field], at = readers[field](content, at)
        else:
            at = _behind(content, at, head & 15, depth)
    return found, at + 1


def _structs(content: bytes, at: int, readers: _Readers) -> tuple[list[dict[int, Any]], int]:
    """Return the values of each structure of a list, and where the list ends."""
    size, kind, at = _list(content, at)
    if size and kind != _STRUCT:
        raise ValueError("its footer has a list of the wrong kind")
    found = []
    for _ in range(size):
        values, at = _struct(content, at, readers)
        found.append(values)
    return found, at


def _list(content: bytes, at: int) -> tuple[int, int, int]:
    """Return a list's length, the kind of its items, and where the first begins."""
    size, kind = content[at] >> 4, content[at] & 15
    at += 1
    if size == _LONG_LIST:
        size, at = _unsigned(content, at)
    if size > len(content) - at:
        raise ValueError("its footer has a list that is longer than itself")
    return size, kind, at


def _behind(content: bytes, at: int, kind: int, depth: int) -> int:
    """Return where a value ends."""
    if kind in _NUMBERS:
        while content[at] > _MORE:
            at += 1
        return at + 1
    if kind == _BINARY:
        size, at = _unsigned(content, at)
        return at + size
    if depth > _MAX_DEPTH:
        raise ValueError(f"its footer is nested deeper than {_MAX_DEPTH}")
    if kind == _STRUCT:
        return _struct(content, at, {}, depth + 1)[1]
    if kind in (_LIST, _SET):
        size, kind, at = _list(content, at)
        for _ in range(size):
            at = at + 1 if kind in (_TRUE, _FALSE) else _behind(content, at, kind, depth + 1)
        return at
    if kind not in _WIDTHS:  # a map, of which Parquet has none
        raise ValueError("its footer has a field of an unknown kind")
    return at + _WIDTHS[kind]


def _signed(content: bytes, at: int) -> tuple[int, int]:
    number, at = _unsigned(content, at)
    return (number >> 1) ^ -(number & 1), at


def _unsigned(content: bytes, at: int) -> tuple[int, int]:
    """Return the number that begins here, and where it ends."""
    number = shift = 0
    while (byte := content[at]) > _MORE:
        number |= (byte & _MORE) << shift
        shift += 7
        at += 1
        if shift > _MOST_BITS:
            raise ValueError("its footer has a number without an end")
    return number | byte << shift, at + 1


_SIZES: _Readers = {_VALUES: _signed, _UNCOMPRESSED: _signed, _COMPRESSED: _signed}
