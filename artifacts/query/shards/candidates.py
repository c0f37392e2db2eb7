"""The passages that processes found, as a corpus of their own that ranking and hits can read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ....pipeline.model import SectionId
from ....pipeline.settings.collection import Address
from ..index.corpus import Narrow, Vectors
from ..model import Ints, SectionNode

# Returns what hits show of some candidates by row.
Fetch = Callable[[Sequence[int]], Mapping[int, Mapping[str, Any]]]
# Stages that read texts take them so many at a time.
_AT_A_TIME = 64


class FetchedRows:
    """What hits show of candidates, fetched as it is asked for."""

    def __init__(self, count: int, fetch: Fetch) -> None:
        self._count, self._fetch = count, fetch
        self._known: dict[int, Mapping[str, Any]] = {}

    def __contains__(self, row: int) -> bool:
        return row in self._known

    def bring(self, rows: Sequence[int]) -> None:
        """Fetch what is not known of some rows, all at once."""
        missing = [row for row in dict.fromkeys(rows) if row not in self._known]
        if missing:
            self._known.update(self._fetch(missing))

    def of(self, row: int) -> Mapping[str, Any]:
        """Return the row's values by column."""
        if row not in self._known:
            others = [each for each in range(self._count) if each not in self._known and each != row]
            self.bring([row, *others[: _AT_A_TIME - 1]])
        return self._known[row]


class CandidateCorpus:
    """The passages that any list found, numbered in order of ``(doc_id, ordinal)``: a ``RankedCorpus``.

    ``passages`` holds each once; ``fetch`` gives the texts. It has no sections and no texts of documents.
    """

    def __init__(
        self,
        passages: pa.Table,
        fetch: Fetch,
        languages: Sequence[str],
        addresses: Mapping[str, Address],
    ) -> None:
        ids, document_of = np.unique(_strings(passages, "doc_id"), return_inverse=True)
        of_document = passages.take(pa.array(np.searchsorted(document_of, np.arange(len(ids)))))
        self.languages, self.addresses = tuple(languages), addresses
        self.rows = FetchedRows(len(passages), fetch)
        self.places: Ints | None = None
        self.document_of: Narrow = document_of.astype(np.int32)
        self.content_of: Ints = passages["content"].to_numpy()
        self.address_of = _addresses(passages, document_of, ids, addresses)
        self.section_ids = passages["section_id"]
        self._vectors = _vectors(passages, "vector")
        self.passages_of: Narrow = of_document["passages_of"].to_numpy()
        self.links_in: Narrow = of_document["links_in"].to_numpy()
        self.community_of: Narrow = _optional(of_document, "community")
        self.modified: npt.NDArray[np.datetime64] = _optional(of_document, "modified")
        self.centroids = _vectors(of_document, "centroid")
        self.sections: Mapping[SectionId, SectionNode] = {}
        self.document_texts = FetchedRows(0, lambda _: {})

    def document(self, row: int) -> dict[str, Any]:
        """Return what a hit shows of the document in a row."""
        own = np.flatnonzero(self.document_of == row).tolist()
        return dict(self.rows.of(next((each for each in own if each in self.rows), own[0])))

    def vectors(self, passages: Sequence[int] | Ints) -> Vectors:
        """Return the unit vectors of passages."""
        return self._vectors[np.asarray(passages, dtype=np.int64)]


def _strings(table: pa.Table, column: str) -> npt.NDArray[Any]:
    return np.array(table[column].to_pylist(), dtype=object)


def _optional(table: pa.Table, name: str) -> npt.NDArray[Any]:
    """Return a column that only some stages read, empty where it was not sent."""
    found: npt.NDArray[Any] = table[name].to_numpy() if name in table.column_names else np.zeros(0)
    return found


def _vectors(table: pa.Table, name: str) -> Vectors:
    if name not in table.column_names:
        return np.zeros((0, 0), np.float32)
    column = table[name].combine_chunks()
    matrix: Vectors = column.flatten().to_numpy().reshape(-1, column.type.list_size)
    return matrix


def _addresses(
    passages: pa.Table, document_of: Ints, ids: npt.NDArray[Any], addresses: Mapping[str, Address]
) -> Ints:
    """Return numbers for the addresses of passages, equal where a reader would go to the same place."""
    sections = pc.dictionary_encode(passages["section_id"].combine_chunks()).indices.to_numpy()
    whole = np.array([addresses[str(each).partition(":")[0]].anchors == "none" for each in ids], np.bool_)
    return np.where(whole[document_of], -1 - document_of.astype(np.int64), sections.astype(np.int64))
