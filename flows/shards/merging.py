"""The pass ``statistics``: what a worker merges from all shards, kept for the shards and for the next night.

While the statistics of the corpus drift less than the settings allow, they are left as they are, with
vocabulary, static encoder and communities: only shards with changes of their own are written again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pyarrow as pa

from ...artifacts.disk.manifest_records import FileEntry, ModelRecord, QueryModel
from ...artifacts.store.store import Store
from ...pipeline.identity import combined_hash
from ...pipeline.lexical.bm25f import CorpusStatistics
from ..engines.open import opened
from ..run.background import Background
from ..run.context import Resources, RunContext
from ..run.plain import PlainDriver
from ..run.stage import Silent
from ..run.workers import Begin, WorkStep, unwatched
from ..stages.embedding.encode import Encoding, open_encoding
from ..stages.embedding.query_model import export_query_model
from . import statistics
from .counting import frequency_table
from .files import PassFiles
from .statistics import Merged
from .worker import ShardTask, receipt

NAME = "statistics"


def merge_shards(task: ShardTask, begin: Begin = unwatched) -> pa.Table:
    """Export the model that encodes queries, and make what belongs to the whole corpus, unless it is known.

    The receipt says which models these are, under which key the corpus has its tables, and by how much
    scores have drifted since they were made.
    """
    begin(WorkStep(0))
    with _encoding(task) as (run, encoding):
        exported = task.model or export_query_model(run, Store(task.store), encoding)
        key, drift = _merged(task, encoding)
        encoder = encoding.encoder
        model = ModelRecord(encoder.model.name, encoder.model.sha256, encoder.dimension, encoder.precision)
    values = {"query_model": asdict(exported), "model": asdict(model), "drift": drift}
    return receipt({"key": key, "values": values})


@contextmanager
def _encoding(task: ShardTask) -> Iterator[tuple[RunContext, Encoding]]:
    run = RunContext(task.settings, task.store, task.options)
    with Background() as background, opened(task.settings, Store(task.store)) as engine:
        yield run, open_encoding(run, engine, Resources(PlainDriver(), Silent(), background))


def _merged(task: ShardTask, encoding: Encoding) -> tuple[str, float]:
    """Make the tables of the corpus anew unless they are as they were, or nearly so; return key and drift."""
    files, wanted = task.corpus, task.settings
    fingerprint = combined_hash([wanted.fingerprint(), encoding.encoder.model.sha256])
    key = combined_hash([fingerprint, task.key])
    before = None if task.repeat else files.recorded(NAME)
    if before is not None and before["key"] == key:
        return key, 0.0
    found = statistics.merged(task.files_of_shards)
    if before is not None and before["values"]["fingerprint"] == fingerprint and wanted.shards.drift > 0:
        kept = PassFiles(files.folder, {NAME: before["key"]})
        moved = statistics.drift(read_statistics(kept, "terms"), found.prose)
        if moved <= wanted.shards.drift:
            return before["key"], moved
    values: dict[str, Any] = {
        "texts": found.prose.texts,
        "terms": found.prose.lengths.tolist(),
        "code_terms": found.code.lengths.tolist(),
        "without_headings": found.prose.without_headings,
        "fingerprint": fingerprint,
    }
    files.write(NAME, key, _tables(task, found, encoding), **values)
    return key, 0.0


def _tables(task: ShardTask, found: Merged, encoding: Encoding) -> dict[str, pa.Table]:
    """Return the tables of the corpus, made anew."""
    shards = task.files_of_shards
    terms, words, vocabulary = statistics.vocabulary(shards, found, encoding, task.settings)
    return {
        "terms": frequency_table(found.prose),
        "code_terms": frequency_table(found.code),
        "vocabulary": vocabulary,
        "term_vectors": statistics.term_vectors(shards, found, terms, words, encoding, task.settings),
    }


def exported_model(record: Mapping[str, Any]) -> QueryModel:
    """Return the model that encodes queries, as the receipt says it."""
    value = record["values"]["query_model"]
    files = {name: FileEntry(**entry) for name, entry in value["files"].items()}
    return QueryModel(**value | {"files": files})


def read_statistics(files: PassFiles, table: str) -> CorpusStatistics:
    """Return the statistics of prose (``terms``) or code (``code_terms``) that shards are scored with."""
    rows, values = files.read(table), files.values(NAME)
    lengths, terms = np.array(values[table], dtype=np.float64), tuple(rows["term"].to_pylist())
    frequency = rows["passages"].to_numpy()
    return CorpusStatistics(values["texts"], lengths, terms, frequency, values["without_headings"])


def statistics_of_set(task: ShardTask) -> Merged:
    """Return the statistics kept, and terms new since, which a shard counts for itself until all are made."""
    kept = Merged(*(read_statistics(task.corpus, name) for name in ("terms", "code_terms")))
    found = statistics.merged(task.files_of_shards)
    return Merged(*(_with_new_terms(*pair) for pair in ((kept.prose, found.prose), (kept.code, found.code))))


def _with_new_terms(kept: CorpusStatistics, found: CorpusStatistics) -> CorpusStatistics:
    known = kept.frequencies(found.terms)
    return replace(kept, terms=found.terms, frequency=np.where(known > 0, known, found.frequency))


def corpus_key(counts: Mapping[str, Mapping[str, Any]]) -> str:
    """Return what the tables of the corpus depend on, besides settings and model."""
    return combined_hash(f"{name} {record['key']}" for name, record in sorted(counts.items()))
