"""The pass ``counts``: how often the shard's documents use which terms, and what queries are learned from.

The words of links count for the document that they lead to, so this pass needs the links of all shards.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from ...artifacts.cache.parsed_corpus import ParsedCorpus
from ...artifacts.tables.schemas import acronyms_table
from ...artifacts.tables.vector_columns import fixed_size_lists
from ...pipeline.embedding.encoder import Vectors
from ...pipeline.identity import combined_hash, text_hash
from ...pipeline.lexical.bm25f import CorpusStatistics, Floats, LexicalIndex
from ...pipeline.lexical.field_counts import FieldCounts
from ...pipeline.model import ResolvedLink
from ...pipeline.settings.settings import FIELDS, Settings, StaticEncoderSettings
from ...pipeline.vocabulary.acronyms import merge
from ...pipeline.vocabulary.concepts import spellings
from ..run.versions import code_version
from ..run.workers import Begin, WorkStep, unwatched
from ..stages.embedding import training_texts
from ..stages.embedding.encode import Encoded
from ..stages.lexical import Counts, passages_each, passages_without_headings, surface_rows
from ..stages.parse_batch import stemmed_language
from .linking import incoming_links
from .listing import listing_of
from .plan import ShardPlan
from .survey import require_same
from .worker import ShardTask, execution, receipt

NAME = "counts"
_MAX_TITLES = 50_000


def count_shard(task: ShardTask, begin: Begin = unwatched) -> pa.Table:
    """Count terms, spellings and acronyms, and pick training texts; leave them to be merged."""
    begin(WorkStep(0))
    if (found := task.done(task.files, NAME, task.key)) is not None:
        return receipt(found)
    links = incoming_links(task)
    wanted = ("parsed", "corpus", "anchors", "prose", "code", "vectors", "centroids")
    with execution(task, listing_of(task), *wanted, links=links) as made:
        require_same(task, made)
        parsed, corpus, anchors, prose, code, vectors, centroids = map(made.make, wanted)
    each = passages_each(corpus.documents, corpus.passages)
    tables = {
        "terms": frequency_table(prose),
        "code_terms": frequency_table(code),
        "surfaces": surface_rows([parsed.prose, anchors]),
        "forms": _forms(parsed.prose),
        "acronyms": acronyms_table(merge(parsed.acronyms)),
        **_training_tables(corpus, links, vectors, centroids, task.settings.static_encoder),
    }
    values = {
        "lengths": _total_lengths(parsed, anchors, each),
        "code_lengths": _sum(parsed.code),
        "passages": len(corpus.passages),
        "without_headings": passages_without_headings(corpus.passages, each),
    }
    return receipt(task.files.write(NAME, task.key, tables, **values))


def keys_of(
    surveys: Mapping[str, Mapping[str, Any]],
    links: Mapping[str, Mapping[str, Any]],
    plan: ShardPlan,
    settings: Settings,
) -> dict[str, str]:
    """Return what the counts of each shard depend on: its own documents, and the links that lead to it."""
    shared, found = [settings.fingerprint(), code_version()], {}
    for name, record in surveys.items():
        at = plan.names.index(name)
        coming = [f"{other} {each['values']['digests'][at]}" for other, each in links.items()]
        found[name] = combined_hash([record["values"]["content"], *coming, *shared])
    return found


def frequency_table(counted: LexicalIndex | CorpusStatistics) -> pa.Table:
    """Return how many passages contain each term, as rows."""
    frequency = pa.array(counted.frequency, pa.int64())
    return pa.table({"term": pa.array(counted.terms, pa.string()), "passages": frequency})


def _sum(counts: FieldCounts) -> list[int]:
    total: list[int] = counts.lengths.sum(axis=0, dtype=np.int64).tolist()
    return total


def _total_lengths(parsed: ParsedCorpus, anchors: FieldCounts, each: Counts) -> list[int]:
    """Return the summed length of each field; each passage of a document has its anchor texts."""
    total = _sum(parsed.prose)
    total[FIELDS.index("anchors")] = int(anchors.lengths[:, 0].astype(np.int64) @ each)
    return total


def _forms(counts: FieldCounts) -> pa.Table:
    """Return how often each index term is written in which way."""
    rows = list(spellings(counts))
    terms, surfaces, numbers = zip(*rows, strict=True) if rows else ((), (), ())
    return pa.table(
        {
            "term": pa.array(terms, pa.string()),
            "surface": pa.array(surfaces, pa.string()),
            "count": pa.array(numbers, pa.int64()),
        }
    )


def _training_tables(
    corpus: ParsedCorpus,
    links: Iterable[ResolvedLink],
    vectors: Encoded,
    centroids: Vectors,
    settings: StaticEncoderSettings,
) -> dict[str, pa.Table]:
    """Return the texts of this shard that the static encoder may be fitted to, each kind with its hashes."""
    given = list(links)
    picked = training_texts.picked_passages(corpus.documents, corpus.passages, settings)
    hashes = corpus.passages["content_hash"].take(pa.array(picked.rows)).to_pylist()
    # The language is that of the document that a link leads to: the other one may be in another shard.
    here = [replace(each, source_id=each.target_id) for each in given if each.target_id is not None]
    phrases = training_texts.phrases(corpus.documents, corpus.sections, here, settings)
    spans = training_texts.spans(corpus.documents, corpus.passages, settings)
    return {
        "training-passages": _text_table(picked.training, hashes, vectors.vectors[vectors.row[picked.rows]]),
        "training-phrases": _text_table(phrases, [text_hash(text) for text in phrases.texts]),
        "training-spans": _text_table(spans, [text_hash(text) for text in spans.texts]),
        **_names(corpus, given, centroids),
    }


def _names(corpus: ParsedCorpus, links: Iterable[ResolvedLink], centroids: Vectors) -> dict[str, pa.Table]:
    """Return the texts of links and the titles, each with the centroid of the document that it names."""
    documents = corpus.documents
    named = training_texts.names(documents, list(links))
    rows, ids = list(named.documents), documents["doc_id"].to_pylist()
    keys = [text_hash(f"{text}\n{ids[row]}") for text, row in zip(named.training.texts, rows, strict=True)]
    titles = documents["title"].to_pylist()[:_MAX_TITLES]
    languages = [stemmed_language(each) for each in documents["language"].to_pylist()]
    every = training_texts.TextsWithLanguages(tuple(titles), tuple(languages[: len(titles)]))
    return {
        "training-anchors": _text_table(named.training, keys, centroids[rows]),
        "training-titles": _text_table(every, [text_hash(each) for each in titles], centroids[: len(titles)]),
    }


def _text_table(
    training: training_texts.TextsWithLanguages, hashes: list[str], vectors: Vectors | None = None
) -> pa.Table:
    columns: dict[str, pa.Array] = {
        "hash": pa.array(hashes, pa.string()),
        "text": pa.array(training.texts, pa.string()),
        "language": pa.array(training.languages, pa.string()),
    }
    return pa.table(columns | ({} if vectors is None else {"vector": fixed_size_lists(vectors)}))


def mean_over(totals: Iterable[Sequence[int]], texts: int) -> Floats:
    """Return the mean length of each field over all texts, given the sums of each shard."""
    each = np.array(list(totals), dtype=np.int64)
    return each.sum(axis=0) / texts if texts else np.ones(each.shape[1])
