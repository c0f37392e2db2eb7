"""The tables of documents, vectors and the vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ...artifacts.cache.embeddings import fixed_size_lists
from ...artifacts.cache.parsed_corpus import ParsedCorpus
from ...artifacts.tables import schemas
from ...pipeline.communities.communities import (
    LinkGraph,
    Partition,
)
from ...pipeline.embedding.centroids import centroids
from ...pipeline.embedding.encoder import Vectors
from ...pipeline.vocabulary.concepts import NearTerms, VocabularyTerm, near_terms
from ..run.context import RunContext
from .corpus import CorpusRecord
from .encode import Encoded
from .lexical import Counts, passages_each

Tables = dict[str, pa.Table]
# Words; with fewer, the near ones are found before another process is up.
_MANY_WORDS = 5_000


def document_rows(documents: pa.Table, passages: Counts, graph: LinkGraph, partition: Partition) -> pa.Table:
    """Return documents with their community, degrees and number of passages."""
    ids = documents.column("doc_id").to_pylist()
    row = {name: at for at, name in enumerate(graph.documents)}
    rows = np.array([row[doc] for doc in ids], dtype=np.int64)
    values: dict[str, Any] = {
        "community": [partition.of.get(doc) for doc in ids],
        "links_in": graph.links_in[rows],
        "links_out": graph.links_out[rows],
        "passages": passages,
    }
    for name, column in values.items():
        at = documents.schema.get_field_index(name)
        documents = documents.set_column(at, documents.schema.field(at), pa.array(column, type=pa.int32()))
    return documents


def passage_rows(passages: pa.Table, encoded: Encoded) -> pa.Table:
    """Return passages with the row of their vector."""
    at = passages.schema.get_field_index("vector_row")
    return passages.set_column(at, passages.schema.field(at), pa.array(encoded.row, type=pa.int32()))


def vector_rows(encoded: Encoded, dimension: int) -> pa.Table:
    """Return the vectors table."""
    columns = [pa.array(encoded.hashes, type=pa.string()), fixed_size_lists(encoded.vectors)]
    return pa.Table.from_arrays(columns, schema=schemas.vectors_schema(dimension))


def find_centroids(corpus: ParsedCorpus, vectors: Encoded) -> Vectors:
    """Return the centroid of every document as a unit row of float32."""
    return centroids(vectors.vectors, vectors.row, passages_each(corpus.documents, corpus.passages))


def centroid_rows(documents: pa.Table, found: Vectors) -> pa.Table:
    """Return the centroids table."""
    columns = [documents.column("doc_id"), fixed_size_lists(found)]
    return pa.Table.from_arrays(columns, schema=schemas.centroids_schema(found.shape[1]))


def find_near_words(run: RunContext, words: Encoded) -> NearTerms:
    """Return the nearest words of each word of the vocabulary."""
    return near_terms(words.vectors[words.row], run.settings.vocabulary.near_terms)


def is_large_vocabulary(_run: RunContext, words: Encoded) -> bool:
    """Return whether finding near words takes longer than starting a process."""
    return len(words.row) >= _MANY_WORDS


def vocabulary_rows(terms: Sequence[VocabularyTerm], vectors: Vectors, near: NearTerms) -> pa.Table:
    """Return the vocabulary table; ``vectors`` has one row per term."""
    columns = [
        pa.array([term.term for term in terms], type=pa.string()),
        pa.array([term.index_term for term in terms], type=pa.string()),
        pa.array([term.passages for term in terms], type=pa.int32()),
        pa.array([term.idf for term in terms], type=pa.float64()),
        fixed_size_lists(vectors),
        pa.array(_near_words(terms, near), type=pa.list_(pa.string())),
        pa.array(near.similarity.tolist(), type=pa.list_(pa.float32())),
    ]
    return pa.Table.from_arrays(columns, schema=schemas.vocabulary_schema(vectors.shape[1]))


def _near_words(terms: Sequence[VocabularyTerm], near: NearTerms) -> list[list[str]]:
    return [[terms[at].term for at in row] for row in near.position.tolist()]


def document_tables(
    corpus: ParsedCorpus, record: CorpusRecord, graph: LinkGraph, partition: Partition, vectors: Encoded
) -> Tables:
    """Return the tables of documents and their parts, and of what was left out."""
    passages = passages_each(corpus.documents, corpus.passages)
    return {
        "documents": document_rows(corpus.documents, passages, graph, partition),
        "sections": corpus.sections,
        "passages": passage_rows(corpus.passages, vectors),
        "code_blocks": corpus.code_blocks,
        "report": schemas.report_table(record.rejections),
    }


def vector_tables(corpus: ParsedCorpus, vectors: Encoded, centroids: Vectors) -> Tables:
    """Return the tables of passages' vectors and documents' centroids."""
    return {
        "vectors": vector_rows(vectors, vectors.vectors.shape[1]),
        "centroids": centroid_rows(corpus.documents, centroids),
    }


def vocabulary_tables(terms: Sequence[VocabularyTerm], words: Encoded, near: NearTerms) -> Tables:
    """Return the table of the concept vocabulary."""
    return {"vocabulary": vocabulary_rows(terms, words.vectors[words.row], near)}
