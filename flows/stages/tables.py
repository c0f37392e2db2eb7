"""The tables of documents, vectors and the vocabulary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ...artifacts.cache.parsed_corpus import ParsedCorpus
from ...artifacts.tables import schemas
from ...artifacts.tables.vector_columns import fixed_size_lists
from ...pipeline.communities.communities import LinkGraph, Partition
from ...pipeline.embedding.centroids import centroids
from ...pipeline.embedding.encoder import Vectors
from ...pipeline.vocabulary.concepts import NearTerms, VocabularyTerm, near_terms
from ..run.context import RunContext
from .corpus import CorpusRecord
from .embedding.encode import Encoded
from .lexical import passages_each

Tables = dict[str, pa.Table]
# Words; with fewer, the near ones are found before another process is up.
_MANY_WORDS = 5_000


def find_centroids(corpus: ParsedCorpus, vectors: Encoded) -> Vectors:
    """Return the centroid of every document as a unit row of float32."""
    return centroids(vectors.vectors, vectors.row, passages_each(corpus.documents, corpus.passages))


def find_near_words(run: RunContext, words: Encoded) -> NearTerms:
    """Return the nearest words of each word of the vocabulary."""
    return near_terms(words.vectors[words.row], run.settings.vocabulary.near_terms)


def is_large_vocabulary(_run: RunContext, words: Encoded) -> bool:
    """Return whether finding near words takes longer than starting a process."""
    return len(words.row) >= _MANY_WORDS


def document_tables(
    corpus: ParsedCorpus, record: CorpusRecord, graph: LinkGraph, partition: Partition, vectors: Encoded
) -> Tables:
    """Return the tables of documents and their parts, and of what was left out."""
    ids = corpus.documents.column("doc_id").to_pylist()
    row = {name: at for at, name in enumerate(graph.documents)}
    rows = np.array([row[doc] for doc in ids], dtype=np.int64)
    found: dict[str, Any] = {
        "community": [partition.of.get(doc) for doc in ids],
        "links_in": graph.links_in[rows],
        "links_out": graph.links_out[rows],
        "passages": passages_each(corpus.documents, corpus.passages),
    }
    return {
        "documents": _filled(corpus.documents, found),
        "sections": corpus.sections,
        "passages": _filled(corpus.passages, {"vector_row": vectors.row}),
        "code_blocks": corpus.code_blocks,
        "report": schemas.report_table(record.rejections),
    }


def _filled(table: pa.Table, values: Mapping[str, Any]) -> pa.Table:
    """Return the table with integers in some of its columns."""
    for name, column in values.items():
        at = table.schema.get_field_index(name)
        table = table.set_column(at, table.schema.field(at), pa.array(column, type=pa.int32()))
    return table


def vector_tables(corpus: ParsedCorpus, vectors: Encoded, centroids: Vectors) -> Tables:
    """Return the tables of passages' vectors and documents' centroids."""
    dimension = vectors.vectors.shape[1]
    return {
        "vectors": pa.Table.from_arrays(
            [vectors.hashes, fixed_size_lists(vectors.vectors)], schema=schemas.vectors_schema(dimension)
        ),
        "centroids": pa.Table.from_arrays(
            [corpus.documents.column("doc_id"), fixed_size_lists(centroids)],
            schema=schemas.centroids_schema(dimension),
        ),
    }


def vocabulary_tables(terms: Sequence[VocabularyTerm], words: Encoded, near: NearTerms) -> Tables:
    """Return the table of the concept vocabulary, with the nearest terms of each."""
    near_words = [[terms[at].term for at in row] for row in near.position.tolist()]
    columns = [
        pa.array([term.term for term in terms], type=pa.string()),
        pa.array([term.index_term for term in terms], type=pa.string()),
        pa.array([term.passages for term in terms], type=pa.int32()),
        pa.array([term.idf for term in terms], type=pa.float64()),
        fixed_size_lists(words.vectors[words.row]),
        pa.array(near_words, type=pa.list_(pa.string())),
        pa.array(near.similarity.tolist(), type=pa.list_(pa.float32())),
    ]
    schema = schemas.vocabulary_schema(words.vectors.shape[1])
    return {"vocabulary": pa.Table.from_arrays(columns, schema=schema)}
