"""What belongs to the whole corpus, merged from its shards: term statistics, vocabulary, static encoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...artifacts.tables.parquet import tuples
from ...artifacts.tables.schemas import (
    ACRONYMS,
    SURFACES,
    TERMS,
    acronyms_table,
    quantized_table,
    term_vectors_schema,
)
from ...artifacts.tables.vector_columns import vector_matrix
from ...pipeline.embedding.static_encoder import TrainingTexts, fit_term_vectors
from ...pipeline.lexical.analyzer import UNSTEMMED
from ...pipeline.lexical.bm25f import CorpusStatistics, LexicalIndex, inverse_frequency
from ...pipeline.settings.settings import Settings
from ...pipeline.vocabulary.acronyms import Acronym, merge
from ...pipeline.vocabulary.concepts import VocabularyTerm, commonest, near_terms, select_terms
from ..stages.embedding.encode import Encoded, Encoding, query_texts, word_texts
from ..stages.embedding.training_texts import MAX_NAMES, TextsWithLanguages, encoded_training_texts, weight_of
from ..stages.lexical import merged_surfaces
from ..stages.tables import vocabulary_tables
from .counting import NAME, mean_over
from .files import PassFiles


@dataclass(frozen=True, slots=True)
class Merged:
    """The statistics of prose and code over all shards."""

    prose: CorpusStatistics
    code: CorpusStatistics

    def index(self) -> LexicalIndex:
        """Return the terms of prose as an index without postings."""
        return without_postings(self.prose)


def merged(shards: Sequence[PassFiles]) -> Merged:
    """Return the statistics of the corpus."""
    values = [files.values(NAME) for files in shards]
    texts = sum(each["passages"] for each in values)
    found = []
    for table, lengths in (("terms", "lengths"), ("code_terms", "code_lengths")):
        terms, frequency = _summed([files.read(table) for files in shards])
        mean = mean_over((each[lengths] for each in values), texts)
        found.append(CorpusStatistics(texts, mean, terms, frequency))
    prose, code = found
    return Merged(replace(prose, without_headings=sum(each["without_headings"] for each in values)), code)


def _summed(parts: Sequence[pa.Table]) -> tuple[tuple[str, ...], np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Return every term once, sorted, with the number of passages over all shards."""
    summed = pa.concat_tables(parts).group_by("term").aggregate([("passages", "sum")])
    names = summed["term"].to_pylist()
    order = sorted(range(len(names)), key=names.__getitem__)
    frequency = summed["passages_sum"].to_numpy()[order].astype(np.int64)
    return tuple(names[at] for at in order), frequency


def without_postings(statistics: CorpusStatistics) -> LexicalIndex:
    """Return an index that knows the terms of a corpus, and none of its passages."""
    terms, none = statistics.terms, np.zeros(0, np.int32)
    return LexicalIndex(
        terms=terms,
        offsets=np.zeros(len(terms) + 1, np.int64),
        passage=none,
        score=none.astype(np.float32),
        fields=none.astype(np.uint16),
        frequency=statistics.frequency,
        idf=inverse_frequency(statistics.frequency, statistics.texts),
    )


def term_table(statistics: CorpusStatistics, highest: Mapping[str, float]) -> pa.Table:
    """Return the terms of the corpus as rows; ``highest`` is the best score of a posting of each."""
    index = without_postings(statistics)
    columns = [
        pa.array(index.terms, pa.string()),
        pa.array(index.frequency, pa.int32()),
        pa.array(index.idf, pa.float64()),
        pa.array([highest.get(term, 0.0) for term in index.terms], pa.float32()),
        pa.array(np.zeros(len(index.terms)), pa.int32()),
    ]
    return pa.Table.from_arrays(columns, schema=TERMS)


def drift(old: CorpusStatistics, new: CorpusStatistics) -> float:
    """Return the mean relative change of a posting's score, by what idf and lengths say.

    Each term counts as often as it has postings, ``Σ n_t · |idf'_t − idf_t| / Σ n_t · idf_t``; added are the
    largest relative change of a field's mean length and the change of the share of texts without headings.
    """
    known = np.flatnonzero(old.frequencies(new.terms))
    terms = [new.terms[at] for at in known.tolist()]
    before = inverse_frequency(old.frequencies(terms), old.texts)
    after = inverse_frequency(new.frequency[known], new.texts)
    total = float(new.frequency[known] @ after) or 1.0
    lengths = np.abs(new.lengths - old.lengths) / np.where(old.lengths > 0, old.lengths, 1.0)
    rarer = float(new.frequency[known] @ np.abs(after - before)) / total
    return rarer + float(lengths.max(initial=0.0)) + abs(_plain_share(new) - _plain_share(old))


