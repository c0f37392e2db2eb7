"""Tables and matrices in files without a name, mapped into memory and gone with their last user.

The kernel can write their pages back and take them away, which it cannot do with memory of the process. The
files lie beside what they are made of, since a folder for temporary files may itself be in memory.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..disk import durable


def mapped_table(schema: pa.Schema, parts: Iterable[pa.Table], folder: Path) -> pa.Table:
    """Return the rows of all parts as one table outside memory, chunk by chunk; raises ``WriteFailed``."""
    with durable.refusals(folder), tempfile.TemporaryFile(dir=folder) as file:
        with pa.ipc.new_file(pa.PythonFile(file, mode="w"), schema) as writer:
            for part in parts:
                writer.write_table(part)
        file.flush()
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return pa.ipc.open_file(pa.BufferReader(pa.py_buffer(mapped))).read_all()


def mapped_zeros(rows: int, columns: int, folder: Path) -> npt.NDArray[np.float32]:
    """Return a matrix of zeros outside memory, which can be written to; raises ``WriteFailed``."""
    size = rows * columns * np.dtype(np.float32).itemsize
    if not size:
        return np.zeros((rows, columns), np.float32)
    with durable.refusals(folder), tempfile.TemporaryFile(dir=folder) as file:
        # Room is taken now: a page for which there is none later would end the process.
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
        else:
            file.truncate(size)
        mapped = mmap.mmap(file.fileno(), size)
    return np.frombuffer(mapped, np.float32).reshape(rows, columns)
