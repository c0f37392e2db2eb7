"""Validation of a FAISS file's header before FAISS, whose reader is not safe for untrusted files, opens it.

Only a file of exactly the expected kind, shape and size is accepted.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

from ...pipeline.errors import is_transient
from ..disk.manifest import damaged, unreadable
from ..disk.manifest_records import IndexRecord

# As FAISS writes them: kind, d, ntotal, two unused, is_trained, metric.
_INDEX = struct.Struct("<4siqqqBi")
_COUNT = struct.Struct("<Q")
_LISTS = struct.Struct("<QQ")
_DIRECT_MAP = struct.Struct("<BQ")
# Kind, range, argument, d, code size, count of trained numbers: minimum and range of every dimension.
_QUANTIZER = struct.Struct("<iifQQQ")
_CODES = struct.Struct("<QB")
# Kind, lists, code size, "full" or "sprs", and the count of size entries that follow.
_INVERTED = struct.Struct("<4sQQ4sQ")
_FLAT, _IVF, _INVERTED_LISTS = b"IxFI", b"IwSq", b"ilar"
_TRAINED, _INNER_PRODUCT = 1, 0
_EIGHT_BIT, _LEAST_AND_MOST = 0, 0
_ROW_NUMBER_BYTES = 8


class _Wrong(Exception):
    """The file is not what it should be."""


def check_header(path: Path, rows: int, dimension: int, record: IndexRecord) -> None:
    """Raise ``DamagedSnapshot`` unless it is an inner-product index of the record's kind and parameters."""
    kind = "a flat" if record.kind == "flat" else "an IVF"
    try:
        with path.open("rb") as file:
            if record.kind == "flat":
                _require_size(path, _INDEX.size + _COUNT.size + rows * dimension * 4)
                _require_flat(file, rows, dimension)
            else:
                _require_ivf(file, rows, dimension, record)
                _require_size(path, file.tell() + rows * (record.code_bytes + _ROW_NUMBER_BYTES))
    except _Wrong as error:
        what = f"not {kind} inner-product index with {rows} rows of {dimension}: {error}"
        raise damaged(what, path) from error
    except OSError as error:
        if is_transient(error):
            raise unreadable(error, path) from error
        raise damaged(f"cannot read it: {error.strerror}", path) from error


def _require_size(path: Path, expected: int) -> None:
    found = path.stat().st_size
    if found != expected:
        raise _Wrong(f"expected {expected} bytes, found {found}")


def _take(file: BinaryIO, layout: struct.Struct) -> tuple[object, ...]:
    content = file.read(layout.size)
    if len(content) < layout.size:
        raise _Wrong("it ends early")
    return layout.unpack(content)


def _require(found: object, expected: object, name: str) -> None:
    if found != expected:
        raise _Wrong(f"{name} is {found}, expected {expected}")


def _require_index(file: BinaryIO, kind: bytes, rows: int, dimension: int) -> None:
    found, d, total, _, _, trained, metric = _take(file, _INDEX)
    expected = (kind, dimension, rows, _TRAINED, _INNER_PRODUCT)
    _require((found, d, total, trained, metric), expected, "its kind, dimension, rows, trained and metric")


def _require_flat(file: BinaryIO, rows: int, dimension: int) -> None:
    _require_index(file, _FLAT, rows, dimension)
    _require(_take(file, _COUNT), (rows * dimension,), "the number of floats")


def _require_ivf(file: BinaryIO, rows: int, dimension: int, record: IndexRecord) -> None:
    _require_index(file, _IVF, rows, dimension)
    _require(_take(file, _LISTS), (record.nlist, record.nprobe), "nlist and nprobe")
    _require_flat(file, record.nlist, dimension)
    file.seek(record.nlist * dimension * 4, 1)
    _require(_take(file, _DIRECT_MAP), (0, 0), "the direct map")
    codes = record.code_bytes
    _require(codes, dimension, "the code size, a byte for each number,")
    expected = (_EIGHT_BIT, _LEAST_AND_MOST, 0.0, dimension, codes, 2 * dimension)
    _require(_take(file, _QUANTIZER), expected, "the quantizer")
    file.seek(2 * dimension * 4, 1)
    _require(_take(file, _CODES), (codes, 0), "the code size and residuals")
    _require(sum(_list_sizes(file, record)), rows, "the sum of the lists' sizes")


def _list_sizes(file: BinaryIO, record: IndexRecord) -> list[int]:
    """Return the lists' sizes; FAISS stores only non-empty ones, with their numbers, if many are empty."""
    kind, lists, codes, form, count = _take(file, _INVERTED)
    _require((kind, lists, codes), (_INVERTED_LISTS, record.nlist, record.code_bytes), "the inverted lists")
    if form not in (b"full", b"sprs") or not isinstance(count, int):
        raise _Wrong(f"the form of its lists is {form!r}")
    numbers = record.nlist if form == b"full" else min(count, 2 * record.nlist)
    _require(count, numbers, "the number of sizes")
    found = struct.unpack(f"<{count}Q", file.read(8 * count).ljust(8 * count, b"\xff"))
    if form == b"full":
        return list(found)
    if count % 2 or any(number >= record.nlist for number in found[::2]):
        raise _Wrong("a list's number is out of range")
    return list(found[1::2])
