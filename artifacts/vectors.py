"""Unit vectors in and out of a FAISS file: bounded, and cross-checked with what the manifest says."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from artifacts.durable import write_file
from pipeline.errors import ArtifactError, DamagedSnapshot

# A flat inner-product index as FAISS writes it: kind, d, ntotal, two unused, is_trained, metric, floats.
_HEADER = struct.Struct("<4siqqqBiQ")
_KIND, _INNER_PRODUCT = b"IxFI", 0
_TOLERANCE = 1e-3
_CHECK_ROWS = 65_536

Vectors: TypeAlias = npt.NDArray[np.float32]


def write_index(vectors: Vectors, path: Path) -> None:
    """A new FAISS file with the rows in order; raises ``ArtifactError`` for rows that are not finite unit vectors."""
    import faiss

    _require_unit_rows(vectors, path)
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(np.ascontiguousarray(vectors))
    write_file(path, faiss.serialize_index(index).data)


def _require_unit_rows(vectors: Vectors, path: Path) -> None:
    if vectors.ndim != 2 or vectors.dtype != np.float32 or vectors.shape[1] == 0:
        raise _refused(f"vectors must be float32 rows, got {vectors.dtype} {vectors.shape}", path)
    row = first_unsound_row(vectors)
    if row is not None:
        raise _refused(f"vector {row} is not finite, or not of length 1", path)


def _refused(what: str, path: Path) -> ArtifactError:
    return ArtifactError(what, where=str(path), hint="Look at the embedding model; nothing was published.")


def first_unsound_row(vectors: Vectors) -> int | None:
    """The first row that is not finite or whose length is not 1 within 0.001, if there is one."""
    for start in range(0, len(vectors), _CHECK_ROWS):
        rows = vectors[start : start + _CHECK_ROWS]
        # A NaN compares false, so it is unsound too; einsum makes no copy of the rows.
        sound = np.abs(np.sqrt(np.einsum("ij,ij->i", rows, rows)) - 1.0) <= _TOLERANCE
        if not sound.all():
            return start + int(np.argmin(sound))
    return None


def read_index(path: Path, rows: int, dimension: int) -> Any:
    """The ``faiss.IndexFlatIP`` in the file; raises ``DamagedSnapshot`` unless it has these rows and dimensions."""
    import faiss

    _check_header(path, rows, dimension)
    limit = faiss.get_deserialization_vector_byte_limit()
    faiss.set_deserialization_vector_byte_limit(rows * dimension * 4 + _HEADER.size)
    try:
        index = faiss.read_index(str(path))
    except RuntimeError as error:
        raise _damaged(f"FAISS cannot read it: {str(error)[:200]}", path) from error
    finally:
        faiss.set_deserialization_vector_byte_limit(limit)
    found = (type(index).__name__, index.ntotal, index.d)
    if found != ("IndexFlatIP", rows, dimension):
        raise _damaged(f"expected IndexFlatIP with {rows} rows of {dimension}, found {found}", path)
    return index


def _check_header(path: Path, rows: int, dimension: int) -> None:
    # FAISS calls its reader unfit for untrusted files, so the few bytes it would believe are read first.
    size = _HEADER.size + rows * dimension * 4
    try:
        found = path.stat().st_size
        with path.open("rb") as file:
            header = file.read(_HEADER.size)
    except OSError as error:
        raise _damaged(f"cannot read it: {error.strerror}", path) from error
    if found != size or len(header) < _HEADER.size:
        raise _damaged(f"expected {size} bytes for {rows} rows of {dimension}, found {found}", path)
    kind, d, total, _, _, _, metric, floats = _HEADER.unpack(header)
    if (kind, d, total, metric, floats) != (_KIND, dimension, rows, _INNER_PRODUCT, rows * dimension):
        raise _damaged(f"not a flat inner-product index with {rows} rows of {dimension}", path)


def _damaged(what: str, path: Path) -> DamagedSnapshot:
    return DamagedSnapshot(what, where=str(path), hint="Go back: noctule rollback")
