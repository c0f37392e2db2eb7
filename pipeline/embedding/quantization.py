"""Vectors of terms and tokens as bytes and a scale each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]
Codes = npt.NDArray[np.int8]
_MOST = 127


@dataclass(frozen=True, slots=True)
class QuantizedTermVectors:
    """Quantized vectors of ``terms``: ``scale[i] · code[i]`` belongs to ``terms[i]``, its idf included.

    Terms without a vector are left out.
    """

    terms: tuple[str, ...]
    scale: npt.NDArray[np.float32]
    code: Codes


def quantized(terms: Sequence[str], vectors: Vectors) -> QuantizedTermVectors:
    """Quantize vectors, one for each term."""
    highest = np.abs(vectors).max(axis=1)
    kept = np.flatnonzero(highest > 0)
    scale = (highest[kept] / _MOST).astype(np.float32)
    code = np.rint(vectors[kept] / scale[:, None]).astype(np.int8)
    return QuantizedTermVectors(tuple(terms[at] for at in kept.tolist()), scale, code)
