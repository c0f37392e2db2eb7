"""Export of an embedding model to ONNX, for readers that have no torch, and the check that both agree.

The same files and versions of the libraries give the same bytes. The graph holds every layer, pooling and
normalisation, with each layer's attention as one operator where ONNX Runtime knows the architecture; weights
are float32, whatever precision passages are encoded with.
"""

from __future__ import annotations

import copy
import io
import logging
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

from ..settings.settings import Embed
from ..thread_pool import ThreadPool
from .encoder import TransformerEncoder
from .model_files import ModelFiles, read_tokenizer
from .onnx_encoder import INPUTS, OUTPUT, OnnxEncoder
from .quantization import QuantizedTermVectors
from .token_vectors import encode_tokens

_LIBRARIES = ("onnx", "onnxruntime", "sentence-transformers", "torch", "transformers")
_OPSET = 17
# Counts changes of what is made of a traced network: an export of an earlier number is made anew.
_GRAPH = 2
LEAST_COSINE = 0.9999
CHECKED_TEXTS = 1_000
_ODD_TEXTS = (
    "", " ", "the", "a", "?", "🎉",
    "👩🏽‍🚀🇪🇺", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢", "שלום עולם", "مرحبا بالعالم", "こんにちは世界", "ᚠᛇᚻ᛫ᛒᛦᚦ", "ꦧꦱꦗꦮ",
    "é" * 3, "e\u0301" * 3, "\u200b", "\ufffd", "null\0byte", "x" * 500, "ß" * 150, "array.map((x) => x * 2)",
    "https://example.org/a?b=c#d", "Ünïcödé wörds", "1234567890", "the " * 10_000, "🎉" * 2_000,
)  # fmt: skip
# Of every hundred texts one has this many words and one more than any model reads; the others are as short
# as queries.
_SHORT, _LONG, _LONGEST = 12, 100, 600


class NotExportable(Exception):
    """The model has no ONNX form, or one with other vectors; the text says why."""


@dataclass(frozen=True, slots=True)
class ExportedModel:
    """A model in ONNX form, its tokenizer, its tokens' vectors, and the least cosine to torch."""

    model: bytes
    tokenizer: bytes
    tokens: QuantizedTermVectors
    least_cosine: float


def exporter() -> str:
    """Return what decides an export's bytes: the versions of the libraries, and that of the graph."""
    return " ".join((f"graph={_GRAPH}", *(f"{name}={version(name)}" for name in _LIBRARIES)))


def export(embed: Embed) -> ExportedModel:
    """Export the model that the settings name; raise ``NotExportable`` or ``ModelUnavailable``."""
    reference = TransformerEncoder(embed.model_copy(update={"precision": "fp32", "device": "cpu"})).load()
    network = _with_plain_attention(reference.network())
    traced = _traced(network)
    try:
        return _checked(_fused(traced, network), reference)
    except NotExportable:
        return _checked(traced, reference)


def _checked(model: bytes, reference: TransformerEncoder) -> ExportedModel:
    """Return the model with its tokens' vectors; raise ``NotExportable`` unless it says what torch says."""
    files, tokenizer = reference.model, read_tokenizer(reference.model)
    try:
        encoder = OnnxEncoder(model, tokenizer, files.max_tokens, files.query_prompt)
        least, tokens = _least_cosine(encoder, reference), encode_tokens(encoder)
    except MemoryError:
        raise
    except Exception as error:  # ONNX Runtime raises nothing narrower for a graph that it cannot run
        raise NotExportable(_first_line(error)) from None
    if not least >= LEAST_COSINE:
        raise NotExportable(f"its cosine to torch falls to {least:.6f}, below {LEAST_COSINE}")
    return ExportedModel(model, tokenizer, tokens, least)


def _with_plain_attention(network: Any) -> Any:
    """Return a copy of a network whose attention is written as products of matrices, if it is a transformer.

    ONNX Runtime recognises no other form.
    """
    copied = copy.deepcopy(network).float().eval()
    transformer = getattr(copied[0], "auto_model", None)
    if transformer is not None:
        transformer.set_attn_implementation("eager")
    return copied


