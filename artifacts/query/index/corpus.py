"""Columns and rows of a snapshot, as retrievers and stages read them.

Columns stay in memory once they were asked for; those that every search reads come by Arrow, the others by
SQL. Rows are numbers: a *passage* row, a *document* row, a *vector* row. Passages stand in order of
``(doc_id, ordinal)``, so the row is the last part of the total order ``(-score, doc_id, position)``.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ....pipeline.model import SectionId
from ....pipeline.settings.collection import Address
from ....pipeline.settings.settings import recorded_addresses
from ...store.snapshot import Snapshot
from ..model import Ints
from .database import SnapshotDatabase
from .postings import InvertedIndex, TableRows, TermVectorRows
from .vocabulary import (
    AcronymTable,
    ConceptVocabulary,
    SpellingIndex,
    SurfaceForms,
    acronym_table,
    surface_forms,
)

Narrow = npt.NDArray[np.int32]
Vectors = npt.NDArray[np.float32]
_T = TypeVar("_T")

_DOCUMENT_COLUMNS = ("doc_id", "collection", "path", "title", "url")
_PASSAGE_COLUMNS = ("passage_id", "section_id", "doc_id", "text", "breadcrumb", "content_hash")
_SECTION_COLUMNS = (
    "section_id", "parent_id", "depth", "sibling_count", "title", "breadcrumb", "byte_start", "byte_end",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SectionNode:
    """A section's place in the heading tree."""

    section_id: SectionId
    parent_id: SectionId | None
    depth: int
    sibling_count: int
    title: str
    breadcrumb: str
    byte_start: int
    byte_end: int


@dataclass(frozen=True, slots=True)
class Owners:
    """The passages of each vector row: those of row ``v`` are ``passages[starts[v] : starts[v + 1]]``."""

    passages: Ints
    starts: Ints


