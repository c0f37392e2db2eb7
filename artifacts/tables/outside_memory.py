"""Tables and arrays in files without a name, mapped into memory and gone with their last user.

The kernel can write their pages back and take them away, which it cannot do with memory of the process. The
files lie beside what they are made of, since a folder for temporary files may itself be in memory.
"""

from __future__ import annotations

import math
import mmap
import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..disk import durable

N = TypeVar("N", bound=np.generic)
_ROWS_AT_A_TIME = 4_096


def mapped_table(schema: pa.Schema, parts: Iterable[pa.Table], folder: Path) -> pa.Table:
    """Return the rows of all parts as one table outside memory, chunk by chunk; raises ``WriteFailed``."""

    def write(file: IO[bytes]) -> None:
        with pa.ipc.new_file(pa.PythonFile(file, mode="w"), schema) as writer:
            for part in parts:
                writer.write_table(part)

    return pa.ipc.open_file(pa.BufferReader(pa.py_buffer(mapped_bytes(write, folder)))).read_all()


def mapped_rows(table: pa.Table, order: npt.NDArray[np.integer[Any]], folder: Path) -> pa.Table:
    """Return these rows of a table in this order, outside memory; raises ``WriteFailed``."""
    batches = table.to_batches()
    ends = np.cumsum([len(batch) for batch in batches], dtype=np.int64)
    rows: npt.NDArray[np.int64] = order.astype(np.int64)
    blocks = (rows[at : at + _ROWS_AT_A_TIME] for at in range(0, len(rows), _ROWS_AT_A_TIME))
    return mapped_table(table.schema, (_rows_of(batches, ends, block) for block in blocks), folder)


def _rows_of(
    batches: list[pa.RecordBatch], ends: npt.NDArray[np.int64], rows: npt.NDArray[np.int64]
) -> pa.Table:
    """Return a few rows in this order, batch by batch: Arrow would join all of them first."""
    owner = np.searchsorted(ends, rows, side="right")
    order = np.argsort(owner, kind="stable")
    parts = [
        batches[at].take(pa.array(rows[owner == at] - (ends[at] - len(batches[at]))))
        for at in np.unique(owner).tolist()
    ]
    place = np.empty(len(rows), np.int64)
    place[order] = np.arange(len(rows))
    return pa.Table.from_batches(parts).take(pa.array(place))


def mapped_bytes(write: Callable[[IO[bytes]], None], folder: Path) -> memoryview:
    """Return what ``write`` writes to a file, outside memory; raises ``WriteFailed``."""
    with durable.refusals(folder), tempfile.TemporaryFile(dir=folder) as file:
        write(file)
        file.flush()
        with durable.refusals(folder, "map a file into memory"):
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def mapped_zeros(shape: tuple[int, ...], kind: type[N], folder: Path) -> npt.NDArray[N]:
    """Return an array of zeros outside memory, which can be written to; raises ``WriteFailed``."""
    size = math.prod(shape) * np.dtype(kind).itemsize
    if not size:
        return np.zeros(shape, kind)
    with durable.refusals(folder), tempfile.TemporaryFile(dir=folder) as file:
        # Room is taken now: a page for which there is none later would end the process.
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
        else:
            file.truncate(size)
        with durable.refusals(folder, "map a file into memory"):
            mapped = mmap.mmap(file.fileno(), size)
    return np.frombuffer(mapped, kind).reshape(shape)


def zeros(shape: tuple[int, ...], kind: type[N], folder: Path | None) -> npt.NDArray[N]:
    """Return an array of zeros, outside memory where there is a folder for that; raises ``WriteFailed``."""
    return np.zeros(shape, kind) if folder is None else mapped_zeros(shape, kind, folder)


def mapped_copy(values: npt.NDArray[N], folder: Path) -> npt.NDArray[N]:
    """Return the values outside memory; raises ``WriteFailed``."""
    copy = mapped_zeros(values.shape, values.dtype.type, folder)
    copy[...] = values
    return copy
