"""Understood batches and vectors become the tables of a snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import networkx as nx
import numpy as np
import pyarrow as pa

from artifacts import tables
from artifacts.embeddings import fixed_size_lists
from flows.encode import Encoded
from flows.understand import Understood
from pipeline.communities import Partition, find_communities, link_graph
from pipeline.lexical import LexicalIndex, build_index
from pipeline.links import resolve_links
from pipeline.model import DocId, ResolvedLink
from pipeline.settings import FIELDS, LexicalField, Settings
from pipeline.text import prose_analyzer
from pipeline.vocabulary import NearTerms, VocabularyTerm, near_terms, select_terms, surface_forms

POSTINGS_PER_GROUP = 131_072
_CODE_FIELDS = (LexicalField(weight=1.0),)
_LABEL_MIN_CHARS = 3
_COMMON_SHARE = 0.2
_MIN_PASSAGES_TO_TELL = 100


@dataclass(frozen=True, slots=True)
class Linked:
    """The link graph's tables, and what each document row gets from it."""

    links: list[ResolvedLink]
    graph: nx.DiGraph[DocId]
    partition: Partition


def concatenate(parts: Iterable[pa.Table], schema: pa.Schema) -> pa.Table:
    """The rows of all parts in order."""
    return pa.concat_tables([schema.empty_table(), *parts])


def prose_index(batches: Sequence[Understood], settings: Settings) -> LexicalIndex:
    """BM25F over all fields of all passages."""
    fields = [settings.lexical.fields[name] for name in FIELDS]
    return build_index([batch.prose for batch in batches], fields, settings.lexical.k1)


def code_index(batches: Sequence[Understood], settings: Settings) -> LexicalIndex:
    """BM25 over the code of all passages."""
    return build_index([batch.code for batch in batches], _CODE_FIELDS, settings.lexical.k1)


def link(batches: Sequence[Understood], prose: LexicalIndex, settings: Settings) -> Linked:
    """Links resolved, the graph they make, and its communities."""
    linking = [document for batch in batches for document in batch.linking]
    links = resolve_links(linking, settings.collections)
    graph = link_graph((document.doc_id for document in linking), links)
    common = _common_terms(prose, sum(len(batch.prose.lengths) for batch in batches))
    terms = {doc: found for batch in batches for doc, found in _label_terms(batch.documents, common)}
    return Linked(links, graph, find_communities(graph, terms, settings.communities))


def _common_terms(prose: LexicalIndex, passages: int) -> frozenset[str]:
    """Terms of so many passages that they name nothing: the corpus's own stop words, if it has enough to tell."""
    if passages < _MIN_PASSAGES_TO_TELL:
        return frozenset()
    return frozenset(prose.terms[i] for i in np.flatnonzero(prose.frequency > _COMMON_SHARE * passages))


def _label_terms(documents: pa.Table, common: frozenset[str]) -> Iterable[tuple[DocId, list[str]]]:
    """The words that may name a community a document is in: those of its title and tags, as written."""
    columns = [documents.column(name).to_pylist() for name in ("doc_id", "title", "tags", "language")]
    for doc_id, title, tags, language in zip(*columns, strict=True):
        analyzer = prose_analyzer(language)
        words = {
            word for word in analyzer.tokens(title) if len(word) >= _LABEL_MIN_CHARS and not word.isdigit()
        }
        telling = {*tags, *(word for word in words if common.isdisjoint(analyzer.expand(word)))}
        yield doc_id, sorted(telling or words or {title})


def document_rows(documents: pa.Table, passages: pa.Table, linked: Linked) -> pa.Table:
    """Documents with their community, degrees and number of passages."""
    ids = documents.column("doc_id").to_pylist()
    counted: Mapping[str, int] = {
        pair["values"]: pair["counts"] for pair in passages.column("doc_id").value_counts().to_pylist()
    }
    values = {
        "community": [linked.partition.of.get(doc) for doc in ids],
        "links_in": [linked.graph.in_degree(doc) for doc in ids],
        "links_out": [linked.graph.out_degree(doc) for doc in ids],
        "passages": [counted.get(doc, 0) for doc in ids],
    }
    for name, column in values.items():
        at = documents.schema.get_field_index(name)
        documents = documents.set_column(at, documents.schema.field(at), pa.array(column, type=pa.int32()))
    return documents


