"""The link graph as columns: each document's neighbours side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Ints = npt.NDArray[np.int64]

# A reference that a writer made by name says more than one among many.
_KINDS = ("wikilink", "transclusion", "link")


@dataclass(frozen=True, slots=True)
class Links:
    """Who is linked with whom, in either direction: the neighbours of document ``d`` are
    ``target[starts[d] : starts[d + 1]]``, ordered by kind, then row; ``kind`` counts in ``_KINDS``.
    """

    starts: Ints
    target: Ints
    kind: npt.NDArray[np.int8]


def read_links(table: pa.Table, doc_ids: pa.Array) -> Links:
    """The links table between the documents with these ids, in the order of their rows."""
    source, target = (_rows(table.column(name), doc_ids) for name in ("source_id", "target_id"))
    kind = _rows(table.column("kind"), pa.array(_KINDS))
    keep = (source >= 0) & (target >= 0) & (kind >= 0) & (source != target)
    return links_of(source[keep], target[keep], kind[keep], len(doc_ids))


def links_of(source: Ints, target: Ints, kind: Ints, documents: int) -> Links:
    """Links from parallel columns; of several between two documents the first kind counts."""
    both = np.stack([np.concatenate([source, target]), np.concatenate([target, source]), np.tile(kind, 2)])
    both = both[:, np.lexsort((both[2], both[1], both[0]))]
    first = np.ones(both.shape[1], dtype=np.bool_)
    first[1:] = (both[:2, 1:] != both[:2, :-1]).any(axis=0)
    a, b, k = both[:, first]
    order = np.lexsort((b, k, a))
    starts = np.searchsorted(a[order], np.arange(documents + 1))
    return Links(starts.astype(np.int64), b[order].astype(np.int64), k[order].astype(np.int8))


def _rows(values: pa.ChunkedArray, among: pa.Array) -> Ints:
    """The position of each value, -1 for none."""
    found: Ints = pc.fill_null(pc.index_in(values, value_set=among), -1).to_numpy().astype(np.int64)
    return found
