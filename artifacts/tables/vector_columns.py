"""Vectors as a column of fixed-size lists, a list each, and as the rows of a matrix."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .vectors import Vectors


def fixed_size_lists(vectors: Vectors) -> pa.FixedSizeListArray:
    """Return a matrix as a column of lists, one per row."""
    values = pa.array(np.ascontiguousarray(vectors, dtype=np.float32).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(values, vectors.shape[1])


def vector_matrix(column: pa.ChunkedArray, dimension: int) -> Vectors:
    """Return a column of fixed-size lists as the rows of a matrix."""
    flat = pc.list_flatten(column).to_numpy().astype(np.float32, copy=False)
    return np.ascontiguousarray(flat).reshape(-1, dimension)
