"""The lexical index: BM25F over prose and code, the words of the vocabulary, and their tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ...artifacts.cache.parsed_corpus import ParsedCorpus
from ...artifacts.tables import schemas
from ...artifacts.tables.outside_memory import mapped_copy
from ...pipeline.lexical.analyzer import UNSTEMMED, prose_analyzer
from ...pipeline.lexical.bm25f import CorpusStatistics, LexicalIndex, SharedField, build_index
from ...pipeline.lexical.field_counts import FieldCounts, count_fields, without_headings
from ...pipeline.links.anchors import anchor_texts
from ...pipeline.model import ResolvedLink
from ...pipeline.settings.settings import FIELDS, LexicalField
from ...pipeline.vocabulary.acronyms import merge
from ...pipeline.vocabulary.concepts import VocabularyTerm, select_terms, surface_forms
from ..run.context import RunContext
from .parse_batch import stemmed_language

Counts = npt.NDArray[np.int32]

POSTINGS_PER_GROUP = 131_072
_CODE_FIELDS = (LexicalField(weight=1.0),)
# Languages whose terms the catalog's SQL works out by itself.
_IN_SQL = ("en", UNSTEMMED)


def index_prose(
    run: RunContext, parsed: ParsedCorpus, anchors: FieldCounts, corpus: CorpusStatistics | None = None
) -> LexicalIndex:
    """Return BM25F over all fields of all passages; every passage has the anchor text of its document.

    ``corpus`` has the statistics of the whole where the passages are a part. Raise ``WriteFailed``.
    """
    each = passages_each(parsed.documents, parsed.passages)
    shared = SharedField(anchors, each.astype(np.int64), FIELDS.index("anchors"))
    plain, texts = passages_without_headings(parsed.passages, each), len(parsed.passages)
    if corpus is not None:
        plain, texts = corpus.without_headings, corpus.texts
    lexical = run.settings.lexical.adapted(plain / max(1, texts))
    fields = [lexical.fields[name] for name in FIELDS]
    return _outside_memory(build_index([parsed.prose], fields, lexical.k1, shared, corpus), run)


def passages_without_headings(passages: pa.Table, each: Counts) -> int:
    """Return the number of passages in documents without headings; ``each`` counts those of a document."""
    headings = pc.list_value_length(passages["headings"]).to_numpy()
    return without_headings(headings, each.astype(np.int64))


def count_anchors(corpus: ParsedCorpus, links: Iterable[ResolvedLink]) -> FieldCounts:
    """Count the words of the links to every document, one text per document, in its own language."""
    texts = anchor_texts(links)
    ids, languages = (corpus.documents[name].to_pylist() for name in ("doc_id", "language"))
    analyzers = [prose_analyzer(stemmed_language(language)) for language in languages]
    return count_fields([[texts.get(doc_id, "") for doc_id in ids]], analyzers)


def index_code(run: RunContext, parsed: ParsedCorpus, corpus: CorpusStatistics | None = None) -> LexicalIndex:
    """Return BM25 over the code of all passages; raise ``WriteFailed``."""
    return _outside_memory(
        build_index([parsed.code], _CODE_FIELDS, run.settings.lexical.k1, corpus=corpus), run
    )


def _outside_memory(index: LexicalIndex, run: RunContext) -> LexicalIndex:
    """Return the index with its postings outside memory, where they stay until they are written."""
    return replace(
        index,
        passage=mapped_copy(index.passage, run.store),
        score=mapped_copy(index.score, run.store),
        fields=mapped_copy(index.fields, run.store),
    )


def passages_each(documents: pa.Table, passages: pa.Table) -> Counts:
    """Return the number of passages of each document."""
    of = pc.index_in(passages.column("doc_id"), documents.column("doc_id").combine_chunks())
    return np.bincount(of.to_numpy(), minlength=len(documents)).astype(np.int32)


def term_rows(index: LexicalIndex) -> pa.Table:
    """Return the terms table of an index; row groups have few enough postings that a query reads little."""
    _, group = np.unique(index.offsets[:-1] // POSTINGS_PER_GROUP, return_inverse=True)
    top = np.maximum.reduceat(index.score, index.offsets[:-1]) if index.terms else np.zeros(0, np.float32)
    columns = [
        pa.array(index.terms, type=pa.string()),
        pa.array(index.frequency, type=pa.int32()),
        pa.array(index.idf, type=pa.float64()),
        pa.array(top, type=pa.float32()),
        pa.array(group, type=pa.int32()),
    ]
    return pa.Table.from_arrays(columns, schema=schemas.TERMS)


def posting_rows(index: LexicalIndex) -> pa.Table:
    """Return the postings table of an index."""
    offsets = pa.array(index.offsets, type=pa.int32())
    columns = [
        pa.array(index.terms, type=pa.string()),
        pa.ListArray.from_arrays(offsets, pa.array(index.passage, type=pa.int32())),
        pa.ListArray.from_arrays(offsets, pa.array(index.score, type=pa.float32())),
        pa.ListArray.from_arrays(offsets, pa.array(index.fields, type=pa.uint16())),
    ]
    return pa.Table.from_arrays(columns, schema=schemas.POSTINGS)


def surface_rows(batches: Sequence[FieldCounts]) -> pa.Table:
    """Return the surfaces table: each token of each language once, with its count over all batches."""
    return merged_surfaces(pa.concat_tables([schemas.SURFACES.empty_table(), *map(_surfaces, batches)]))


def merged_surfaces(parts: pa.Table) -> pa.Table:
    """Return the surfaces table of rows in which a token may stand several times."""
    found = _merged(parts)
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
    """Return words that only documents of other languages use, with their terms in this language.

    A query's words are looked up in every language, and SQL stems English only.
    """
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


def select_words(run: RunContext, parsed: ParsedCorpus, prose: LexicalIndex) -> list[VocabularyTerm]:
    """Return the words of the concept vocabulary, sorted."""
    passages = len(parsed.prose.lengths)
    return select_terms(prose, surface_forms([parsed.prose]), passages, run.settings.vocabulary)


def lexical_tables(
    prose: LexicalIndex, code: LexicalIndex, parsed: ParsedCorpus, anchors: FieldCounts
) -> dict[str, pa.Table]:
    """Return the tables of both indexes, of surface forms and of acronyms."""
    return {
        "terms": term_rows(prose),
        "postings": posting_rows(prose),
        "code_terms": term_rows(code),
        "code_postings": posting_rows(code),
        "surfaces": surface_rows([parsed.prose, anchors]),
        "acronyms": schemas.acronyms_table(merge(parsed.acronyms)),
    }