def passage_rows(passages: pa.Table, encoded: Encoded) -> pa.Table:
    """Passages with their row among the vectors."""
    at = passages.schema.get_field_index("vector_row")
    return passages.set_column(at, passages.schema.field(at), pa.array(encoded.row, type=pa.int32()))


def vector_rows(encoded: Encoded, dimension: int) -> pa.Table:
    """The vectors table."""
    columns = [pa.array(encoded.hashes, type=pa.string()), fixed_size_lists(encoded.vectors)]
    return pa.Table.from_arrays(columns, schema=tables.vectors_schema(dimension))


def row_groups(index: LexicalIndex) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    """The row group of each term: groups of about ``POSTINGS_PER_GROUP`` postings, so that a query reads little."""
    wanted = index.offsets[:-1] // POSTINGS_PER_GROUP
    return np.unique(wanted, return_inverse=True)[1].astype(np.int32)


def group_sizes(index: LexicalIndex) -> list[int]:
    """The number of terms in each row group."""
    return [int(size) for size in np.bincount(row_groups(index))]


def term_rows(index: LexicalIndex) -> pa.Table:
    """The terms table of an index."""
    top = np.maximum.reduceat(index.score, index.offsets[:-1]) if index.terms else np.zeros(0, np.float32)
    columns = [
        pa.array(index.terms, type=pa.string()),
        pa.array(index.frequency, type=pa.int32()),
        pa.array(index.idf, type=pa.float64()),
        pa.array(top, type=pa.float32()),
        pa.array(row_groups(index), type=pa.int32()),
    ]
    return pa.Table.from_arrays(columns, schema=tables.TERMS)


def posting_rows(index: LexicalIndex) -> pa.Table:
    """The postings table of an index."""
    offsets = pa.array(index.offsets, type=pa.int32())
    columns = [
        pa.array(index.terms, type=pa.string()),
        pa.ListArray.from_arrays(offsets, pa.array(index.passage, type=pa.int32())),
        pa.ListArray.from_arrays(offsets, pa.array(index.score, type=pa.float32())),
    ]
    return pa.Table.from_arrays(columns, schema=tables.POSTINGS)


def vocabulary_terms(
    batches: Sequence[Understood], index: LexicalIndex, settings: Settings
) -> list[VocabularyTerm]:
    """The words of the concept vocabulary, sorted."""
    passages = sum(len(batch.prose.lengths) for batch in batches)
    return select_terms(
        index, surface_forms([batch.prose for batch in batches]), passages, settings.vocabulary
    )


def vocabulary_rows(terms: Sequence[VocabularyTerm], encoded: Encoded, settings: Settings) -> pa.Table:
    """The vocabulary table."""
    vectors = encoded.vectors[encoded.row] if terms else encoded.vectors
    near = near_terms(vectors, settings.vocabulary.near_terms)
    columns = [
        pa.array([term.term for term in terms], type=pa.string()),
        pa.array([term.passages for term in terms], type=pa.int32()),
        pa.array([term.idf for term in terms], type=pa.float64()),
        fixed_size_lists(vectors),
        pa.array(_near_words(terms, near), type=pa.list_(pa.string())),
        pa.array(near.similarity.tolist(), type=pa.list_(pa.float32())),
    ]
    return pa.Table.from_arrays(columns, schema=tables.vocabulary_schema(vectors.shape[1]))


def _near_words(terms: Sequence[VocabularyTerm], near: NearTerms) -> list[list[str]]:
    return [[terms[at].term for at in row] for row in near.position.tolist()]
