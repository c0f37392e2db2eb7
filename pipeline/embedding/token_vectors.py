"""Vectors of a model's tokens, of which words that no document holds are made.

Each token is encoded as a text of its own, by its number, so that one which only continues words means what
it means there. The same model and versions of the libraries give the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ..lexical.analyzer import fold, without_accents
from ..lexical.word_pieces import CONTINUATION, UNKNOWN, letters
from .onnx_encoder import OnnxEncoder
from .quantization import QuantizedTermVectors, quantized

# The vocabulary of a multilingual model has ten times as many: the first ones are the commonest.
_MOST_TOKENS = 40_000
# Of .00003 to .0001 the one that falls least behind where most words of a query are known.
_SMOOTHING = 3e-5
_WORD = re.compile(r"[^\W_]+")
_UNKNOWN = ("[UNK]", "<unk>")
# What SentencePiece and byte-level tokenizers write in front of a token that begins a word.
_BEGINS = ("▁", "Ġ")


def encode_tokens(encoder: OnnxEncoder) -> QuantizedTermVectors:
    """Return the vectors of the tokens that words are made of, sorted; WordPiece's spelling of tokens.

    A vector is as long as the token is rare.
    """
    numbers = tokens_of(encoder.vocabulary())
    rarity = dict(zip(numbers, inverse_frequency(list(numbers)).tolist(), strict=True))
    tokens = sorted(numbers)
    vectors = encoder.encode_tokens([numbers[token] for token in tokens])
    return quantized(tokens, vectors * np.array([[rarity[token]] for token in tokens], np.float32))


def inverse_frequency(tokens: Sequence[str]) -> npt.NDArray[np.float64]:
    """Return the smooth inverse frequency of tokens from the commonest on, as Zipf's law has it: from 0 to 1.

    S. Arora, Y. Liang, T. Ma, "A simple but tough-to-beat baseline for sentence embeddings", ICLR 2017. A
    single letter, which vocabularies have in front, is as common as the longer token before it.
    """
    rank = np.maximum(1, np.cumsum([letters(token) > 1 for token in tokens]))
    frequency = 1 / (rank * (1 / np.arange(1, len(tokens) + 1)).sum())
    return np.asarray(_SMOOTHING / (_SMOOTHING + frequency))


def tokens_of(vocabulary: Mapping[str, int]) -> dict[str, int]:
    """Return the numbers of a vocabulary's words and parts of words, as queries are folded, commonest first.

    Of tokens that fold to one the first counts.
    """
    in_order = sorted(vocabulary, key=lambda token: (vocabulary[token], token))
    marked = next((mark for mark in _BEGINS if any(token.startswith(mark) for token in in_order)), "")
    found: dict[str, int] = {}
    for token in in_order:
        name = UNKNOWN if token in _UNKNOWN else _name(token, marked)
        if name and len(found) < _MOST_TOKENS:
            found.setdefault(name, vocabulary[token])
    return found


def _name(token: str, marked: str) -> str:
    """Return a token as WordPiece writes it; empty if it is no part of a word."""
    begins = token.startswith(marked) if marked else not token.startswith(CONTINUATION)
    written = token.removeprefix(marked or CONTINUATION)
    part = without_accents(fold(written))
    # Byte-level tokenizers write other letters by their bytes.
    if not _WORD.fullmatch(part) or (marked == "Ġ" and not written.isascii()):
        return ""
    return part if begins else CONTINUATION + part
