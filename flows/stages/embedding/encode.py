"""Encoding of texts as vectors: each distinct text once, and only if the embedding store does not have it
yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ....artifacts.cache.embeddings import EmbeddingStore
from ....artifacts.cache.parsed_corpus import ParsedCorpus
from ....pipeline.chunk.passages import SPECIAL_TOKENS, embedded_text
from ....pipeline.embedding import encoder as embed
from ....pipeline.embedding.encoder import TransformerEncoder, Vectors
from ....pipeline.identity import text_hash
from ....pipeline.vocabulary.concepts import VocabularyTerm
from ...engines import Engine
from ...run.context import Resources, RunContext
from ...run.memory import release_memory

Rows = npt.NDArray[np.int64]
EMBED_STAGE = "embed"
_MAX_TASKS = 48
_MIN_TEXTS_PER_TASK = 512
_FEWEST_TEXTS = 64
_TASKS_EACH = 4
# So many leave hundreds of megabytes of free memory behind.
_MANY_TEXTS = 1_000


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts to encode: content hashes, lengths in tokens, and a way to fetch the text of a row."""

    hashes: pa.StringArray
    tokens: npt.NDArray[np.int64]
    text_at: Callable[[int], str]
    as_queries: bool = False


@dataclass(frozen=True, slots=True)
class Encoded:
    """Distinct texts in order of appearance: hashes, unit vectors, and the row of each text there."""

    hashes: pa.StringArray
    vectors: Vectors
    row: npt.NDArray[np.int32]
    computed: int


def passage_texts(passages: pa.Table) -> Texts:
    """Return the passages of a table in the form in which they are embedded."""
    crumbs, texts = passages.column("breadcrumb"), passages.column("text")
    return Texts(
        hashes=passages.column("content_hash").combine_chunks(),
        tokens=passages.column("tokens").to_numpy().astype(np.int64),
        text_at=lambda row: embedded_text(crumbs[row].as_py(), texts[row].as_py()),
    )


def word_texts(words: Sequence[str], encoder: TransformerEncoder) -> Texts:
    """Return words in the form in which they are embedded."""
    tokens = np.array(encoder.count_tokens(words), dtype=np.int64) + SPECIAL_TOKENS
    return Texts(_strings(map(text_hash, words)), tokens, words.__getitem__)


def query_texts(texts: Sequence[str], encoder: TransformerEncoder) -> Texts:
    """Return texts in the form in which they are embedded as queries, which have a prompt of their own."""
    model, words = encoder.model, word_texts(texts, encoder)
    if model.query_prompt == model.passage_prompt:
        return words
    hashes = _strings(query_hash(model.query_prompt, text) for text in texts)
    return replace(words, hashes=hashes, as_queries=True)


def _strings(values: Iterable[str]) -> pa.StringArray:
    return pa.array(list(values), type=pa.string())


def open_encoding(run: RunContext, engine: Engine, resources: Resources) -> Encoding:
    """Return the encoder that the settings name, ready for this run; the model is loaded on first use."""
    encoder = TransformerEncoder(run.settings.embed)
    return Encoding(encoder, run.store, engine, resources, refresh=run.options.start == EMBED_STAGE)


def embed_passages(encoding: Encoding, corpus: ParsedCorpus) -> Encoded:
    """Return the vectors of all passages."""
    vectors = encoding.encode(EMBED_STAGE, passage_texts(corpus.passages))
    if vectors.computed > _MANY_TEXTS:
        release_memory()
    return vectors


def embed_words(encoding: Encoding, terms: Sequence[VocabularyTerm]) -> Encoded:
    """Return the vectors of the words of the vocabulary."""
    return encoding.encode("vocabulary vectors", word_texts([term.term for term in terms], encoding.encoder))


class Encoding:
    """An encoder for one run: it reads the embedding store once and adds to it whatever was missing."""

    def __init__(
        self,
        encoder: TransformerEncoder,
        store: Path,
        engine: Engine,
        resources: Resources,
        *,
        refresh: bool = False,
    ) -> None:
        key = key_of(encoder.model.sha256, encoder.precision, encoder.device)
        self.encoder = encoder
        self._kept = EmbeddingStore(store, key, encoder.dimension, refresh=refresh)
        self._kept.read_ahead()
        self._engine, self._driver, self._progress = engine, resources.driver, resources.progress

    def encode(self, stage: str, texts: Texts) -> Encoded:
        """Return the vectors of all texts; each finished task has stored its new ones."""
        distinct = texts.hashes.dictionary_encode()
        hashes, row = distinct.dictionary, distinct.indices.to_numpy()
        first_rows = np.unique(row, return_index=True)[1].astype(np.int32)
        recall = self._kept.recall(hashes)
        missing = _longest_first(recall.missing, texts.tokens[first_rows], hashes)
        self._progress.begin(stage, int(texts.tokens[first_rows[missing]].sum()), "tokens")
        try:
            self._compute(stage, texts, Encoded(hashes, recall.vectors, first_rows, len(missing)), missing)
        finally:
            self._progress.end()
        return Encoded(hashes, recall.vectors, row, len(missing))

    def _compute(self, stage: str, texts: Texts, found: Encoded, missing: Rows) -> None:
        """Fill in the missing vectors, task by task; ``found.row`` is the first text of each."""
        encoder = self._engine.batch_encoder(self.encoder, len(missing))

        def one(task: Rows) -> None:
            given = [texts.text_at(row) for row in found.row[task].tolist()]
            made = encoder.encode(given, self._progress.advance, as_queries=texts.as_queries)
            self._kept.add(found.hashes.take(pa.array(task)), made)
            found.vectors[task] = made

        self._driver.map(stage, one, _tasks(missing, encoder.at_once), encoder.at_once)


def _longest_first(missing: Rows, tokens: Rows, hashes: pa.StringArray) -> Rows:
    """Return the missing texts, the longest first, ties by hash.

    So the estimate of the time left errs on the safe side, and the end has no straggler.
    """
    given = pa.table({"tokens": tokens[missing], "hash": hashes.take(pa.array(missing))})
    order = pc.sort_indices(given, sort_keys=[("tokens", "descending"), ("hash", "ascending")])
    sorted_rows: Rows = missing[order.to_numpy()]
    return sorted_rows


def _tasks(missing: Rows, at_once: int) -> list[Rows]:
    # Of many workers each gets a few tasks, of a small corpus each gets one.
    most = max(_MAX_TASKS, _TASKS_EACH * at_once)
    size = max(min(_MIN_TEXTS_PER_TASK, -(-len(missing) // at_once)), _FEWEST_TEXTS, -(-len(missing) // most))
    return [missing[at : at + size] for at in range(0, len(missing), size)]


def query_hash(prompt: str, text: str) -> str:
    """Return the content hash of a text that is encoded as a query with this prompt in front."""
    return text_hash(f"query\0{prompt}\0{text}")


def key_of(model_sha256: str, precision: str, device: str) -> tuple[str, ...]:
    """Return the part of a vector's key that does not depend on its text."""
    return (model_sha256, precision, device, str(embed.VERSION))
