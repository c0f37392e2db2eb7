"""Encoding of queries by a model in ONNX form: ONNX Runtime and the model's tokenizer, without torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import ModelUnavailable
from ..thread_pool import ThreadPool

Vector = npt.NDArray[np.float32]
Vectors = npt.NDArray[np.float32]
INPUTS, OUTPUT = ("input_ids", "attention_mask"), "vector"
_ERRORS_ONLY = 3
_TOKENS_AT_ONCE, _THREADS = 256, 2


class OnnxEncoder:
    """A model that was exported with its pooling and normalisation; threads may share it.

    Each text is computed by one thread. ``prompt`` is put in front of each, and what exceeds ``max_tokens``
    is cut off, as the model's own encoder does. A model that is given by its file takes less memory to load.
    Raise ``ModelUnavailable`` for bytes that are no model or no tokenizer.
    """

    def __init__(self, model: bytes | Path, tokenizer: bytes, max_tokens: int, prompt: str = "") -> None:
        from tokenizers import Tokenizer

        try:
            self._tokenizer = Tokenizer.from_buffer(tokenizer)
            self._tokenizer.no_padding()
            self._tokenizer.enable_truncation(max_tokens)
            self._session = _session(model)
        except Exception as error:  # neither library raises anything narrower
            raise ModelUnavailable(
                f"the exported model cannot be loaded: {type(error).__name__}: {str(error)[:200]}",
                where="ONNX Runtime",
                hint="Export it again: noctule index --from 'query model'. Without it: --encoder static.",
            ) from None
        self._prompt = prompt

    def encode_query(self, text: str) -> Vector:
        """Return the unit float32 vector of a query, shape ``(dimension,)``."""
        ids = np.array([self._tokenizer.encode(self._prompt + text).ids], dtype=np.int64)
        vector: Vector = self._run(ids)[0]
        return vector

    def vocabulary(self) -> Mapping[str, int]:
        """Return the tokenizer's tokens with their numbers."""
        found: Mapping[str, int] = self._tokenizer.get_vocab(with_added_tokens=True)
        return found

    def encode_tokens(self, numbers: Sequence[int]) -> Vectors:
        """Return the unit float32 vectors of single tokens, each a query of its own, a row each."""
        letter = self._tokenizer.encode(f"{self._prompt}a")
        ids = np.tile(np.array(letter.ids, dtype=np.int64), (len(numbers), 1))
        # The last token that is not one of those around every text.
        ids[:, np.flatnonzero(np.array(letter.special_tokens_mask) == 0)[-1]] = numbers
        batches = [ids[at : at + _TOKENS_AT_ONCE] for at in range(0, len(ids), _TOKENS_AT_ONCE)]
        with ThreadPool(_THREADS) as pool:
            return np.concatenate([self.encode_query("")[None, :][:0], *pool.map(self._run, batches)])

    def _run(self, ids: npt.NDArray[np.int64]) -> Vectors:
        given = dict(zip(INPUTS, (ids, np.ones_like(ids)), strict=True))
        rows: Vectors = self._session.run([OUTPUT], given)[0]
        return rows


def _session(model: bytes | Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = _ERRORS_ONLY
    # Weights past the arena, which would grow for them: a fifth less time to load.
    options.add_session_config_entry("session.use_device_allocator_for_initializers", "1")
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
