"""The passages that processes found, as a corpus of their own that ranking and hits can read."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ....pipeline.settings.collection import Address
from ..index.corpus import CorpusReader, Vectors
from ..model import Ints

# Returns what hits show of some candidates by row.
Fetch = Callable[[Sequence[int]], Mapping[int, Mapping[str, Any]]]
# Stages that read texts take them so many at a time.
_AT_A_TIME = 64


class _FetchedRows:
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


class CandidateCorpus(CorpusReader):
    """The passages that any list found, numbered in order of ``(doc_id, ordinal)``; it has nothing else.

    ``passages`` holds each once; ``fetch`` gives the texts.
    """

    def __init__(
        self,
        passages: pa.Table,
        fetch: Fetch,
        languages: Sequence[str],
        addresses: Mapping[str, Address],
    ) -> None:
        ids, document_of = np.unique(_strings(passages, "doc_id"), return_inverse=True)
        self.fetched = _FetchedRows(len(passages), fetch)
        self._languages, self._vectors = tuple(languages), _vectors(passages, "vector")
        first = np.searchsorted(document_of, np.arange(len(ids)))
        of_document = passages.take(pa.array(first))
        vars(self).update(
            _lock=threading.RLock(),
            rows=self.fetched,
            addresses=addresses,
            places=None,
            document_of=document_of.astype(np.int32),
            content_of=passages["content"].to_numpy(),
            section_ids=passages["section_id"],
            passages_of=of_document["passages_of"].to_numpy(),
            links_in=of_document["links_in"].to_numpy(),
            address_of=_addresses(passages, document_of, ids, addresses),
            centroids=_vectors(of_document, "centroid"),
        )
        for stage, column in (("community_of", "community"), ("modified", "modified")):
            if column in passages.column_names:
                vars(self)[stage] = of_document[column].to_numpy()

    @property
    def languages(self) -> tuple[str, ...]:
        """Return the languages of the corpus."""
        return self._languages

    def document(self, row: int) -> dict[str, Any]:
        """Return what a hit shows of the document in a row."""
        own = np.flatnonzero(self.document_of == row).tolist()
        return dict(self.fetched.of(next((each for each in own if each in self.fetched), own[0])))

    def vectors(self, passages: Sequence[int] | Ints) -> Vectors:
        """Return the unit vectors of passages."""
        return self._vectors[np.asarray(passages, dtype=np.int64)]


def _strings(table: pa.Table, column: str) -> npt.NDArray[Any]:
    return np.array(table[column].to_pylist(), dtype=object)


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
