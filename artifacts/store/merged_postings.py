"""The postings of several shards as one list a term: the lists of each shard are copied to their places.

There are some sixty postings for each passage, so they lie outside memory where there is a folder for that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ...pipeline.errors import ArtifactError
from ..disk.manifest import damaged
from ..tables.outside_memory import zeros
from ..tables.schemas import POSTINGS

Numbers = npt.NDArray[np.int64]
# The offsets of Arrow's lists have 32 bits.
_MOST = 2**31 - 1


def merged_postings(
    terms: pa.StringArray,
    parts: Sequence[pa.Table],
    firsts: Sequence[int],
    folder: Path | None,
    files: Sequence[Path],
) -> pa.Table:
    """Return the lists of all parts as one list a term, in the order of the terms.

    ``parts`` have the same columns, ``passage`` among them, and each term once; their passages are numbered
    from ``firsts`` on. Raise ``WriteFailed`` if the folder has no room; ``DamagedSnapshot`` with one of the
    ``files`` for a part with a term that is not among these; ``ArtifactError`` for too many postings.
    """
    numbers = [_numbers(part["term"], terms, file) for part, file in zip(parts, files, strict=True)]
    sizes = [pc.list_value_length(part["passage"]).to_numpy().astype(np.int64) for part in parts]
    offsets = np.zeros(len(terms) + 1, np.int64)
    for number, size in zip(numbers, sizes, strict=True):
        offsets[number + 1] += size
    np.cumsum(offsets, out=offsets)
    _require_offsets(int(offsets[-1]), files)
    names = parts[0].column_names
    columns = {name: _room(int(offsets[-1]), name, folder) for name in names if name != "term"}
    free = offsets[:-1].copy()  # where the next list of each term begins: passages rise from shard to shard
    for part, number, size, first in zip(parts, numbers, sizes, firsts, strict=True):
        _copy(part, free[number], columns, first)
        free[number] += size
    starts = pa.array(offsets, pa.int32())
    made = {name: pa.ListArray.from_arrays(starts, pa.array(column)) for name, column in columns.items()}
    return pa.table({"term": terms} | made, schema=pa.schema([POSTINGS.field(name) for name in names]))


def _numbers(own: pa.ChunkedArray, terms: pa.StringArray, file: Path) -> Numbers:
    """Return the place of each of a shard's terms among those of the set."""
    found = pc.index_in(own, value_set=terms)
    if found.null_count:
        missing = own.filter(pc.is_null(found))[0].as_py()
        raise damaged(f"its set has no term {missing!r}, of which it has postings", file)
    places: Numbers = found.to_numpy().astype(np.int64)
    return places


def _require_offsets(postings: int, files: Sequence[Path]) -> None:
    if postings > _MOST:
        raise ArtifactError(
            f"{postings:,} postings are more than the {_MOST:,} that one table can hold",
            where=f"{files[0]} and {len(files) - 1:,} other shards",
            hint="Build several sites, each of some of the collections.",
        )


def _room(count: int, name: str, folder: Path | None) -> npt.NDArray[Any]:
    kind = POSTINGS.field(name).type.value_type.to_pandas_dtype()
    return zeros((count,), kind, folder)


def _copy(part: pa.Table, places: Numbers, columns: Mapping[str, npt.NDArray[Any]], first: int) -> None:
    """Copy each list to its place, a batch of lists at a time."""
    done = 0
    for batch in part.to_batches():
        own = places[done : done + len(batch)]
        done += len(batch)
        sizes = pc.list_value_length(batch["passage"]).to_numpy()
        ends = np.cumsum(sizes, dtype=np.int64)
        rows = np.repeat(own - (ends - sizes), sizes) + np.arange(ends[-1] if len(ends) else 0)
        for name, column in columns.items():
            values = pc.list_flatten(batch[name]).to_numpy()
            column[rows] = values + np.int32(first) if name == "passage" else values
