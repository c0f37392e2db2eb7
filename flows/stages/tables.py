"""Understood batches and vectors become the tables of a snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ...artifacts.cache.embeddings import fixed_size_lists
from ...artifacts.cache.parsed_corpus import ParsedCorpus
from ...artifacts.tables import schemas
from ...pipeline.communities.communities import Clusters, LinkGraph, Partition, link_graph, named
from ...pipeline.embedding.centroids import centroids
from ...pipeline.embedding.encoder import Vectors
from ...pipeline.lexical.analyzer import UNSTEMMED, prose_analyzer
from ...pipeline.lexical.bm25f import LexicalIndex, SharedField, build_index
from ...pipeline.lexical.field_counts import FieldCounts, count_fields
from ...pipeline.links.anchors import anchor_texts
from ...pipeline.links.resolve import resolve_links
from ...pipeline.model import DocId, ResolvedLink
from ...pipeline.settings.settings import FIELDS, LexicalField, Settings
from ...pipeline.vocabulary.acronyms import merge
from ...pipeline.vocabulary.concepts import NearTerms, VocabularyTerm, select_terms, surface_forms
from .encode import Encoded
from .parse_batch import stemmed_language

Counts = npt.NDArray[np.int32]

POSTINGS_PER_GROUP = 131_072
_CODE_FIELDS = (LexicalField(weight=1.0),)
_LABEL_MIN_CHARS = 3
_COMMON_SHARE = 0.2
_MIN_PASSAGES_TO_TELL = 100
# Languages whose terms the catalog's SQL works out by itself.
_IN_SQL = ("en", UNSTEMMED)


@dataclass(frozen=True, slots=True)
class Linked:
    """The link graph's tables, and what each document row gets from it."""

    links: list[ResolvedLink]
    graph: LinkGraph
    partition: Partition


def prose_index(
    corpus: ParsedCorpus, passages: Counts, anchors: FieldCounts, settings: Settings
) -> LexicalIndex:
    """BM25F over all fields of all passages, of which each document has so many; every passage has the anchor text of its
    document."""
    fields = [settings.lexical.fields[name] for name in FIELDS]
    shared = SharedField(anchors, passages.astype(np.int64), FIELDS.index("anchors"))
    return build_index([corpus.prose], fields, settings.lexical.k1, shared)


def resolved_links(corpus: ParsedCorpus, settings: Settings) -> list[ResolvedLink]:
    """Every link of the corpus with its fate."""
    return resolve_links(corpus.linking, settings.collections)


def count_anchors(corpus: ParsedCorpus, links: Iterable[ResolvedLink]) -> FieldCounts:
    """The words of the links to every document, one text a document, in its own language."""
    texts = anchor_texts(links)
    columns = _ids_and_languages(corpus.documents)
    analyzers = [prose_analyzer(stemmed_language(language)) for _, language in columns]
    return count_fields([[texts.get(doc_id, "") for doc_id, _ in columns]], analyzers)


def _ids_and_languages(documents: pa.Table) -> list[tuple[DocId, str]]:
    names = ("doc_id", "language")
    return list(zip(*(documents.column(name).to_pylist() for name in names), strict=True))


def code_index(corpus: ParsedCorpus, settings: Settings) -> LexicalIndex:
    """BM25 over the code of all passages."""
    return build_index([corpus.code], _CODE_FIELDS, settings.lexical.k1)


def graph_of(corpus: ParsedCorpus, links: Iterable[ResolvedLink]) -> LinkGraph:
    """The graph that the links make."""
    return link_graph((document.doc_id for document in corpus.linking), links)


def name_communities(
    corpus: ParsedCorpus, clusters: Clusters, graph: LinkGraph, prose: LexicalIndex, settings: Settings
) -> Partition:
    """The communities by the words that set their documents apart."""
    common = _common_terms(prose, len(corpus.passages))
    terms = dict(_label_terms(corpus.documents, common))
    return named(clusters, graph, terms, settings.communities)


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


def passages_each(documents: pa.Table, passages: pa.Table) -> Counts:
    """How many passages each document has."""
    of = pc.index_in(passages.column("doc_id"), documents.column("doc_id").combine_chunks())
    return np.bincount(of.to_numpy(), minlength=len(documents)).astype(np.int32)


