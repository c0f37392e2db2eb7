"""Where batches are computed: in this process, in processes of this machine, or on a cluster.

Prefect stays on the driver: one of its tasks hands a batch to the engine and waits. Whichever engine it is, the
snapshot is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

from ...pipeline.embedding.encoder import Progress, TransformerEncoder, Vectors

A = TypeVar("A")
T = TypeVar("T")


class Caller(Protocol):
    """Computes a stage on a batch, somewhere else; ``count`` batches at a time keep it busy."""

    @property
    def count(self) -> int:
        """How many calls to make at a time."""

    def call(self, stage: Callable[[A], T], batch: A, timeout_s: float) -> T:
        """``stage(batch)``; raises what the stage raised, or ``WorkerFailed`` after a crash or ``timeout_s`` seconds."""


class Coder(Protocol):
    """Encodes texts, here or elsewhere; ``at_once`` calls at a time keep it busy."""

    @property
    def at_once(self) -> int:
        """How many calls to make at a time."""

    def encode(self, texts: Sequence[str], progress: Progress, *, as_queries: bool) -> Vectors:
        """Unit float32 rows, one a text, the same bits as the driver's own encoder gives."""


class Engine(Protocol):
    """Computes batches; raises ``EngineUnavailable`` when it cannot be had, or no worker is left."""

    def workers(self, batches: int) -> AbstractContextManager[Caller]:
        """Callers for a stage of ``batches`` batches, for the block's time."""

    def prepare(self, encoder: TransformerEncoder, files: int) -> None:
        """Begins to load the model, meanwhile, where it will be needed: so many files have changed."""

    def coder(self, encoder: TransformerEncoder, texts: int) -> Coder:
        """What encodes ``texts`` texts as ``encoder`` does."""
