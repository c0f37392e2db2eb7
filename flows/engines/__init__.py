"""Engines, which compute batches: in this process, in processes of this machine, or on a cluster.

Prefect stays on the driver: one of its tasks hands a batch to the engine and waits. The snapshot does not
depend on the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

from ...pipeline.embedding.encoder import Progress, TransformerEncoder, Vectors
from ..run.workers import Begin

A = TypeVar("A")
T = TypeVar("T")


class Caller(Protocol):
    """A caller that computes a stage on a batch elsewhere; ``count`` batches at a time keep it busy."""

    @property
    def count(self) -> int:
        """Return the number of calls to make at a time."""

    def watch(self, stage: Callable[[A, Begin], T], batch: A, limit_s: float) -> T:
        """Return ``stage(batch, begin)``; raise what the stage raised.

        Raise ``WorkerFailed`` where an item that it began took over ``limit_s`` seconds of processor time.
        """


class BatchEncoder(Protocol):
    """An encoder of texts, here or elsewhere; ``at_once`` calls at a time keep it busy."""

    @property
    def at_once(self) -> int:
        """Return the number of calls to make at a time."""

    def encode(self, texts: Sequence[str], progress: Progress, *, as_queries: bool) -> Vectors:
        """Return unit float32 rows, one per text, bit for bit those of the driver's own encoder."""


class Engine(Protocol):
    """An engine that computes batches; raises ``EngineUnavailable`` if it cannot be reached."""

    def workers(self, batches: int) -> AbstractContextManager[Caller]:
        """Return callers for a stage of ``batches`` batches, for the duration of the block."""

    def prepare(self, encoder: TransformerEncoder, files: int) -> None:
        """Start to load the model where it will be needed, given how many files have changed."""

    def batch_encoder(self, encoder: TransformerEncoder, texts: int) -> BatchEncoder:
        """Return an encoder for ``texts`` texts that encodes as ``encoder`` does."""