def _fused(model: bytes, network: Any) -> bytes:
    """Return a model with each layer's attention, activation and normalisation as one operator each.

    A query takes about two thirds of the time. What the optimizer does not know stays as it is. Raise
    ``NotExportable`` for a graph that it cannot read.
    """
    import onnx
    from onnxruntime.transformers import optimizer

    config = getattr(getattr(network[0], "auto_model", None), "config", None)
    heads, width = (int(getattr(config, name, 0)) for name in ("num_attention_heads", "hidden_size"))
    logging.getLogger(optimizer.__name__).setLevel(logging.ERROR)
    try:
        # 0: the runtime's own passes are run by whoever loads the model, for the processor that it has.
        found = optimizer.optimize_model(
            onnx.load_from_string(model), "bert", num_heads=heads, hidden_size=width, opt_level=0
        )
        made: bytes = found.model.SerializeToString(deterministic=True)
    except MemoryError:
        raise
    except Exception as error:  # one of many, of an architecture that it takes for another
        raise NotExportable(_first_line(error)) from None
    return made


def _traced(network: Any) -> bytes:
    """Return the network in ONNX form, traced on two short texts; any number of any length may be given."""
    import torch

    tokens = torch.ones((2, 16), dtype=torch.int64)
    mask = tokens.clone()
    mask[1, 8:] = 0
    axes = {0: "texts", 1: "tokens"}
    made = io.BytesIO()
    try:
        with warnings.catch_warnings(), torch.no_grad():
            # Decision 36: the exporter that traces is called outdated; the new one takes five times as long
            # and three packages more.
            warnings.simplefilter("ignore")
            torch.onnx.export(
                _with_unit_vectors(network),
                (tokens, mask),
                made,  # type: ignore[arg-type]  # a file is taken too
                input_names=list(INPUTS),
                output_names=[OUTPUT],
                dynamic_axes=dict.fromkeys(INPUTS, axes) | {OUTPUT: {0: "texts"}},
                opset_version=_OPSET,
                dynamo=False,
            )
    except MemoryError:
        raise
    except Exception as error:  # a layer without an ONNX form fails in one of many ways
        raise NotExportable(_first_line(error)) from None
    return made.getvalue()


def _with_unit_vectors(network: Any) -> Any:
    """Return the network as a module from its inputs, by position, to unit vectors."""
    import torch

    class Encoder(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
            features = {"input_ids": input_ids, "attention_mask": attention_mask}
            return torch.nn.functional.normalize(self.network(features)["sentence_embedding"], dim=1)

    return Encoder()


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


def _least_cosine(encoder: OnnxEncoder, reference: TransformerEncoder) -> float:
    texts = list(checked_texts(reference.model))
    expected = reference.encode(texts, as_queries=True)
    with ThreadPool(2) as pool:
        found = np.stack(list(pool.map(encoder.encode_query, texts)))
    if found.shape != expected.shape:
        return 0.0
    return float((found.astype(np.float64) * expected).sum(axis=1).min())


def checked_texts(files: ModelFiles) -> Iterator[str]:
    """Yield 1,000 texts made from the tokenizer's own words, always the same: odd, short and long ones."""
    from tokenizers import Tokenizer

    vocabulary = Tokenizer.from_buffer(read_tokenizer(files)).get_vocab()
    pieces = sorted(vocabulary, key=lambda piece: (vocabulary[piece], piece))
    words = [word for piece in pieces if (word := piece.strip("#▁Ġ[<]>")) and word.isprintable()]
    chosen = np.random.default_rng(0)
    yield from _ODD_TEXTS
    for at in range(CHECKED_TEXTS - len(_ODD_TEXTS)):
        count = 1 + at % _SHORT
        if at % 50 == 49:
            count = _LONGEST if at % 100 == 99 else _LONG
        yield " ".join(words[each] for each in chosen.integers(len(words), size=count))