class CorpusReader:
    """Reads the content of one snapshot; threads may share it."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.database = SnapshotDatabase(snapshot)
        self._lock = threading.RLock()
        self._kept: dict[str, Any] = {}

    @property
    def passages(self) -> int:
        """Return how many passages there are."""
        return len(self.document_of)

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """Return the languages of the documents: a query's words are analysed in each."""
        return tuple(self.snapshot.manifest.analyzer["languages"].split(","))

    @property
    def prose(self) -> InvertedIndex:
        """Return the BM25F index of prose."""
        return self._once("prose", lambda: self._postings("terms", "postings"))

    @property
    def code(self) -> InvertedIndex:
        """Return the index of code."""
        return self._once("code", lambda: self._postings("code_terms", "code_postings"))

    @property
    def index_words(self) -> SpellingIndex:
        """Return the terms of the BM25F index by their spelling."""
        return self._once("index_words", lambda: SpellingIndex(self.prose.terms.to_pylist()))

    @property
    def written(self) -> SurfaceForms:
        """Return the words of the collection as they are written."""
        return self._once("written", lambda: surface_forms(self._read_surfaces()))

    @property
    def document_of(self) -> Narrow:
        """Return the document row of every passage; passages stand in the order of the documents."""
        return self._once(
            "document_of",
            lambda: np.repeat(np.arange(len(self.passages_of), dtype=np.int32), self.passages_of),
        )

    @property
    def first_passage(self) -> Ints:
        """Return the first passage row of every document, and at the end the number of passages."""
        return self._once(
            "first", lambda: np.concatenate([[0], np.cumsum(self.passages_of)]).astype(np.int64)
        )

    @property
    def vector_row(self) -> Ints:
        """Return the vector row of every passage; equal passages share one."""
        return self._once("vector_row", lambda: self._numbers("passages", "vector_row").astype(np.int64))

    @property
    def address_of(self) -> Ints:
        """Return a number for the address of every passage.

        Equal where a reader would be sent to the same place.
        """
        return self._once("address_of", self._read_addresses)

    @property
    def vector_owners(self) -> Owners:
        """Return which passages have which vector."""
        return self._once("owners", self._read_owners)

    @property
    def centroids(self) -> Vectors:
        """Return the unit centroid of every document, shape ``(documents, dimension)``."""
        return self._once("centroids", lambda: self._read_vectors("centroids"))

    @property
    def dimension(self) -> int:
        """Return how many dimensions vectors have."""
        return self.snapshot.manifest.model.dimension

    @property
    def term_vectors(self) -> TermVectorRows:
        """Return what each index term adds to a query's vector."""
        return self._once("term_vectors", lambda: TermVectorRows(self.snapshot))

    @property
    def links_in(self) -> Narrow:
        """Return how many documents link to each."""
        return self._once("links_in", lambda: self._numbers("documents", "links_in").astype(np.int32))

    @property
    def index(self) -> Any:
        """Return the FAISS index over the vector rows."""
        return self._once("index", self.snapshot.index)

    @property
    def community_of(self) -> Narrow:
        """Return the community of every document, -1 for none."""
        return self._once("community", lambda: self.database.column("coalesce(community, -1)::int"))

    @property
    def modified(self) -> npt.NDArray[np.datetime64]:
        """Return the day every document was last changed, ``NaT`` where it is not known."""
        return self._once("modified", self._read_modified)

    @property
    def documents(self) -> pa.Table:
        """Return the columns that a hit shows of its document."""
        return self._once("documents", lambda: self.snapshot.table("documents", list(_DOCUMENT_COLUMNS)))

    @cached_property
    def rows(self) -> TableRows:
        """Return passages by row."""
        return TableRows(self.snapshot.file("passages"), _PASSAGE_COLUMNS)

    @cached_property
    def document_texts(self) -> TableRows:
        """Return the texts of documents by document row."""
        return TableRows(self.snapshot.file("documents"), ("text",))

    @property
    def sections(self) -> Mapping[SectionId, SectionNode]:
        """Return every section by its id."""
        return self._once("sections", self._read_sections)

    @property
    def vocabulary(self) -> ConceptVocabulary:
        """Return the concept vocabulary."""
        return self._once("vocabulary", self._read_vocabulary)

    @property
    def acronyms(self) -> AcronymTable:
        """Return the acronyms that the collection spells out."""
        return self._once("acronyms", self._read_acronyms)

    @cached_property
    def addresses(self) -> Mapping[str, Address]:
        """Return each collection's rules for addresses."""
        return recorded_addresses(self.snapshot.manifest.settings)

    def document(self, row: int) -> dict[str, Any]:
        """Return what a hit shows of the document in a row."""
        return {name: self.documents.column(name)[row].as_py() for name in _DOCUMENT_COLUMNS}

    def doc_id(self, row: int) -> str:
        """Return a document's id by its row."""
        return str(self.documents.column("doc_id")[row].as_py())

    def with_postings(self, prose: InvertedIndex, code: InvertedIndex) -> CorpusReader:
        """Return the same content with other scores of words and of code; what was read so far is shared."""
        other = copy.copy(self)
        other._kept = {**self._kept, "prose": prose, "code": code}
        other._lock = threading.RLock()
        return other

    def document_row(self, doc_id: str) -> int | None:
        """Return the row of a document, or ``None`` if no document has that id."""
        row = int(pc.index(self.documents.column("doc_id"), doc_id).as_py())
        return row if row >= 0 else None

    def vectors(self, passages: Sequence[int] | Ints) -> Vectors:
        """Return the unit vectors of passages, shape ``(len(passages), dimension)``."""
        rows = self.vector_row[np.asarray(passages, dtype=np.int64)]
        found: Vectors = (
            self.index.reconstruct_batch(rows) if len(rows) else np.zeros((0, self.index.d), np.float32)
        )
        return found

    def column(self, table: str, column: str) -> pa.ChunkedArray:
        """Return one column of a table, and keep it."""
        return self._once(f"{table}.{column}", lambda: self.snapshot.table(table, [column]).column(column))

    @property
    def passages_of(self) -> Narrow:
        """Return how many passages every document has."""
        return self._once("counts", lambda: self._numbers("documents", "passages").astype(np.int32))

    def _numbers(self, table: str, column: str) -> npt.NDArray[Any]:
        found = self.snapshot.table(table, [column]).column(column)
        values: npt.NDArray[Any] = pc.fill_null(found, 0).to_numpy()
        return values

    def _postings(self, terms: str, postings: str) -> InvertedIndex:
        return InvertedIndex(self.snapshot.table(terms), self.snapshot.file(postings))

    def _read_modified(self) -> npt.NDArray[np.datetime64]:
        days: Any = np.ma.asarray(self.database.column("modified")).astype("datetime64[D]")
        found: npt.NDArray[np.datetime64] = days.filled(np.datetime64("NaT"))
        return found

    def _read_addresses(self) -> Ints:
        ids = pc.dictionary_encode(
            self.snapshot.table("passages", ["section_id"]).column("section_id").combine_chunks()
        )
        section = ids.indices.to_numpy().astype(np.int64)
        collections = self.documents.column("collection").to_pylist()
        whole = np.array([self.addresses[each].anchors == "none" for each in collections], dtype=np.bool_)
        document = self.document_of.astype(np.int64)
        # Without anchors all of a document is one address.
        return np.where(whole[document], -1 - document, section)

    def _read_owners(self) -> Owners:
        order = np.argsort(self.vector_row, kind="stable")
        starts = np.searchsorted(self.vector_row[order], np.arange(self.index.ntotal + 1))
        return Owners(order.astype(np.int64), starts.astype(np.int64))

    def _read_vocabulary(self) -> ConceptVocabulary:
        terms = self.column("vocabulary", "term").to_pylist()
        return ConceptVocabulary(terms, self._read_vectors("vocabulary"))

    def _read_vectors(self, table: str) -> Vectors:
        flat = self.snapshot.table(table, ["vector"]).column("vector").combine_chunks().flatten().to_numpy()
        matrix: Vectors = flat.reshape(-1, self.dimension)
        return matrix

    def _read_acronyms(self) -> AcronymTable:
        table = self.snapshot.table("acronyms")
        names = ("acronym", "expansion", "documents")
        return acronym_table(zip(*(table.column(name).to_pylist() for name in names), strict=True))

    def _read_surfaces(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        table = self.snapshot.table("surfaces", ["surface", "count"])
        for surface, count in zip(
            *(table.column(name).to_pylist() for name in ("surface", "count")), strict=True
        ):
            counts[surface] = counts.get(surface, 0) + count
        return counts

    def _read_sections(self) -> dict[SectionId, SectionNode]:
        table = self.snapshot.table("sections", list(_SECTION_COLUMNS))
        columns = [table.column(name).to_pylist() for name in _SECTION_COLUMNS]
        return {values[0]: SectionNode(*values) for values in zip(*columns, strict=True)}

    def _once(self, name: str, make: Callable[[], _T]) -> _T:
        """Return the value that was made the first time; a second thread waits for the first."""
        if name not in self._kept:
            with self._lock:
                if name not in self._kept:
                    self._kept[name] = make()
        value: _T = self._kept[name]
        return value
