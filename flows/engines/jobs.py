"""The job that a cluster's worker runs: paths and hashes go in, the receipt of a file comes out."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from ...artifacts.tables.vector_columns import fixed_size_lists
from ...pipeline.embedding.encoder import TransformerEncoder, available_cores
from ...pipeline.errors import EngineUnavailable
from ...pipeline.settings.settings import Embed
from ..run.workers import Begin, Workers
from . import exchange
from .environment import DriverEnvironment
from .exchange import Receipt

TOKENS = "tokens"
# This process's parsers, from the first job to ``release``.
_kept: list[Workers] = []
_starting = threading.Lock()


@dataclass(frozen=True, slots=True)
class ParseJob:
    """A stage to compute on a batch of files, in a process that can be killed at the limit of an item."""

    stage: Callable[[Any, Begin], pa.Table]
    batch: Any
    limit_s: float
    environment: DriverEnvironment


@dataclass(frozen=True, slots=True)
class EncodeJob:
    """A file of texts to encode, with the model as the driver has it."""

    texts: Receipt
    embed: Embed
    model_sha256: str
    as_queries: bool
    environment: DriverEnvironment


@dataclass(frozen=True, slots=True)
class Outcome:
    """A receipt of what was computed, or the error: a value, since engines carry exceptions differently."""

    receipt: Receipt | None
    error: Exception | None = None


def run(job: ParseJob | EncodeJob, threads: int = 1) -> Outcome:
    """Return the outcome of the job, run in this worker process with at most ``threads`` threads."""
    try:
        job.environment.require_same()
        threads = max(1, min(threads, available_cores()))
        return Outcome(_parse(job, threads) if isinstance(job, ParseJob) else _encode(job, threads))
    except Exception as error:  # the driver raises it
        return Outcome(None, error)


def _parse(job: ParseJob, threads: int) -> Receipt:
    return _parsers(threads).watch(
        partial(_stored, job.stage, job.environment.folder), job.batch, job.limit_s
    )


def _stored(stage: Callable[[Any, Begin], pa.Table], folder: Path, batch: Any, begin: Begin) -> Receipt:
    return exchange.put(folder, exchange.table_bytes(stage(batch, begin)))


def _parsers(threads: int) -> Workers:
    with _starting:
        if not _kept:
            # Dask starts its workers as daemons, which may not have children; ours end with the pipe to this
            # process.
            multiprocessing.current_process().daemon = False
            _kept.append(Workers(threads))
        return _kept[0]


def _encode(job: EncodeJob, threads: int) -> Receipt:
    encoder = _encoder(job.embed.model_copy(update={"workers": threads}))
    if encoder.model.sha256 != job.model_sha256:
        raise EngineUnavailable(
            f"a worker's model {encoder.model.name} differs: SHA-256 {encoder.model.sha256}",
            where=str(encoder.model.folder),
            hint=f"It must be that of the driver: {job.model_sha256}.",
        )
    texts = exchange.table_of(exchange.take(job.environment.folder, job.texts)).column("text").to_pylist()
    tokens: list[int] = []
    vectors = encoder.encode(texts, tokens.append, as_queries=job.as_queries)
    table = pa.table({"vector": fixed_size_lists(vectors)}, metadata={TOKENS: str(sum(tokens))})
    return exchange.put(job.environment.folder, exchange.table_bytes(table))


@lru_cache(maxsize=1)
def _encoder(embed: Embed) -> TransformerEncoder:
    return TransformerEncoder(embed)


def release() -> None:
    """End parser processes and unload the model: the run is over, and the worker may be idle for days."""
    with _starting:
        while _kept:
            _kept.pop().close()
    _encoder.cache_clear()
