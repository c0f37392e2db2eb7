"""Stand-ins for benchmarks: vectors without a model, and steps that record the memory of each stage."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from noctule.flows.run.plain import PlainDriver
from noctule.pipeline.embedding.encoder import TransformerEncoder

if TYPE_CHECKING:
    from collections.abc import Iterator

Vectors = npt.NDArray[np.float32]
_OTHER, _NOISE = np.float32(0.3), np.float32(0.3)
_PAGE_MB = 4096 / 2**20
_SAMPLE_S = 0.2


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


class Watched(PlainDriver):
    """Plain driver that records the peak of this process's anonymous memory in each stage.

    Pages of mapped files are left out: the kernel can take them back.
    """

    def __init__(self) -> None:
        super().__init__()
        self._peaks: dict[str, float] = {}
        self._stages = ["between stages"]
        threading.Thread(target=self._watch, daemon=True).start()

    def peaks(self) -> dict[str, float]:
        """Return megabytes by stage."""
        return dict(self._peaks)

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
        pause = threading.Event()
        while not pause.wait(_SAMPLE_S):
            _, held, of_files, *_ = map(int, Path("/proc/self/statm").read_text().split())
            held_mb = (held - of_files) * _PAGE_MB
            stage = self._stages[-1]
            self._peaks[stage] = max(held_mb, self._peaks.get(stage, 0.0))
