"""Term counts on disk, and the joining of many groups' counts into those of the corpus."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ...pipeline.lexical.field_counts import FieldCounts, Ints, count_fields, ranges
from ..tables.outside_memory import mapped_copy

_INTS = pa.list_(pa.int32())
_STRINGS = pa.list_(pa.string())
# One group per row; ``lengths`` in row-major order, ``sizes`` the number of terms of each surface form.
COUNTS = pa.struct(
    {"terms": _STRINGS, "term": _INTS, "text": _INTS, "field": pa.list_(pa.int8()), "count": _INTS}
    | {"lengths": _INTS, "surface": _STRINGS, "surface_language": _STRINGS}
    | {"sizes": _INTS, "surface_terms": _INTS, "surface_count": _INTS}
)


def counts_column(counts: FieldCounts) -> pa.StructArray:
    """Return the counts of one group as a column of one row."""
    given = {
        "terms": counts.terms,
        "term": counts.term,
        "text": counts.text,
        "field": counts.field,
        "count": counts.count,
        "lengths": counts.lengths.ravel(),
        "surface": counts.surface,
        "surface_language": counts.surface_language,
        "sizes": np.diff(counts.surface_offsets),
        "surface_terms": counts.surface_terms,
        "surface_count": counts.surface_count,
    }
    columns = [
        pa.ListArray.from_arrays(
            pa.array([0, len(given[field.name])], pa.int32()),
            pa.array(given[field.name], field.type.value_type),
        )
        for field in COUNTS
    ]
    return pa.StructArray.from_arrays(columns, fields=list(COUNTS))


def joined_counts(column: pa.ChunkedArray, fields: int) -> FieldCounts:
    """Join the counts of all groups: each term and surface form once, texts renumbered."""
    if not len(column):
        return count_fields([[]] * fields, [])
    table = pa.Table.from_struct_array(column)
    flat = {name: pc.list_flatten(table[name]) for name in table.column_names}
    lengths = {name: pc.list_value_length(table[name]).to_numpy() for name in table.column_names}
    sizes = {name: found.astype(np.int64) for name, found in lengths.items()}
    terms, number = _distinct(flat["terms"])
    first_term = _starts(sizes["terms"])
    first_text = _starts(sizes["lengths"] // fields)
    stood_for = number[_shifted(flat["surface_terms"], first_term, sizes["surface_terms"])]
    surfaces = _surfaces(flat, stood_for)
    start, size, count = (surfaces[name].to_numpy() for name in ("start", "size", "count"))
    return FieldCounts(
        terms=terms,
        term=number[_shifted(flat["term"], first_term, sizes["term"])],
        text=_shifted(flat["text"], first_text, sizes["text"]),
        field=_numbers(flat["field"]).astype(np.int8),
        count=_numbers(flat["count"]),
        lengths=_numbers(flat["lengths"]).reshape(-1, fields),
        surface=tuple(surfaces["surface"].to_pylist()),
        surface_language=tuple(surfaces["language"].to_pylist()),
        surface_offsets=np.concatenate([[0], np.cumsum(size)]).astype(np.int32),
        surface_terms=stood_for[ranges(start, size)],
        surface_count=count.astype(np.int32),
    )


def counts_outside_memory(counts: FieldCounts, folder: Path) -> FieldCounts:
    """Return the counts with their longest columns outside memory; raises ``WriteFailed``."""
    return replace(
        counts,
        term=mapped_copy(counts.term, folder),
        text=mapped_copy(counts.text, folder),
        field=mapped_copy(counts.field, folder),
        count=mapped_copy(counts.count, folder),
    )


def _starts(sizes: Ints) -> Ints:
    """Return where each run begins when runs of these sizes follow one another."""
    return np.cumsum(sizes) - sizes


def _numbers(column: pa.ChunkedArray) -> npt.NDArray[np.int32]:
    numbers: npt.NDArray[np.int32] = column.to_numpy()
    return numbers


def _shifted(column: pa.ChunkedArray, firsts: Ints, sizes: Ints) -> npt.NDArray[np.int32]:
    """Return the numbers of each group, counted from the group's first among those of all groups."""
    shifted: npt.NDArray[np.int32] = _numbers(column) + np.repeat(firsts.astype(np.int32), sizes)
    return shifted


def _distinct(texts: pa.ChunkedArray) -> tuple[tuple[str, ...], npt.NDArray[np.int32]]:
    """Return the distinct texts in order of first appearance, and the number of every given one."""
    encoded = texts.dictionary_encode().unify_dictionaries()
    if not encoded.num_chunks:
        return (), np.zeros(0, np.int32)
    numbers = np.concatenate([chunk.indices.to_numpy() for chunk in encoded.chunks])
    return tuple(encoded.chunk(0).dictionary.to_pylist()), numbers.astype(np.int32)


def _surfaces(flat: Mapping[str, pa.ChunkedArray], stood_for: npt.NDArray[np.int32]) -> pa.Table:
    """Return each surface form of each language once, with its count and the position of its terms."""
    sizes = _numbers(flat["sizes"]).astype(np.int64)
    if sizes.sum() != len(stood_for):
        raise ValueError(f"{sizes.sum()} terms of surfaces announced, {len(stood_for)} there")
    rows = pa.table(
        {
            "surface": flat["surface"],
            "language": flat["surface_language"],
            "count": flat["surface_count"].cast(pa.int64()),
            "row": pa.array(np.arange(len(sizes), dtype=np.int64)),
        }
    )
    grouped = rows.group_by(["surface", "language"], use_threads=False)
    found = grouped.aggregate([("count", "sum"), ("row", "min")])
    # A surface form stands for the same terms everywhere, so its first row will do.
    first = found["row_min"].to_numpy()
    return pa.table(
        {
            "surface": found["surface"],
            "language": found["language"],
            "count": found["count_sum"],
            "start": pa.array(_starts(sizes)[first]),
            "size": pa.array(sizes[first]),
        }
    )
