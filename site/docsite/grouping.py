"""Rows of a table grouped by document, and the links between documents."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ..artifacts.tables.outside_memory import mapped_rows

Rows = npt.NDArray[np.int64]


class Grouped:
    """A table's rows grouped by document, sorted by another column within each group.

    ``table`` has the rows of document ``i`` in ``[bounds[i], bounds[i + 1])``; rows of no document come last.
    """

    def __init__(
        self, table: pa.Table, documents: Rows, order: str, count: int, spill: Path | None = None
    ) -> None:
        owner = np.where(documents < 0, count, documents)
        place = pc.fill_null(table.column(order), 0).to_numpy()
        if not _in_order(owner, place):
            sorted_rows = np.lexsort((place, owner))
            table, owner = taken(table, sorted_rows, spill), owner[sorted_rows]
        self.table = table.combine_chunks() if spill is None else table
        self.bounds: Rows = np.searchsorted(owner, np.arange(count + 1)).astype(np.int64)

    def columns(self, row: int, *names: str) -> list[list[object]]:
        """Return the given columns of this document's rows."""
        start, end = int(self.bounds[row]), int(self.bounds[row + 1])
        return [self.table.column(name).slice(start, end - start).to_pylist() for name in names]


def taken(table: pa.Table, order: Rows, spill: Path | None) -> pa.Table:
    """Return these rows of a table in this order: outside memory where there is a folder for that."""
    return table.take(pa.array(order)) if spill is None else mapped_rows(table, order, spill)


def _in_order(owner: Rows, place: Rows) -> bool:
    """Return whether rows are sorted by owner, then place, as snapshots write them."""
    same = owner[1:] == owner[:-1]
    return bool(np.all((owner[1:] > owner[:-1]) | (same & (place[1:] >= place[:-1]))))


@dataclass(frozen=True, slots=True)
class Edges:
    """Distinct links between different documents, as row numbers, sorted by source, then target."""

    source: Rows
    target: Rows


def edges_between(source: Rows, target: Rows, count: int) -> Edges:
    """Return the distinct links of ``count`` documents; -1 is none."""
    keep = (source != target) & (source >= 0) & (target >= 0)
    pairs = np.unique(source[keep] * max(count, 1) + target[keep])
    return Edges(pairs // max(count, 1), pairs % max(count, 1))