def _plain_share(statistics: CorpusStatistics) -> float:
    return statistics.without_headings / max(1, statistics.texts)


def vocabulary(
    shards: Sequence[PassFiles], found: Merged, encoding: Encoding, settings: Settings
) -> tuple[list[VocabularyTerm], Encoded, pa.Table]:
    """Return the words of the concept vocabulary, their vectors, and both as a table."""
    forms = commonest(row for files in shards for row in tuples(files.read("forms")))
    terms = select_terms(found.index(), forms, found.prose.texts, settings.vocabulary)
    words = encoding.encode("vocabulary vectors", word_texts([term.term for term in terms], encoding.encoder))
    near = near_terms(words.vectors[words.row], settings.vocabulary.near_terms)
    return terms, words, vocabulary_tables(terms, words, near)["vocabulary"]


def surfaces(shards: Sequence[PassFiles]) -> pa.Table:
    """Return the words of all shards as they are written, each of each language once."""
    return merged_surfaces(
        pa.concat_tables([SURFACES.empty_table(), *(each.read("surfaces") for each in shards)])
    )


def acronyms(shards: Sequence[PassFiles]) -> pa.Table:
    """Return the acronyms that the shards' documents spell out."""
    rows = pa.concat_tables([ACRONYMS.empty_table(), *(each.read("acronyms") for each in shards)])
    return acronyms_table(merge(Acronym(*row) for row in tuples(rows)))


def term_vectors(
    shards: Sequence[PassFiles],
    found: Merged,
    terms: Sequence[VocabularyTerm],
    words: Encoded,
    encoding: Encoding,
    settings: Settings,
) -> pa.Table:
    """Return the term_vectors table, fitted to texts of all shards as to those of one corpus."""
    wanted = settings.static_encoder
    own = TextsWithLanguages(tuple(term.index_term for term in terms), (UNSTEMMED,) * len(terms))
    training = [
        encoded_training_texts("words", own, words),
        _encoded(shards, "phrases", wanted.phrases, encoding),
        _encoded(shards, "spans", wanted.spans, encoding),
        _known(shards, "passages", wanted.passages),
        _known(shards, "anchors", MAX_NAMES),
        _known(shards, "titles", MAX_NAMES),
    ]
    index = found.index()
    fitted = fit_term_vectors(training, index.terms, index.idf, wanted)
    return quantized_table(fitted, term_vectors_schema)


def _lowest(shards: Sequence[PassFiles], kind: str, most: int) -> pa.Table:
    """Return the texts of a kind with the lowest hashes, each hash once, in their order."""
    rows = pa.concat_tables([files.read(f"training-{kind}") for files in shards])
    hashes = rows["hash"].to_pylist()
    first = {each: at for at, each in reversed(list(enumerate(hashes)))}
    return rows.take(pa.array([first[each] for each in sorted(first)[:most]], pa.int64()))


def _texts_of(rows: pa.Table) -> TextsWithLanguages:
    return TextsWithLanguages(tuple(rows["text"].to_pylist()), tuple(rows["language"].to_pylist()))


def _encoded(shards: Sequence[PassFiles], kind: str, most: int, encoding: Encoding) -> TrainingTexts:
    texts = _texts_of(_lowest(shards, kind, most))
    vectors = encoding.encode(f"{kind} vectors", query_texts(texts.texts, encoding.encoder))
    return encoded_training_texts(kind, texts, vectors)


def _known(shards: Sequence[PassFiles], kind: str, most: int) -> TrainingTexts:
    rows = _lowest(shards, kind, most)
    vectors = vector_matrix(rows["vector"], rows["vector"].type.list_size)
    texts = _texts_of(rows)
    return TrainingTexts(texts.texts, texts.languages, vectors, weight_of(kind))


def only_terms(rows: pa.Table, terms: Sequence[str]) -> pa.Table:
    """Return the rows of the terms that a shard has."""
    return rows.filter(pc.is_in(rows["term"], value_set=pa.array(terms, pa.string())))
