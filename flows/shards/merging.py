"""What the driver merges from all shards between the passes, kept for the shards and for the next night.

While the statistics of the corpus drift less than the settings allow, they are left as they are, with
vocabulary, query encoder and communities: only shards with changes of their own are written again.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from ...pipeline.identity import combined_hash
from ...pipeline.lexical.bm25f import CorpusStatistics
from ...pipeline.settings.settings import Settings
from ..run.context import RunContext
from ..stages.encode import Encoding
from . import statistics
from .counting import frequency_table
from .files import PassFiles, of_corpus
from .statistics import Merged

STATISTICS = "statistics"
_log = logging.getLogger("noctule")


@dataclass(frozen=True, slots=True)
class CorpusTables:
    """The tables of the whole corpus, the statistics behind scores, and a key that stands for all of them."""

    key: str
    statistics: Merged
    files: PassFiles


def merge_corpus(
    run: RunContext, shards: Sequence[PassFiles], encoding: Encoding, keys: Sequence[str]
) -> CorpusTables:
    """Return what belongs to the whole corpus, made anew unless it is as it was, or nearly so.

    ``keys`` are those of the counts of all shards.
    """
    files, settings = of_corpus(run.store), run.settings
    fingerprint = combined_hash([settings.fingerprint(), encoding.encoder.model.sha256])
    key, found = combined_hash([fingerprint, *keys]), statistics.merged(shards)
    before = files.recorded(STATISTICS)
    if before is not None and before["key"] == key:
        return CorpusTables(key, found, files)
    if before is not None and before["values"]["fingerprint"] == fingerprint and settings.shards.drift > 0:
        kept = Merged(*(read_statistics(files, name) for name in ("terms", "code_terms")))
        moved = statistics.drift(kept.prose, found.prose)
        if moved <= settings.shards.drift:
            _log.info("statistics of the corpus are kept: scores drifted by %.2g", moved)
            return CorpusTables(before["key"], _extended(kept, found), files)
    tables = _tables(run.settings, shards, found, encoding)
    values: dict[str, Any] = {
        "texts": found.prose.texts,
        "terms": found.prose.lengths.tolist(),
        "code_terms": found.code.lengths.tolist(),
        "without_headings": found.prose.without_headings,
        "fingerprint": fingerprint,
    }
    files.write(STATISTICS, key, tables, **values)
    return CorpusTables(key, found, files)


def _tables(
    settings: Settings, shards: Sequence[PassFiles], found: Merged, encoding: Encoding
) -> dict[str, pa.Table]:
    """Return the tables of the corpus, made anew."""
    terms, words, vocabulary = statistics.vocabulary(shards, found, encoding, settings)
    return {
        "terms": frequency_table(found.prose),
        "code_terms": frequency_table(found.code),
        "vocabulary": vocabulary,
        "term_vectors": statistics.term_vectors(shards, found, terms, words, encoding, settings),
    }


def read_statistics(files: PassFiles, table: str) -> CorpusStatistics:
    """Return the statistics of prose (``terms``) or code (``code_terms``) that shards are scored with."""
    rows, values = files.read(table), files.values(STATISTICS)
    lengths, terms = np.array(values[table], dtype=np.float64), tuple(rows["term"].to_pylist())
    frequency = rows["passages"].to_numpy()
    return CorpusStatistics(values["texts"], lengths, terms, frequency, values["without_headings"])


def _extended(kept: Merged, found: Merged) -> Merged:
    """Return the kept statistics and new terms, which a shard counts for itself until all are made anew."""
    return Merged(*(_with_new_terms(*pair) for pair in ((kept.prose, found.prose), (kept.code, found.code))))


def _with_new_terms(kept: CorpusStatistics, found: CorpusStatistics) -> CorpusStatistics:
    known = kept.frequencies(found.terms)
    return replace(kept, terms=found.terms, frequency=np.where(known > 0, known, found.frequency))


def corpus_keys(counts: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return what the tables of the corpus depend on."""
    return [f"{name} {record['key']}" for name, record in sorted(counts.items())]
