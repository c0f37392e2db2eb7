"""An engine on a cluster: batches go out as jobs, results come back as files in a shared folder."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast
from uuid import uuid4

import numpy as np
import pyarrow as pa

from ...pipeline.embedding.encoder import Progress, TransformerEncoder, Vectors
from ...pipeline.errors import EngineUnavailable
from ...pipeline.settings.settings import Embed, Settings
from ..run.workers import Begin, WorkerFailed, Workers
from . import BatchEncoder, Caller, exchange
from .environment import DriverEnvironment, driver_environment
from .exchange import Receipt
from .jobs import TOKENS, EncodeJob, Outcome, ParseJob
from .local import LocalEncoder

A = TypeVar("A")
T = TypeVar("T")
# One machine has these encoded before a cluster has started.
_FEW_TEXTS = 128
_log = logging.getLogger("noctule")


class Cluster(Protocol):
    """A cluster that runs ``noctule.flows.engines.jobs.run`` on its workers."""

    @property
    def slots(self) -> int:
        """Return how many jobs to keep in flight: two per worker, so that none waits for the driver."""

    def submit(self, job: ParseJob | EncodeJob) -> Outcome:
        """Return the outcome; raise ``WorkerFailed`` if it crashed several workers, ``EngineUnavailable``."""

    def close(self) -> None:
        """Release what the workers hold; a cluster that was started for this run ends."""


def unavailable(kind: str, address: str, what: str) -> EngineUnavailable:
    """Return the error for a cluster that cannot be reached, named as in the settings."""
    return EngineUnavailable(
        what,
        where=f"{kind}://{address}" if address else kind,
        hint="Start it (docs/guide/many-machines.md), or take this machine: --engine processes",
    )


class ClusterEngine:
    """An engine whose cluster is contacted when the first batch needs it: an unchanged night starts none."""

    def __init__(self, settings: Settings, folder: Path, connect: Callable[[], Cluster]) -> None:
        self._embed, self._folder, self._connect = settings.embed, folder, connect
        self._starting = threading.Lock()
        self._cluster: Cluster | None = None
        self._environment: DriverEnvironment | None = None

    @contextmanager
    def workers(self, batches: int) -> Iterator[Caller]:
        """Yield the cluster's workers; for a single batch, a process of this machine."""
        if batches > 1:
            yield _ClusterCaller(self._reached(), self.environment, self._folder)
        else:
            with Workers(1) as workers:
                yield workers

    def prepare(self, encoder: TransformerEncoder, files: int) -> None:
        """Do nothing: workers load the model with their first texts, and so does this process."""

    def batch_encoder(self, encoder: TransformerEncoder, texts: int) -> BatchEncoder:
        """Return the cluster's workers, with the driver's model and device; for a few texts, its encoder."""
        if texts <= _FEW_TEXTS:
            return LocalEncoder(encoder)
        embed = self._embed.model_copy(
            update={"precision": encoder.precision, "device": encoder.device, "workers": 1}
        )
        return ClusterEncoder(self, encoder, embed, self._folder)

    @property
    def environment(self) -> DriverEnvironment:
        """Return what workers must have in common with this process."""
        with self._starting:
            if self._environment is None:
                self._environment = driver_environment(self._folder, uuid4().hex)
            return self._environment

    def slots(self) -> int:
        """Return how many jobs to keep in flight now."""
        return self._reached().slots

    def submit(self, job: ParseJob | EncodeJob) -> Receipt:
        """Return the receipt; raise what the job raised, ``WorkerFailed`` or ``EngineUnavailable``."""
        return _receipt(self._reached().submit(job))

    def _reached(self) -> Cluster:
        with self._starting:
            if self._cluster is None:
                self._cluster = self._connect()
            return self._cluster

    def close(self) -> None:
        """End what was started."""
        if self._cluster is not None:
            self._cluster.close()


def _receipt(outcome: Outcome) -> Receipt:
    if outcome.receipt is None:
        raise outcome.error or WorkerFailed("gave no answer")
    return outcome.receipt


@dataclass(frozen=True, slots=True)
class _ClusterCaller:
    """The workers of a cluster, for stages whose results are tables."""

    cluster: Cluster
    environment: DriverEnvironment
    folder: Path

    @property
    def count(self) -> int:
        return self.cluster.slots

    def watch(self, stage: Callable[[A, Begin], T], batch: A, limit_s: float) -> T:
        job = ParseJob(cast(Callable[[Any, Begin], Any], stage), batch, limit_s, self.environment)
        receipt = _receipt(self.cluster.submit(job))
        found = exchange.table_of(exchange.take(self.folder, receipt))
        exchange.drop(self.folder, receipt)
        return cast(T, found)


class ClusterEncoder:
    """An encoder on the workers; a batch that crashed several of them is encoded here."""

    def __init__(
        self, engine: ClusterEngine, encoder: TransformerEncoder, embed: Embed, folder: Path
    ) -> None:
        self._engine, self._encoder, self._embed, self._folder = engine, encoder, embed, folder

    @property
    def at_once(self) -> int:
        """Return as many as keep the workers busy."""
        return self._engine.slots()

    def encode(self, texts: Sequence[str], progress: Progress, *, as_queries: bool) -> Vectors:
        """Return the vectors that a worker wrote; raise ``EngineUnavailable``."""
        content = exchange.table_bytes(pa.table({"text": pa.array(texts, type=pa.string())}))
        given = exchange.put(self._folder, content)
        environment, model = self._engine.environment, self._encoder.model
        try:
            receipt = self._engine.submit(
                EncodeJob(given, self._embed, model.sha256, as_queries, environment)
            )
        except WorkerFailed as failure:
            _log.warning("%d texts are encoded on this machine: a worker %s", len(texts), failure)
            return self._encoder.encode(texts, progress, as_queries=as_queries)
        table = exchange.table_of(exchange.take(self._folder, receipt))
        column = table.column("vector").combine_chunks()
        exchange.drop(self._folder, given)
        exchange.drop(self._folder, receipt)
        progress(int(table.schema.metadata[TOKENS.encode()]))
        return np.array(column.values, dtype=np.float32).reshape(len(texts), self._encoder.dimension)
