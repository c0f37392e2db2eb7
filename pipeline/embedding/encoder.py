"""Encoding texts as unit float32 vectors, with bits that do not depend on the rest of the batch.

Batches come in a few shapes: texts of one padded length (a multiple of 16 tokens), as many as the token
budget holds. The last batch of a length is padded with empty rows to 256 tokens or slightly more, or to the
whole budget on hardware where a lower batch has not been shown to give the same bits. Each batch is computed
by a single thread, and several batches run at once. A text's vector therefore depends on the text, the model
and the precision, but not on the number of threads, on the other texts, or on how much came from the
embedding store.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from ..settings.settings import Embed
from ..thread_pool import ThreadPool
from .model_files import ends_with_pooling, find, require_known_modules, tokenizer, unsound

if TYPE_CHECKING:
    import torch

Vectors = npt.NDArray[np.float32]
Progress = Callable[[int], None]
Precision = Literal["fp32", "bf16"]
LENGTH_STEP = 16
# Part of the embedding store's key: raise it when the same text would get a different vector.
VERSION = 1
_CUDA_BATCH_FACTOR = 32
# Decision 2: from this size on, the height of a batch changed no bit on x86 processors without AMX.
_LEAST_TOKENS = 256
# Without one of these, Linux has no GPU that torch can use through CUDA: NVIDIA, AMD, or WSL.
_GPU_DEVICES = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")


@dataclass(frozen=True, slots=True)
class _Batch:
    rows: tuple[int, ...]
    length: int
    height: int


class TransformerEncoder:
    """A sentence-transformers model run in batches of fixed shape; it is loaded when it first encodes."""

    def __init__(self, settings: Embed) -> None:
        self.model = find(settings)
        self.precision = resolve_precision(settings)
        self.device = resolve_device(settings.device)
        self._loading = threading.Lock()
        self._loaded: Any = None
        self._tokenizer = tokenizer(self.model)
        on_gpu = self.device != "cpu"
        workers = 1 if on_gpu else settings.workers or available_cores()
        # Shared by all calls of encode: while one finishes its last batches, the next one's keep the other
        # threads busy.
        self._pool = ThreadPool(workers, "encode", initializer=_one_thread)
        self._batch_tokens = settings.batch_tokens * (_CUDA_BATCH_FACTOR if on_gpu else 1)
        self._least_tokens = _LEAST_TOKENS if self._may_be_low() else self._batch_tokens

    @property
    def dimension(self) -> int:
        """Return the number of components of a vector."""
        return self.model.dimension or int(self.network().get_embedding_dimension())

    def _may_be_low(self) -> bool:
        """Return whether a text's vector is known not to depend on the height of its batch."""
        flags = _cpu_flags()
        is_known = bool(flags) and not any(flag.startswith("amx") for flag in flags)
        return self.device == "cpu" and is_known and ends_with_pooling(self.model.folder)

    @property
    def is_loaded(self) -> bool:
        """Return whether the model is in memory."""
        return self._loaded is not None

    def load(self) -> TransformerEncoder:
        """Load the model, which takes seconds, and return this encoder; raises ``ModelUnavailable``."""
        self.network()
        return self

    def network(self) -> Any:
        """Return the loaded network; raises ``ModelUnavailable``."""
        with self._loading:
            if self._loaded is None:
                found = _load(self.model.folder, self.device, self.precision)
                columns, stated = int(found.get_embedding_dimension()), self.model.dimension
                if stated not in (0, columns):
                    raise unsound(self.model.folder, ValueError(f"{columns} dimensions, {stated} stated"))
                self._loaded = found
            return self._loaded

    def encode(
        self, texts: Sequence[str], progress: Progress | None = None, *, as_queries: bool = False
    ) -> Vectors:
        """Return unit float32 rows, shape ``(len(texts), dimension)``.

        ``progress`` is told of finished tokens. Texts are encoded as passages, or as queries for models that
        distinguish the two. May be called from several threads: their batches share the encoder's threads.
        """
        prompt = self.model.query_prompt if as_queries else self.model.passage_prompt
        ids = self._tokenizer.ids([prompt + text for text in texts])
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        pending = {
            self._pool.submit(self._run, [ids[row] for row in batch.rows], batch.length, batch.height): batch
            for batch in plan_batches([len(row) for row in ids], self._batch_tokens, self._least_tokens)
        }
        try:
            for done in as_completed(pending):
                rows = pending[done].rows
                vectors[list(rows)] = done.result()
                if progress:
                    progress(sum(len(ids[row]) for row in rows))
        finally:
            for future in pending:
                future.cancel()
        return vectors

    def encode_query(self, text: str) -> Vectors:
        """Return the unit float32 vector of a query, shape ``(dimension,)``."""
        ids = self._tokenizer.ids([self.model.query_prompt + text])
        row: Vectors = self._run(ids, _padded(len(ids[0])), 1)[0]
        return row

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, without special tokens."""
        return self._tokenizer.count(texts)

    def _run(self, ids: Sequence[Sequence[int]], length: int, height: int) -> Vectors:
        import torch

        features = _features(ids, length, height, self.device)
        with (
            torch.inference_mode(),
            torch.autocast(
                self.device.partition(":")[0], dtype=torch.bfloat16, enabled=self.precision == "bf16"
            ),
        ):
            output = self.network()(features)["sentence_embedding"]
        unit = torch.nn.functional.normalize(output[: len(ids)].float(), dim=1)
        rows: Vectors = unit.cpu().numpy()
        return rows


def _features(ids: Sequence[Sequence[int]], length: int, height: int, device: str) -> dict[str, torch.Tensor]:
    import torch

    tokens = np.zeros((height, length), dtype=np.int64)
    mask = np.zeros((height, length), dtype=np.int64)
    for row, found in enumerate(ids):
        tokens[row, : len(found)] = found
        mask[row, : len(found)] = 1
    mask[len(ids) :, 0] = 1  # a row that attends to nothing is NaN
    return {
        "input_ids": torch.from_numpy(tokens).to(device),
        "attention_mask": torch.from_numpy(mask).to(device),
    }


def plan_batches(lengths: Sequence[int], batch_tokens: int, least_tokens: int) -> Iterator[_Batch]:
    """Yield batches of one padded length each, longest first, so that a run ends with short batches.

    All batches of a length but the last have as many rows as ``batch_tokens`` holds; the last has a multiple
    of the fewest rows that make ``least_tokens``.
    """
    by_length: dict[int, list[int]] = {}
    for row, length in enumerate(lengths):
        by_length.setdefault(_padded(length), []).append(row)
    for length in sorted(by_length, reverse=True):
        rows = by_length[length]
        height, step = max(1, batch_tokens // length), -(-least_tokens // length)
        for at in range(0, len(rows), height):
            part = tuple(rows[at : at + height])
            yield _Batch(part, length, min(height, -(-len(part) // step) * step))


def _padded(length: int) -> int:
    return max(1, -(-length // LENGTH_STEP)) * LENGTH_STEP


def _one_thread() -> None:
    import torch

    torch.set_num_threads(1)


@lru_cache(maxsize=4)
def _load(folder: Path, device: str, precision: Precision) -> Any:
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()
    torch.set_num_threads(1)
    require_known_modules(folder)
    try:
        # Never unpickle: weights come from safetensors, or the model is refused.
        network = SentenceTransformer(
            str(folder), device=device, local_files_only=True, model_kwargs={"use_safetensors": True}
        ).eval()
    except MemoryError:
        raise
    except Exception as error:  # transformers raises many kinds of exception for a broken folder
        raise unsound(folder, error) from error
    if precision == "bf16":
        # Autocast would round these weights again for every batch: converting once gives the same bits 20
        # times faster.
        for module in network.modules():
            if isinstance(module, torch.nn.Linear):
                module.to(torch.bfloat16)
    return network


def resolve_device(device: str) -> str:
    """Return ``cpu`` or ``cuda``; ``auto`` selects a GPU where there is one."""
    if device != "auto":
        return device
    if not _may_have_gpu():
        return "cpu"
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def _may_have_gpu() -> bool:
    """Return whether a GPU is likely enough to spend the seconds that asking torch takes."""
    return sys.platform == "win32" or any(Path(device).exists() for device in _GPU_DEVICES)


def resolve_precision(settings: Embed) -> Precision:
    """Return bf16 where the hardware multiplies it natively, unless the settings say otherwise."""
    if settings.precision != "auto":
        return settings.precision
    if resolve_device(settings.device) != "cpu":
        return "bf16"
    return "bf16" if _cpu_flags() & {"avx512_bf16", "amx_bf16"} else "fp32"


@lru_cache(maxsize=1)
def _cpu_flags() -> frozenset[str]:
    """Return the processor's features as Linux lists them; none on other systems."""
    try:
        listing = Path("/proc/cpuinfo").read_text("ascii", errors="ignore")
    except OSError:
        return frozenset()
    flags = re.search(r"^\s*flags\s*:(.*)", listing, re.MULTILINE)
    return frozenset(flags[1].split()) if flags else frozenset()


def available_cores() -> int:
    """Return the number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def load_encoder(settings: Embed) -> TransformerEncoder:
    """Return the encoder that the settings name, loaded once per process."""
    return TransformerEncoder(settings).load()
