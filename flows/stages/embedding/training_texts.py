"""The texts that the static encoder is fitted to: passages, words, phrases and spans, and link texts.

Each kind is bounded and chosen by the lowest content hashes, so a few changed documents change only a few of
the texts, and nearly everything that has to be encoded was encoded the night before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ....artifacts.cache.parsed_corpus import ParsedCorpus
from ....artifacts.tables.schemas import quantized_table, term_vectors_schema
from ....pipeline.embedding.encoder import Vectors
from ....pipeline.embedding.static_encoder import TrainingTexts, count_texts, fit_term_vectors
from ....pipeline.identity import text_hash
from ....pipeline.lexical.analyzer import UNSTEMMED
from ....pipeline.lexical.bm25f import LexicalIndex
from ....pipeline.lexical.field_counts import FieldCounts
from ....pipeline.model import ResolvedLink
from ....pipeline.settings.settings import StaticEncoderSettings
from ....pipeline.vocabulary.concepts import VocabularyTerm
from ...run.context import RunContext
from ..parse_batch import stemmed_language
from .encode import Encoded, Encoding, query_texts

# Passages; with fewer, they are counted before another process is up.
_MANY_TEXTS = 10_000
_MAX_CHARS = 200
MAX_NAMES = 40_000
# Spans are as long as queries are: most of them a few words.
_SPAN_WORDS = (1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5, 6, 6, 8, 8, 12, 12, 16, 24)
_WEIGHTS = {"words": 1.0, "phrases": 1.0, "spans": 1.0, "passages": 0.3, "anchors": 0.3, "titles": 0.1}


@dataclass(frozen=True, slots=True)
class TextsWithLanguages:
    """Texts with the language of each."""

    texts: tuple[str, ...]
    languages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DocumentNames:
    """Texts that name a document, with the row of that document."""

    training: TextsWithLanguages
    documents: tuple[int, ...]


def pick_passages(run: RunContext, corpus: ParsedCorpus) -> Picked:
    """Pick the passages to learn from."""
    return picked_passages(corpus.documents, corpus.passages, run.settings.static_encoder)


def count_picked(picked: Picked) -> FieldCounts:
    """Count how often each term stands in each picked passage."""
    return count_texts(picked.training.texts, picked.training.languages)


def are_many(picked: Picked) -> bool:
    """Return whether counting takes longer than starting a process."""
    return len(picked.training.texts) >= _MANY_TEXTS


def embed_phrases(
    run: RunContext, encoding: Encoding, corpus: ParsedCorpus, links: Collection[ResolvedLink]
) -> TrainingTexts:
    """Return titles, headings and anchor texts with their vectors as queries."""
    texts = phrases(corpus.documents, corpus.sections, links, run.settings.static_encoder)
    return _as_queries("phrases", texts, encoding)


def embed_spans(run: RunContext, encoding: Encoding, corpus: ParsedCorpus) -> TrainingTexts:
    """Return short spans from inside passages with their vectors as queries."""
    return _as_queries(
        "spans", spans(corpus.documents, corpus.passages, run.settings.static_encoder), encoding
    )


def _as_queries(kind: str, texts: TextsWithLanguages, encoding: Encoding) -> TrainingTexts:
    found = encoding.encode(f"{kind} vectors", query_texts(texts.texts, encoding.encoder))
    return encoded_training_texts(kind, texts, found)


def fit_static_encoder(  # noqa: PLR0913, PLR0917  # all that it learns from
    run: RunContext,
    corpus: ParsedCorpus,
    links: Collection[ResolvedLink],
    prose: LexicalIndex,
    terms: Sequence[VocabularyTerm],
    words: Encoded,
    vectors: Encoded,
    centroids: Vectors,
    picked: Picked,
    counts: FieldCounts,
    phrases: TrainingTexts,
    spans: TrainingTexts,
) -> pa.Table:
    """Return the term_vectors table: vectors whose sum approximates the model's vector of a text."""
    # Words of the vocabulary as index terms, which need no stemmer.
    index_terms = TextsWithLanguages(tuple(term.index_term for term in terms), (UNSTEMMED,) * len(terms))
    training = [
        encoded_training_texts("words", index_terms, words),
        phrases,
        spans,
        training_passages(picked, vectors, counts),
        *training_names(corpus.documents, names(corpus.documents, links), centroids),
    ]
    found = fit_term_vectors(training, prose.terms, prose.idf, run.settings.static_encoder)
    return quantized_table(found, term_vectors_schema)


def phrases(
    documents: pa.Table, sections: pa.Table, links: Collection[ResolvedLink], settings: StaticEncoderSettings
) -> TextsWithLanguages:
    """Return titles, headings and anchor texts, each once, in the language of its first document."""
    language = _languages(documents)
    found: dict[str, str] = {}
    for text, doc_id in _phrases(documents, sections, links):
        found.setdefault(" ".join(text.split())[:_MAX_CHARS], language[doc_id])
    found.pop("", None)
    picked = sorted(found, key=text_hash)[: settings.phrases]
    return TextsWithLanguages(tuple(picked), tuple(found[text] for text in picked))


