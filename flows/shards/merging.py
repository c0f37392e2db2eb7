"""What the driver merges from all shards between the passes, kept for the shards and for the next night.

While the statistics of the corpus drift less than the settings allow, they are left as they are, with
vocabulary, query encoder and communities: only shards with changes of their own are written again.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ...artifacts.tables.schemas import communities_table
from ...pipeline.communities import communities
from ...pipeline.errors import ArtifactError
from ...pipeline.identity import combined_hash
from ...pipeline.lexical.bm25f import CorpusStatistics
from ...pipeline.settings.settings import Settings
from ..run.context import RunContext
from ..stages.encode import Encoding
from . import link_graph, statistics
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
    drift: float


def merge_corpus(
    run: RunContext, shards: Sequence[PassFiles], encoding: Encoding, keys: Sequence[str]
) -> CorpusTables:
    """Return what belongs to the whole corpus, made anew unless it is as it was, or nearly so.

    ``keys`` are those of the counts of all shards.
    """
    files, settings = of_corpus(run.store), run.settings
    key = combined_hash([settings.fingerprint(), encoding.encoder.model.sha256, *keys])
    found = statistics.merged(shards)
    kept = _kept(files, settings, encoding)
    moved = statistics.drift(kept.prose, found.prose) if kept is not None else 1.0
    if files.recorded(STATISTICS, key) is not None:
        return CorpusTables(files.values(STATISTICS)["made"], found, files, 0.0)
    if kept is not None and moved <= settings.shards.drift:
        _log.info("statistics of the corpus are kept: scores drifted by %.2g", moved)
        made = files.values(STATISTICS)["made"]
        return CorpusTables(made, _extended(kept, found), files, moved)
    return CorpusTables(_made(run, shards, found, encoding, files, key), found, files, 0.0)


def _made(
    run: RunContext,
    shards: Sequence[PassFiles],
    found: Merged,
    encoding: Encoding,
    files: PassFiles,
    key: str,
) -> str:
    """Make the tables of the corpus anew; return the key that stands for them."""
    links = link_graph.link_graph(shards)
    clusters = communities.find_clusters(links, run.settings.communities)
    partition = link_graph.named_communities(
        shards, clusters, links, found.index(), found.prose.texts, run.settings
    )
    terms, words, vocabulary = statistics.vocabulary(shards, found, encoding, run.settings)
    tables = {
        "terms": _frequencies(found.prose),
        "code_terms": _frequencies(found.code),
        "vocabulary": vocabulary,
        "term_vectors": statistics.term_vectors(shards, found, terms, words, encoding, run.settings),
        "members": link_graph.members_table(partition),
        "communities": communities_table(partition.communities),
    }
    values: dict[str, Any] = {
        "texts": found.prose.texts,
        "terms": found.prose.lengths.tolist(),
        "code_terms": found.code.lengths.tolist(),
        "fingerprint": _fingerprint(run.settings, encoding),
        "made": key,
    }
    files.write(STATISTICS, key, tables, **values)
    return key


def _fingerprint(settings: Settings, encoding: Encoding) -> str:
    return combined_hash([settings.fingerprint(), encoding.encoder.model.sha256])


def _frequencies(found: CorpusStatistics) -> pa.Table:
    return pa.table(
        {"term": pa.array(found.terms, pa.string()), "passages": pa.array(found.frequency, pa.int64())}
    )


def _kept(files: PassFiles, settings: Settings, encoding: Encoding) -> Merged | None:
    """Return the statistics that shards were last built with, if of these settings and this model."""
    if settings.shards.drift == 0:
        return None
    try:
        values = files.values(STATISTICS)
        if files.recorded(STATISTICS, values["made"]) is None or values["fingerprint"] != _fingerprint(
            settings, encoding
        ):
            return None
        return Merged(*(read_statistics(files, name) for name in ("terms", "code_terms")))
    except (ArtifactError, LookupError):
        return None


def read_statistics(files: PassFiles, table: str) -> CorpusStatistics:
    """Return the statistics of prose (``terms``) or code (``code_terms``) that shards are scored with."""
    rows, values = files.read(table), files.values(STATISTICS)
    lengths, terms = np.array(values[table], dtype=np.float64), tuple(rows["term"].to_pylist())
    return CorpusStatistics(values["texts"], lengths, terms, rows["passages"].to_numpy())


def _extended(kept: Merged, found: Merged) -> Merged:
    """Return the kept statistics and new terms, which a shard counts for itself until all are made anew."""
    return Merged(*(_with_new_terms(*pair) for pair in ((kept.prose, found.prose), (kept.code, found.code))))


def _with_new_terms(kept: CorpusStatistics, found: CorpusStatistics) -> CorpusStatistics:
    known = kept.frequencies(found.terms)
    return CorpusStatistics(
        kept.texts, kept.lengths, found.terms, np.where(known > 0, known, found.frequency)
    )


def corpus_keys(counts: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return what the tables of the corpus depend on."""
    return [f"{name} {record['key']}" for name, record in sorted(counts.items())]
