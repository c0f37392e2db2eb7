"""Columns and rows of a snapshot, as retrievers and stages read them.

Columns stay in memory once they were asked for; those that every search reads come by Arrow, the others by
SQL. Rows are numbers: a *passage* row, a *document* row, a *vector* row. Passages stand in order of
``(doc_id, ordinal)``, so the row is the last part of the total order ``(-score, doc_id, position)``; of
shards, which stand one after the other, the *place* is.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ....pipeline.model import SectionId
from ....pipeline.settings.collection import Address
from ....pipeline.settings.settings import recorded_addresses
from ...disk.manifest import damaged
from ...store.snapshot import Snapshot
from ...tables.parquet import tuples
from ...tables.vector_columns import vector_matrix
from ..caches import Once
from ..model import Ints, Owners, SectionNode
from .database import SnapshotDatabase
from .postings import InvertedIndex, TableRows, TermVectorRows, TokenVectorRows, inverted_index, places_of
from .vocabulary import (
    AcronymTable,
    ConceptVocabulary,
    SpellingIndex,
    SurfaceForms,
    acronym_table,
    model_words,
    surface_forms,
)

Narrow = npt.NDArray[np.int32]
Vectors = npt.NDArray[np.float32]

_DOCUMENT_COLUMNS = ("doc_id", "collection", "path", "title", "url")
_PASSAGE_COLUMNS = ("passage_id", "section_id", "doc_id", "text", "breadcrumb", "content_hash")


class CorpusReader:
    """Reads the content of one snapshot; threads may share it."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.database = SnapshotDatabase(snapshot)
        self._lock = threading.RLock()

    def with_postings(self, prose: InvertedIndex, code: InvertedIndex) -> CorpusReader:
        """Return the same content with other scores of words and of code; what was read so far is shared."""
        other = copy.copy(self)
        vars(other).update(prose=prose, code=code, _lock=threading.RLock())
        return other

    # All of the snapshot

    @property
    def dimension(self) -> int:
        """Return how many dimensions vectors have."""
        return self.snapshot.manifest.model.dimension

    @property
    def languages(self) -> tuple[str, ...]:
        """Return the languages of the documents: a query's words are analysed in each."""
        return self.snapshot.languages

    @Once
    def addresses(self) -> Mapping[str, Address]:
        """Return each collection's rules for addresses."""
        return recorded_addresses(self.snapshot.manifest.settings)

    # Words

    @Once
    def prose(self) -> InvertedIndex:
        """Return the BM25F index of prose."""
        return inverted_index(self.snapshot, "terms", "postings")

    @Once
    def code(self) -> InvertedIndex:
        """Return the index of code."""
        return inverted_index(self.snapshot, "code_terms", "code_postings")

    @Once
    def index_words(self) -> SpellingIndex:
        """Return the terms of the BM25F index by their spelling."""
        return SpellingIndex(self.prose.terms.to_pylist())

    @Once
    def written(self) -> SurfaceForms:
        """Return the words of the collection as they are written."""
        return surface_forms(self.snapshot)

    @Once
    def model_words(self) -> frozenset[str]:
        """Return the words that the model's tokenizer knows whole; none without a model beside it."""
        return model_words(self.snapshot)

    @Once
    def acronyms(self) -> AcronymTable:
        """Return the acronyms that the collection spells out."""
        return acronym_table(tuples(self.snapshot.table("acronyms", ["acronym", "expansion", "documents"])))

    @Once
    def vocabulary(self) -> ConceptVocabulary:
        """Return the concept vocabulary."""
        return ConceptVocabulary(self._column("vocabulary", "term").to_pylist(), self._matrix("vocabulary"))

    @Once
    def term_vectors(self) -> TermVectorRows:
        """Return what each index term adds to a query's vector."""
        return TermVectorRows(self.snapshot)

    @Once
    def token_vectors(self) -> TokenVectorRows:
        """Return what words that no term vector knows mean to the model."""
        return TokenVectorRows(self.snapshot)

    # Documents

    @Once
    def documents(self) -> pa.Table:
        """Return the columns that a hit shows of its document."""
        return self.snapshot.table("documents", _DOCUMENT_COLUMNS)

    @Once
    def document_texts(self) -> TableRows:
        """Return the texts of documents by document row."""
        return TableRows(self.snapshot, "documents", ("text",))

    @Once
    def passages_of(self) -> Narrow:
        """Return how many passages every document has."""
        found, total = self._numbers("documents", "passages"), self.snapshot.rows("passages")
        if (len(found) and found.min() < 0) or found.sum(dtype=np.int64) != total:
            raise damaged(f"its passages are not {total} in all", self.snapshot.file("documents"))
        return found

    @Once
    def links_in(self) -> Narrow:
        """Return how many documents link to each."""
        return self._numbers("documents", "links_in")

    @Once
    def community_of(self) -> Narrow:
        """Return the community of every document, -1 for none."""
        return self.database.column("coalesce(community, -1)::int")

    @Once
    def modified(self) -> npt.NDArray[np.datetime64]:
        """Return the day every document was last changed, ``NaT`` where it is not known."""
        days: Any = np.ma.asarray(self.database.column("modified")).astype("datetime64[D]")
        found: npt.NDArray[np.datetime64] = days.filled(np.datetime64("NaT"))
        return found

    @Once
    def centroids(self) -> Vectors:
        """Return the unit centroid of every document, shape ``(documents, dimension)``."""
        return self._matrix("centroids")

    def document(self, row: int) -> dict[str, Any]:
        """Return what a hit shows of the document in a row."""
        return {name: self.documents.column(name)[row].as_py() for name in _DOCUMENT_COLUMNS}

    def doc_id(self, row: int) -> str:
        """Return a document's id by its row."""
        return str(self.documents.column("doc_id")[row].as_py())

    def document_row(self, doc_id: str) -> int | None:
        """Return the row of a document, or ``None`` if no document has that id."""
        row = int(pc.index(self.documents.column("doc_id"), doc_id).as_py())
        return row if row >= 0 else None

    # Sections and passages

    @Once
    def sections(self) -> Mapping[SectionId, SectionNode]:
        """Return every section by its id."""
        rows = tuples(self.snapshot.table("sections", list(SectionNode.__slots__)))
        found = {values[0]: SectionNode(*values) for values in rows}
        # Who climbs from section to section must arrive.
        if any(
            each.parent_id is not None and found[each.parent_id].depth >= each.depth
            for each in found.values()
        ):
            raise damaged("a section's parent is not shallower", self.snapshot.file("sections"))
        return found

    @property
    def passages(self) -> int:
        """Return how many passages there are."""
        return len(self.document_of)

    @property
    def all_documents(self) -> int:
        """Return how many documents the whole corpus has, of which shards may be all that is open."""
        return self.snapshot.manifest.counts.get("documents", len(self.passages_of))

    @Once
    def places(self) -> Ints | None:
        """Return the place of each passage in order of ``(doc_id, ordinal)``, ``None`` where rows are these.

        The rows of a set of shards are not: its ties must be those of the corpus in one piece.
        """
        if len(self.snapshot.parts) == 1:
            return None
        return places_of(self.documents.column("doc_id"), self.passages_of)

    @Once
    def rows(self) -> TableRows:
        """Return passages by row."""
        return TableRows(self.snapshot, "passages", _PASSAGE_COLUMNS)

    @Once
    def document_of(self) -> Narrow:
        """Return the document row of every passage; passages stand in the order of the documents."""
        return np.repeat(np.arange(len(self.passages_of), dtype=np.int32), self.passages_of)

    @Once
    def first_passage(self) -> Ints:
        """Return the first passage row of every document, and at the end the number of passages."""
        return np.concatenate([[0], np.cumsum(self.passages_of)]).astype(np.int64)

    @Once
    def section_ids(self) -> pa.ChunkedArray:
        """Return the section of every passage."""
        return self._column("passages", "section_id")

    @Once
    def address_of(self) -> Ints:
        """Return numbers for the addresses of passages, equal where a reader would go to the same place."""
        ids = pc.dictionary_encode(self._column("passages", "section_id").combine_chunks())
        collections = self.documents.column("collection").to_pylist()
        whole = np.array([self.addresses[each].anchors == "none" for each in collections], dtype=np.bool_)
        document = self.document_of.astype(np.int64)
        # Without anchors all of a document is one address.
        return np.where(whole[document], -1 - document, ids.indices.to_numpy().astype(np.int64))

    # Vectors

    @Once
    def index(self) -> Any:
        """Return the FAISS index over the vector rows."""
        return self.snapshot.index()

    @Once
    def vector_row(self) -> Ints:
        """Return the vector row of every passage; equal passages share one."""
        rows, vectors = self._numbers("passages", "vector_row"), self.snapshot.rows("vectors")
        # FAISS reads wherever it is told to.
        if len(rows) and not 0 <= rows.min() <= rows.max() < vectors:
            raise damaged(f"a vector_row is not in 0..{vectors - 1}", self.snapshot.file("passages"))
        return rows.astype(np.int64)

    @Once
    def content_of(self) -> Ints:
        """Return numbers for the contents of passages, equal where the content is.

        Passages of one content share their vector, but not those of two shards: of these the first 64 bits of
        the content hash decide.
        """
        if not self.snapshot.manifest.shards:
            return self.vector_row
        hashes = pc.utf8_slice_codeunits(self._column("vectors", "content_hash"), 0, 16)
        return np.array([int(each, 16) for each in hashes.to_pylist()], np.uint64).view(np.int64)[
            self.vector_row
        ]

    @Once
    def vector_owners(self) -> Owners:
        """Return which passages have which vector."""
        order = np.argsort(self.vector_row, kind="stable")
        starts = np.searchsorted(self.vector_row[order], np.arange(self.index.ntotal + 1))
        return Owners(order.astype(np.int64), starts.astype(np.int64))

    def vectors(self, passages: Sequence[int] | Ints) -> Vectors:
        """Return the unit vectors of passages, shape ``(len(passages), dimension)``."""
        if not len(passages):
            return np.zeros((0, self.dimension), np.float32)
        found: Vectors = self.index.reconstruct_batch(self.vector_row[np.asarray(passages, dtype=np.int64)])
        return found

    def _column(self, table: str, column: str) -> pa.ChunkedArray:
        return self.snapshot.table(table, [column]).column(column)

    def _numbers(self, table: str, column: str) -> Narrow:
        values: Narrow = pc.fill_null(self._column(table, column), 0).to_numpy()
        return values

    def _matrix(self, table: str) -> Vectors:
        return vector_matrix(self._column(table, "vector"), self.dimension)