def document_rows(documents: pa.Table, passages: Counts, linked: Linked) -> pa.Table:
    """Documents with their community, degrees and number of passages."""
    ids = documents.column("doc_id").to_pylist()
    row = {name: at for at, name in enumerate(linked.graph.documents)}
    rows = np.array([row[doc] for doc in ids], dtype=np.int64)
    values: dict[str, Any] = {
        "community": [linked.partition.of.get(doc) for doc in ids],
        "links_in": linked.graph.links_in[rows],
        "links_out": linked.graph.links_out[rows],
        "passages": passages,
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
    return pa.Table.from_arrays(columns, schema=schemas.vectors_schema(dimension))


def centroids_of(passages: Counts, encoded: Encoded) -> Vectors:
    """The centroid of every document, which has so many passages."""
    return centroids(encoded.vectors, encoded.row, passages)


def centroid_rows(documents: pa.Table, found: Vectors) -> pa.Table:
    """The centroids table."""
    columns = [documents.column("doc_id"), fixed_size_lists(found)]
    return pa.Table.from_arrays(columns, schema=schemas.centroids_schema(found.shape[1]))


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
    return pa.Table.from_arrays(columns, schema=schemas.TERMS)


def posting_rows(index: LexicalIndex) -> pa.Table:
    """The postings table of an index."""
    offsets = pa.array(index.offsets, type=pa.int32())
    columns = [
        pa.array(index.terms, type=pa.string()),
        pa.ListArray.from_arrays(offsets, pa.array(index.passage, type=pa.int32())),
        pa.ListArray.from_arrays(offsets, pa.array(index.score, type=pa.float32())),
        pa.ListArray.from_arrays(offsets, pa.array(index.fields, type=pa.uint16())),
    ]
    return pa.Table.from_arrays(columns, schema=schemas.POSTINGS)


def surface_rows(batches: Sequence[FieldCounts]) -> pa.Table:
    """The surfaces table: each token of each language once, with its count over all batches."""
    found = _merged(pa.concat_tables([schemas.SURFACES.empty_table(), *map(_surfaces, batches)]))
    others = (_borrowed(found, language) for language in pc.unique(found["language"]).to_pylist())
    rows = pa.concat_tables([found, *others])
    return rows.sort_by([("surface", "ascending"), ("language", "ascending")]).combine_chunks()


def _merged(parts: pa.Table) -> pa.Table:
    rows = pa.table(
        {
            "surface": parts["surface"],
            "language": parts["language"],
            "count": parts["count"],
            "first": pa.array(np.arange(len(parts), dtype=np.int64)),
        }
    )
    merged = rows.group_by(["surface", "language"]).aggregate([("count", "sum"), ("first", "min")])
    # A token of a language stands for the same terms wherever it is, so its first row will do.
    terms = parts["terms"].combine_chunks().take(merged["first_min"].combine_chunks())
    columns = [merged["surface"], merged["language"], terms, merged["count_sum"]]
    return pa.Table.from_arrays(columns, schema=schemas.SURFACES)


def _borrowed(found: pa.Table, language: str) -> pa.Table:
    """Words that only documents of other languages use, with their terms in this one: a query's words are taken in
    every language, and SQL stems English only."""
    if language in _IN_SQL:
        return schemas.SURFACES.empty_table()
    own = found.filter(pc.equal(found["language"], language))["surface"].combine_chunks()
    all_of_them = pc.unique(found["surface"])
    words = all_of_them.filter(pc.invert(pc.is_in(all_of_them, value_set=own)))
    expand = prose_analyzer(language).expand
    columns = [
        words,
        pa.repeat(language, len(words)),
        pa.array([expand(word) for word in words.to_pylist()], type=schemas.SURFACES.field("terms").type),
        pa.repeat(pa.scalar(0, pa.int64()), len(words)),
    ]
    return pa.Table.from_arrays(columns, schema=schemas.SURFACES)


def _surfaces(batch: FieldCounts) -> pa.Table:
    names = pa.array(batch.terms, type=pa.string())
    offsets = pa.array(batch.surface_offsets, type=pa.int32())
    columns = [
        pa.array(batch.surface, type=pa.string()),
        pa.array(batch.surface_language, type=pa.string()),
        pa.ListArray.from_arrays(offsets, names.take(pa.array(batch.surface_terms))),
        pa.array(batch.surface_count, type=pa.int64()),
    ]
    return pa.Table.from_arrays(columns, schema=schemas.SURFACES)


def acronym_rows(corpus: ParsedCorpus) -> pa.Table:
    """The acronyms table: what all batches learned, as one."""
    return schemas.acronyms_table(merge(corpus.acronyms))


def vocabulary_terms(corpus: ParsedCorpus, index: LexicalIndex, settings: Settings) -> list[VocabularyTerm]:
    """The words of the concept vocabulary, sorted."""
    passages = len(corpus.prose.lengths)
    return select_terms(index, surface_forms([corpus.prose]), passages, settings.vocabulary)


def vocabulary_rows(terms: Sequence[VocabularyTerm], vectors: Vectors, near: NearTerms) -> pa.Table:
    """The vocabulary table; ``vectors`` has a row a term."""
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
