"""Stand-ins for benchmarks: vectors without a model, also in the workers that build shards, and steps that
record the memory of each stage.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from bench.children import held_kb_of_session
from noctule.flows.engines import Caller
from noctule.flows.engines.local import LocalEncoder
from noctule.flows.run.plain import PlainDriver
from noctule.flows.run.workers import Begin, Workers
from noctule.flows.stages.embedding import encode
from noctule.pipeline.embedding.encoder import TransformerEncoder
from noctule.pipeline.settings.settings import Embed

A = TypeVar("A")
T = TypeVar("T")
Vectors = npt.NDArray[np.float32]
_OTHER, _NOISE = np.float32(0.3), np.float32(0.3)
_PAGE_MB = 4096 / 2**20
_SAMPLE_S = 0.2
_OTHERS_EACH = 10  # samples of this process for one of all others, which takes tens of milliseconds


class StandIn:
    """An encoder with the model's tokens and name, whose vectors depend on a hash of the text."""

    def __init__(self, encoder: TransformerEncoder, base: Vectors) -> None:
        self.model, self.precision, self.device = encoder.model, encoder.precision, encoder.device
        self.dimension, self.count_tokens = encoder.dimension, encoder.count_tokens
        self.is_loaded = True
        self._base = base

    def load(self) -> None:
        """Do nothing: there is no model to load."""

    def encode(
        self,
        texts: Sequence[str],
        progress: Callable[[int], None] | None = None,
        *,
        as_queries: bool = False,  # noqa: ARG002
    ) -> Vectors:
        """Return unit float32 rows: a real vector, a little of another, noise; the same for equal texts."""
        seeds = np.array([_seeds(text) for text in texts], dtype=np.uint64)
        rows = (seeds % np.uint64(len(self._base))).astype(np.int64)
        noise = np.stack([_noise(int(seed), self.dimension) for seed in seeds[:, 1]])
        mixed = self._base[rows[:, 0]] + _OTHER * self._base[rows[:, 1]] + _NOISE * noise
        if progress:
            progress(len(texts))
        unit: Vectors = mixed / np.linalg.norm(mixed, axis=1, keepdims=True)
        return unit.astype(np.float32, copy=False)


def _seeds(text: str) -> tuple[int, int]:
    digest = blake2b(text.encode(), digest_size=16).digest()
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little")


def _noise(seed: int, dimension: int) -> Vectors:
    noise = np.random.Generator(np.random.SFC64(seed)).standard_normal(dimension, dtype=np.float32)
    unit: Vectors = noise / np.linalg.norm(noise)
    return unit


def use_stand_in(vectors: Path) -> None:
    """Let all builds of this process encode with the stand-in, over the vectors in a file."""
    setattr(encode, TransformerEncoder.__name__, partial(_stand_in, vectors))


def _stand_in(vectors: Path, embed: Embed) -> StandIn:
    return StandIn(TransformerEncoder(embed), np.load(vectors, mmap_mode="r"))


class StandInEngine:
    """An engine of one machine whose workers encode with the stand-in too."""

    def __init__(self, vectors: Path) -> None:
        self._vectors = vectors

    @contextmanager
    def workers(self, batches: int) -> Iterator[Caller]:
        """Yield callers of processes beside this one."""
        with Workers(batches) as workers:
            yield _StandInCaller(workers, self._vectors)

    def prepare(self, encoder: TransformerEncoder, files: int) -> None:
        """Do nothing: there is no model to load."""

    def batch_encoder(self, encoder: TransformerEncoder, texts: int) -> LocalEncoder:  # noqa: ARG002
        """Return the encoder itself."""
        return LocalEncoder(encoder)


class _StandInCaller:
    def __init__(self, workers: Workers, vectors: Path) -> None:
        self.count, self._workers, self._vectors = workers.count, workers, vectors

    def watch(self, stage: Callable[[A, Begin], T], batch: A, limit_s: float) -> T:
        return self._workers.watch(_with_stand_in, (self._vectors, stage, batch), limit_s)


def _with_stand_in(call: tuple[Path, Callable[[Any, Begin], T], Any], begin: Begin) -> T:
    vectors, stage, batch = call
    use_stand_in(vectors)
    return stage(batch, begin)


class Watched(PlainDriver):
    """Plain driver that records the peak of anonymous memory in each stage: of this process, and of others.

    Pages of mapped files are left out: the kernel can take them back. The others are those of the session.
    """

    def __init__(self) -> None:
        super().__init__()
        self._peaks: dict[str, float] = {}
        self._others: dict[str, float] = {}
        self._stages = ["between stages"]
        threading.Thread(target=self._watch, daemon=True).start()

    def peaks(self) -> dict[str, float]:
        """Return the megabytes of this process by stage."""
        return dict(self._peaks)

    def peaks_of_others(self) -> dict[str, float]:
        """Return the megabytes of the other processes together by stage."""
        return dict(self._others)

    @contextmanager
    def measure(self, stage: str) -> Iterator[None]:
        """Time the block as a run of ``stage``."""
        self._stages.append(stage)
        try:
            with super().measure(stage):
                yield
        finally:
            self._stages.pop()

    def _watch(self) -> None:
        pause, sample = threading.Event(), 0
        while not pause.wait(_SAMPLE_S):
            _, held, of_files, *_ = map(int, Path("/proc/self/statm").read_text().split())
            _note(self._peaks, self._stages[-1], (held - of_files) * _PAGE_MB)
            sample += 1
            if sample % _OTHERS_EACH == 0:
                others = held_kb_of_session(os.getsid(0), without=os.getpid())
                _note(self._others, self._stages[-1], sum(each.get("Pss_Anon", 0) for each in others) / 1024)


def _note(peaks: dict[str, float], stage: str, held_mb: float) -> None:
    peaks[stage] = max(held_mb, peaks.get(stage, 0.0))
