"""What links of documents need and can lead to: rows of a table, made into objects when they are asked for.

The table may lie outside memory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, repeat
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...pipeline.links.linking_documents import LinkingDocument, Rows
from ...pipeline.model import Link
from ..tables.parquet import tuples
from ..tables.schemas import STRINGS

# What other documents must know to link to one.
ADDRESSES = ["doc_id", "collection", "path", "url", "title", "aliases", "anchors"]
_OF_LINK = ["kind", "target", "text", "start"]
LINKING = pa.struct(
    dict.fromkeys(ADDRESSES[:5], pa.string())
    | {"aliases": STRINGS, "anchors": STRINGS}
    | {"kind": STRINGS, "target": STRINGS, "text": STRINGS, "start": pa.list_(pa.int32())}
)
_ROWS_AT_A_TIME = 1_024
# Documents that are kept as objects: the first of all, and those that links led to last.
_KEPT = 16_384


class LinkingRows:
    """Documents by row; ``table`` has the columns of ``LINKING``, or those of ``ADDRESSES`` alone."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table
        self._batches = table.select(ADDRESSES).to_batches()
        self._starts = np.cumsum([0, *(len(each) for each in self._batches)])
        self._order: Rows = pc.sort_indices(table["doc_id"]).to_numpy().astype(np.int32)
        self._first: list[LinkingDocument] = []
        self._latest = lru_cache(_KEPT)(self._made)

    @property
    def order(self) -> Rows:
        """Return the rows in the order of the documents' ids."""
        return self._order

    def __len__(self) -> int:
        return len(self._table)

    def __iter__(self) -> Iterator[LinkingDocument]:
        """Yield the documents by row, without their links."""
        self._first = []
        for document in _documents(self._table.select(ADDRESSES)):
            if len(self._first) < _KEPT:
                self._first.append(document)
            yield document

    def __getitem__(self, row: int) -> LinkingDocument:
        """Return a document without its links."""
        return self._first[row] if row < len(self._first) else self._latest(row)

    def in_order(self) -> Iterator[LinkingDocument]:
        """Yield the documents by name, with their links."""
        breaks = np.flatnonzero(np.diff(self._order) != 1) + 1
        for start, end in pairwise([0, *breaks.tolist(), len(self)]):
            if end > start:  # adjacent rows, as most are
                yield from _documents(self._table.slice(self._order[start], end - start))

    def _made(self, row: int) -> LinkingDocument:
        at = int(self._starts.searchsorted(row, side="right")) - 1
        place = int(row - self._starts[at])
        return _document([column[place].as_py() for column in self._batches[at].columns], ())


def linking_table(linking: pa.ChunkedArray) -> pa.Table:
    """Return the column of what documents' links need as the table that it is made of."""
    rows = [pa.RecordBatch.from_struct_array(chunk) for chunk in linking.chunks]
    return pa.Table.from_batches(rows, pa.schema(list(LINKING)))


def linking_column(documents: Sequence[LinkingDocument]) -> pa.ChunkedArray:
    """Return what the links of these documents need as a column."""
    columns = {name: [getattr(document, name) for document in documents] for name in ADDRESSES}
    for name in _OF_LINK:
        columns[name] = [[getattr(link, name) for link in document.links] for document in documents]
    arrays = [pa.array(columns[field.name], field.type) for field in LINKING]
    return pa.chunked_array([pa.StructArray.from_arrays(arrays, fields=list(LINKING))])


def _documents(table: pa.Table) -> Iterator[LinkingDocument]:
    """Yield the documents of a table, with links if it has them."""
    for batch in table.to_batches(max_chunksize=_ROWS_AT_A_TIME):
        part = pa.Table.from_batches([batch])
        links = _links(part) if _OF_LINK[0] in part.column_names else repeat(())
        for addresses, own in zip(tuples(part.select(ADDRESSES)), links, strict=False):
            yield _document(addresses, own)


def _document(values: Sequence[Any], links: Collection[Link]) -> LinkingDocument:
    doc_id, collection, path, url, title, aliases, anchors = values
    return LinkingDocument(doc_id, collection, path, url, title, tuple(aliases), tuple(anchors), links)


@dataclass(frozen=True, slots=True, eq=False)
class _DocumentLinks(Collection[Link]):
    """The links of a document: rows of flat columns, made into objects whenever they are iterated over."""

    columns: Sequence[pa.ChunkedArray]
    start: int
    size: int

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[Link]:
        rows = (column.slice(self.start, self.size).to_pylist() for column in self.columns)
        return map(Link, *rows)

    def __contains__(self, link: object) -> bool:
        return any(each == link for each in self)


def _links(table: pa.Table) -> Iterator[Collection[Link]]:
    """Yield the links of each document, which as objects would be most of what resolving links holds."""
    columns = [pc.list_flatten(table[name]) for name in _OF_LINK]
    sizes = pc.list_value_length(table["kind"]).to_numpy()
    for start, size in zip((np.cumsum(sizes) - sizes).tolist(), sizes.tolist(), strict=True):
        yield _DocumentLinks(columns, start, size) if size else ()
