"""Digests of table rows, group by group: columns are joined into one text, and each group has a slice."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Rows = npt.NDArray[np.int64]
Digests = npt.NDArray[np.uint8]
# 128 bits: two of a billion pages collide by chance once in 10**20 sites.
DIGEST_BYTES = 16
_BETWEEN = "\x1f"
_ROWS_AT_A_TIME = 1_024


def digest(*parts: bytes) -> bytes:
    """Return a digest of several pieces, each prefixed with its length so that boundaries cannot shift."""
    made = blake2b(digest_size=DIGEST_BYTES)
    for part in parts:
        made.update(len(part).to_bytes(8, "little"))
        made.update(part)
    return made.digest()


def digest_of_texts(*texts: str) -> bytes:
    """Return the digest of several texts."""
    return digest(*(text.encode("utf-8", "surrogatepass") for text in texts))


def row_digests(columns: Sequence[pa.ChunkedArray | pa.Array]) -> list[bytes]:
    """Return a digest of each row."""
    count = len(columns[0])
    return group_digests(columns, np.arange(count + 1, dtype=np.int64))


def group_digests(columns: Sequence[pa.ChunkedArray | pa.Array], bounds: Rows) -> list[bytes]:
    """Return a digest of the rows ``[bounds[i], bounds[i + 1])`` for each ``i``, in their order.

    Some groups at a time: joined, the rows of all of them would be the whole text of a site.
    """
    found, first = list[bytes](), 0
    while first < len(bounds) - 1:
        end = int(np.searchsorted(bounds, bounds[first] + _ROWS_AT_A_TIME, side="right")) - 1
        end = max(end, first + 1)
        start, stop = bounds[[first, end]].tolist()
        part = [column.slice(start, stop - start) for column in columns]
        found += _group_digests(part, bounds[first : end + 1] - start)
        first = end
    return found


def _group_digests(columns: Sequence[pa.ChunkedArray | pa.Array], bounds: Rows) -> list[bytes]:
    joined = _joined(columns)
    if not len(joined):
        return [slice_digest(memoryview(b""))] * (len(bounds) - 1)
    _, offsets_buffer, data = joined.buffers()
    offsets = np.frombuffer(offsets_buffer, dtype=np.int64)[joined.offset : joined.offset + len(joined) + 1]
    ends = offsets[bounds].tolist()
    content = memoryview(data if data is not None else b"")
    return [slice_digest(content[start:end]) for start, end in pairwise(ends)]


def slice_digest(content: memoryview | bytes) -> bytes:
    """Return a digest of bytes as they are."""
    return blake2b(content, digest_size=DIGEST_BYTES).digest()


def sequence_digests(shown: Digests, rows: Rows, bounds: Rows) -> list[bytes]:
    """Return for each ``i`` a digest of the digests of ``rows[bounds[i]:bounds[i + 1]]``, in their order."""
    content = memoryview(np.ascontiguousarray(shown[rows]).tobytes())
    width = shown.shape[1]
    ends = (bounds * width).tolist()
    return [slice_digest(content[start:end]) for start, end in pairwise(ends)]


def as_matrix(digests: Sequence[bytes]) -> Digests:
    """Return digests as rows of numbers, to be selected by row number."""
    return np.frombuffer(b"".join(digests), dtype=np.uint8).reshape(-1, DIGEST_BYTES)


def _joined(columns: Sequence[pa.ChunkedArray | pa.Array]) -> pa.Array:
    """Return each row's values as one text, every value prefixed with its length."""
    pieces: list[pa.Array] = []
    for column in columns:
        value = _text(_whole(column))
        length = pc.cast(pc.fill_null(pc.binary_length(value), -1), pa.large_string())
        pieces += [length, pc.fill_null(value, "")]
    return pc.binary_join_element_wise(*pieces, pa.scalar(_BETWEEN, pa.large_string()))


def _whole(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    if isinstance(column, pa.Array):
        return column
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def _text(values: pa.Array) -> pa.Array:
    if not pa.types.is_list(values.type):
        return pc.cast(values, pa.large_string())
    flat = pc.cast(values.flatten(), pa.string())
    length = pc.cast(pc.fill_null(pc.binary_length(flat), -1), pa.string())
    fenced = pc.binary_join_element_wise(length, pc.fill_null(flat, ""), _BETWEEN)
    counts = pc.fill_null(pc.list_value_length(values), 0).to_numpy(zero_copy_only=False)
    offsets = pa.array(np.concatenate([[0], np.cumsum(counts)]).astype(np.int32))
    return pc.cast(pc.binary_join(pa.ListArray.from_arrays(offsets, fenced), _BETWEEN), pa.large_string())
