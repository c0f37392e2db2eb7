"""Texts become unit float32 rows, fast, and the same bits whatever else is in the batch.

A batch has one of a few shapes: texts of one padded length (a multiple of 16 tokens), as many as the token budget
holds; the last of a length is filled up with empty rows to 256 tokens or a little more, and to the whole budget where
that was not seen to change no bit. One thread computes one batch alone, and several batches run at once. So a text's
vector depends on the text, the model and the precision, and not on the number of threads, on the texts beside it, or
on how much was taken from the embedding store.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from ..settings.settings import Embed
from .model_files import ends_with_pooling, find, require_known_modules, tokenizer, unsound

if TYPE_CHECKING:
    import torch

Vectors = npt.NDArray[np.float32]
Progress = Callable[[int], None]
Precision = Literal["fp32", "bf16"]
LENGTH_STEP = 16
# Part of the embedding store's key: raise it when the same text would get another vector.
VERSION = 1
_CUDA_BATCH_FACTOR = 32
# Decision 2: from here on the height of a batch changed no bit, on x86 processors without AMX.
_LEAST_TOKENS = 256
# Without one of these Linux has no GPU that torch calls CUDA: NVIDIA's, AMD's, or Windows' below it.
_GPU_DEVICES = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")


class Encoder(Protocol):
    """Texts to vectors of one model."""

    @property
    def dimension(self) -> int:
        """Columns of a vector."""

    def encode(
        self, texts: Sequence[str], progress: Progress | None = None, *, as_queries: bool = False
    ) -> Vectors:
        """Unit float32 rows, shape ``(len(texts), dimension)``; ``progress`` hears of finished tokens."""

    def encode_query(self, text: str) -> Vectors:
        """The unit float32 vector of a query, shape ``(dimension,)``."""


@dataclass(frozen=True, slots=True)
class _Batch:
    rows: tuple[int, ...]
    length: int
    height: int


class TransformerEncoder:
    """A sentence-transformers model, run in batches of fixed shape; it is loaded when it has first to encode."""

    def __init__(self, settings: Embed) -> None:
        self.model = find(settings)
        self.precision = resolve_precision(settings)
        self.device = resolve_device(settings.device)
        self._loading = threading.Lock()
        self._loaded: Any = None
        self._tokenizer = tokenizer(self.model)
        on_gpu = self.device != "cpu"
        workers = 1 if on_gpu else settings.workers or available_cores()
        # Shared by all calls of encode: while one ends its last batches, the next one's fill the other threads.
        self._pool = ThreadPoolExecutor(workers, "encode", initializer=_one_thread)
        self._batch_tokens = settings.batch_tokens * (_CUDA_BATCH_FACTOR if on_gpu else 1)
        self._least_tokens = _LEAST_TOKENS if self._may_be_low() else self._batch_tokens

    @property
    def dimension(self) -> int:
        """Columns of a vector."""
        return self.model.dimension or int(self._network().get_embedding_dimension())

    def _may_be_low(self) -> bool:
        """Whether a text's vector was seen not to depend on the height of its batch."""
        flags = _cpu_flags()
        is_known = bool(flags) and not any(flag.startswith("amx") for flag in flags)
        return self.device == "cpu" and is_known and ends_with_pooling(self.model.folder)

    @property
    def is_loaded(self) -> bool:
        """Whether the model is in memory."""
        return self._loaded is not None

    def load(self) -> TransformerEncoder:
        """This encoder with the model in memory: that takes seconds; raises ``ModelUnavailable``."""
        self._network()
        return self

    def _network(self) -> Any:
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
        """Unit float32 rows, shape ``(len(texts), dimension)``; ``progress`` hears of finished tokens.

        Texts are read as passages, or as queries where the model tells the two apart. May be called from several threads: their batches share the encoder's threads.
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
        """The unit float32 vector of a query, shape ``(dimension,)``."""
        ids = self._tokenizer.ids([self.model.query_prompt + text])
        row: Vectors = self._run(ids, _padded(len(ids[0])), 1)[0]
        return row

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, special tokens not counted."""
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
            output = self._network()(features)["sentence_embedding"]
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
    """Batches of one padded length each, longest first, so that the end of a run is short work.

    All but the last of a length have as many rows as ``batch_tokens`` holds; that has a multiple of the fewest rows that make
    ``least_tokens``.
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

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    torch.set_num_threads(1)
    require_known_modules(folder)
    try:
        # Never a pickle: weights come from safetensors, or the model is refused.
        network = SentenceTransformer(
            str(folder), device=device, local_files_only=True, model_kwargs={"use_safetensors": True}
        ).eval()
    except MemoryError:
        raise
    except Exception as error:  # transformers raises many kinds for a broken folder
        raise unsound(folder, error) from error
    if precision == "bf16":
        # Autocast would round these weights anew for every batch: the same bits, a twentieth of the time.
        for module in network.modules():
            if isinstance(module, torch.nn.Linear):
                module.to(torch.bfloat16)
    return network


def resolve_device(device: str) -> str:
    """``cpu`` or ``cuda``; ``auto`` takes a GPU where there is one."""
    if device != "auto":
        return device
    if not _may_have_gpu():
        return "cpu"
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def _may_have_gpu() -> bool:
    """Whether it is worth the seconds that torch takes to say so."""
    return sys.platform == "win32" or any(Path(device).exists() for device in _GPU_DEVICES)


def resolve_precision(settings: Embed) -> Precision:
    """bf16 where the processor (or GPU) multiplies it in hardware, unless the settings say otherwise."""
    if settings.precision != "auto":
        return settings.precision
    if resolve_device(settings.device) != "cpu":
        return "bf16"
    return "bf16" if _cpu_flags() & {"avx512_bf16", "amx_bf16"} else "fp32"


@lru_cache(maxsize=1)
def _cpu_flags() -> frozenset[str]:
    """The processor's features as Linux lists them; empty elsewhere."""
    try:
        listing = Path("/proc/cpuinfo").read_text("ascii", errors="ignore")
    except OSError:
        return frozenset()
    return frozenset(_first_flags(listing.splitlines()))


def _first_flags(lines: Iterable[str]) -> list[str]:
    for line in lines:
        name, _, flags = line.partition(":")
        if name.strip() == "flags":
            return flags.split()
    return []


def available_cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def load_encoder(settings: Embed) -> TransformerEncoder:
    """The encoder that the settings name, its model in memory; the model is loaded once a process."""
    return TransformerEncoder(settings).load()