def _phrases(
    documents: pa.Table, sections: pa.Table, links: Collection[ResolvedLink]
) -> Iterable[tuple[str, str]]:
    yield from zip(documents["title"].to_pylist(), documents["doc_id"].to_pylist(), strict=True)
    yield from zip(sections["title"].to_pylist(), sections["doc_id"].to_pylist(), strict=True)
    yield from ((link.text, link.source_id) for link in links if link.target_id is not None)


def spans(documents: pa.Table, passages: pa.Table, settings: StaticEncoderSettings) -> TextsWithLanguages:
    """Return a few words, chosen by hash, from inside each of as many passages as the settings say."""
    language = _languages(documents)
    rows = _lowest(passages, settings.spans, salt=16)
    chosen = passages.select(["doc_id", "text", "content_hash"]).take(rows)
    found: dict[str, str] = {}
    for each in chosen.to_pylist():
        found.setdefault(_span(each["text"], int(each["content_hash"][:12], 16)), language[each["doc_id"]])
    found.pop("", None)
    return TextsWithLanguages(tuple(found), tuple(found.values()))


def _span(text: str, number: int) -> str:
    words = text.split()
    size = min(_SPAN_WORDS[number % len(_SPAN_WORDS)], len(words))
    start = (number // len(_SPAN_WORDS)) % (len(words) - size + 1)
    return " ".join(words[start : start + size])[:_MAX_CHARS]


def _lowest(passages: pa.Table, most: int, salt: int = 0) -> pa.Array:
    """Return the rows with the lowest content hashes, compared from their ``salt``-th digit on."""
    hashes = pc.utf8_slice_codeunits(passages["content_hash"].combine_chunks(), salt)
    return pc.sort_indices(hashes)[:most].sort()


def names(documents: pa.Table, links: Collection[ResolvedLink]) -> DocumentNames:
    """Return anchor texts, each with the document that it leads to."""
    row = {doc_id: at for at, doc_id in enumerate(documents["doc_id"].to_pylist())}
    language = _languages(documents)
    pairs = {
        (" ".join(link.text.split())[:_MAX_CHARS], link.target_id)
        for link in links
        if link.target_id is not None and link.target_id != link.source_id
    }
    named = sorted((pair for pair in pairs if pair[0]), key=lambda pair: text_hash("\n".join(pair)))
    kept = named[:MAX_NAMES]
    training = TextsWithLanguages(
        tuple(text for text, _ in kept), tuple(language[doc_id] for _, doc_id in kept)
    )
    return DocumentNames(training, tuple(row[doc_id] for _, doc_id in kept))


def _languages(documents: pa.Table) -> dict[str, str]:
    pairs = zip(documents["doc_id"].to_pylist(), documents["language"].to_pylist(), strict=True)
    return {doc_id: stemmed_language(language) for doc_id, language in pairs}


def encoded_training_texts(kind: str, training: TextsWithLanguages, encoded: Encoded) -> TrainingTexts:
    """Return texts with the vectors that the model gave them."""
    vectors = encoded.vectors[encoded.row] if training.texts else encoded.vectors
    return TrainingTexts(training.texts, training.languages, vectors, _WEIGHTS[kind])


@dataclass(frozen=True, slots=True)
class Picked:
    """Whole passages to learn from: their rows, and their texts."""

    rows: npt.NDArray[np.int64]
    training: TextsWithLanguages


def picked_passages(documents: pa.Table, passages: pa.Table, settings: StaticEncoderSettings) -> Picked:
    """Return as many passages as the settings say, chosen by hash, each with its breadcrumb in front."""
    rows = _lowest(passages, settings.passages)
    language = _languages(documents)
    chosen = passages.select(["doc_id", "breadcrumb", "text"]).take(rows).to_pylist()
    texts = tuple(f"{each['breadcrumb']}\n{each['text']}" for each in chosen)
    return Picked(
        rows.to_numpy(), TextsWithLanguages(texts, tuple(language[each["doc_id"]] for each in chosen))
    )


def weight_of(kind: str) -> float:
    """Return how much a text of a kind counts."""
    return _WEIGHTS[kind]


def training_passages(picked: Picked, encoded: Encoded, counts: FieldCounts | None = None) -> TrainingTexts:
    """Return whole passages with their own vectors."""
    vectors = encoded.vectors[encoded.row[picked.rows]]
    return TrainingTexts(
        picked.training.texts, picked.training.languages, vectors, _WEIGHTS["passages"], counts
    )


def training_names(documents: pa.Table, named: DocumentNames, centroids: Vectors) -> list[TrainingTexts]:
    """Return anchor texts and titles with the centroid of the document that they name."""
    training, vectors = named.training, centroids[list(named.documents)]
    anchors = TrainingTexts(training.texts, training.languages, vectors, _WEIGHTS["anchors"])
    language = _languages(documents)
    languages = [language[doc_id] for doc_id in documents["doc_id"].to_pylist()]
    titles = TrainingTexts(documents["title"].to_pylist(), languages, centroids, _WEIGHTS["titles"])
    return [anchors, titles]
