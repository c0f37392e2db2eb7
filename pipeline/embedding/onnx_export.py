"""Export of an embedding model to ONNX, for readers that have no torch, and the check that both agree.

The same files and versions of the libraries give the same bytes. The graph holds every layer, pooling and
normalisation, with each layer's attention as one operator where ONNX Runtime knows the architecture. The
weights of layers are whole numbers of eight bits, 32 to a scale, if that turns no vector far, else float32,
whatever precision passages are encoded with.
"""

from __future__ import annotations

import copy
import io
import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..identity import installed_version
from ..settings.settings import Embed
from ..thread_pool import ThreadPool
from .encoder import TransformerEncoder
from .model_files import ModelFiles, read_tokenizer
from .onnx_encoder import INPUTS, OUTPUT, OnnxEncoder, Vectors
from .quantization import QuantizedTermVectors
from .token_vectors import encode_tokens

_LIBRARIES = ("onnx", "onnx-ir", "onnxruntime", "sentence-transformers", "torch", "transformers")
_OPSET = 17
# Counts changes of what is made of a traced network: an export of an earlier number is made anew.
_GRAPH = 3
LEAST_COSINE = 0.9999
LEAST_COSINE_IN_EIGHT_BITS = 0.995
# With 64 the vectors of odd texts turn half as far again, for a tenth of the time; 4: inputs are rounded too.
_WEIGHTS_A_SCALE, _ACCURACY_LEVEL = 32, 4
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
    """A model in ONNX form, its tokenizer, its tokens' vectors, and the least cosine to torch.

    ``weight_bits`` is 8, or 32 for a model whose vectors would turn too far. Tokens are encoded with float32
    weights, which give nearly the same bytes on every processor.
    """

    model: bytes
    weight_bits: int
    tokenizer: bytes
    tokens: QuantizedTermVectors
    least_cosine: float


def exporter() -> str:
    """Return what decides an export's bytes: the versions of the libraries, and that of the graph."""
    return " ".join((f"graph={_GRAPH}", *(f"{name}={installed_version(name)}" for name in _LIBRARIES)))


def export(embed: Embed) -> ExportedModel:
    """Export the model that the settings name; raise ``NotExportable`` or ``ModelUnavailable``."""
    encoder = TransformerEncoder(embed.model_copy(update={"precision": "fp32", "device": "cpu"})).load()
    network = _with_plain_attention(encoder.network())
    traced, expected = _traced(network), _Expected.of(encoder)
    try:
        model = expected.checked(_fused(traced, network), LEAST_COSINE)
    except NotExportable:
        model = expected.checked(traced, LEAST_COSINE)
    tokens = encode_tokens(model.encoder)
    bits = 32
    with suppress(NotExportable):
        model, bits = expected.checked(_in_eight_bits(model.graph), LEAST_COSINE_IN_EIGHT_BITS), 8
    return ExportedModel(model.graph, bits, expected.tokenizer, tokens, model.least_cosine)


@dataclass(frozen=True, slots=True)
class _Checked:
    graph: bytes
    encoder: OnnxEncoder
    least_cosine: float


@dataclass(frozen=True, slots=True)
class _Expected:
    """The texts that are checked and what torch says of them, a unit row each."""

    files: ModelFiles
    tokenizer: bytes
    texts: Sequence[str]
    vectors: Vectors

    @classmethod
    def of(cls, torch: TransformerEncoder) -> _Expected:
        texts = list(checked_texts(torch.model))
        return cls(torch.model, read_tokenizer(torch.model), texts, torch.encode(texts, as_queries=True))

    def checked(self, graph: bytes, least_allowed: float) -> _Checked:
        """Return the graph and its encoder; raise ``NotExportable`` unless it says what torch says."""
        try:
            encoder = OnnxEncoder(graph, self.tokenizer, self.files.max_tokens, self.files.query_prompt)
            least = self._least_cosine(encoder)
        except MemoryError:
            raise
        except Exception as error:  # ONNX Runtime raises nothing narrower for a graph that it cannot run
            raise NotExportable(_first_line(error)) from None
        if not least >= least_allowed:
            raise NotExportable(f"its cosine to torch falls to {least:.6f}, below {least_allowed}")
        return _Checked(graph, encoder, least)

    def _least_cosine(self, encoder: OnnxEncoder) -> float:
        with ThreadPool(2) as pool:
            found = np.stack(list(pool.map(encoder.encode_query, self.texts)))
        if found.shape != self.vectors.shape:
            return 0.0
        return float((found.astype(np.float64) * self.vectors).sum(axis=1).min())


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
    from onnxruntime.transformers import fusion_options, optimizer

    options = fusion_options.FusionOptions("bert")
    # The products with its weights stay operators of their own, which can have weights of eight bits.
    options.use_multi_head_attention = True
    config = getattr(getattr(network[0], "auto_model", None), "config", None)
    heads, width = (int(getattr(config, name, 0)) for name in ("num_attention_heads", "hidden_size"))
    logging.getLogger(optimizer.__name__).setLevel(logging.ERROR)
    try:
        # 0: the runtime's own passes are run by whoever loads the model, for the processor that it has.
        found = optimizer.optimize_model(
            onnx.load_from_string(model), "bert", heads, width, optimization_options=options, opt_level=0
        )
        made: bytes = found.model.SerializeToString(deterministic=True)
    except MemoryError:
        raise
    except Exception as error:  # one of many, of an architecture that it takes for another
        raise NotExportable(_first_line(error)) from None
    return made


def _in_eight_bits(model: bytes) -> bytes:
    """Return a model whose layers have weights of eight bits: half the time a query, two thirds of the file.

    Raise ``NotExportable`` for a graph that it cannot read.
    """
    import onnx

    log = (logging.root.level, list(logging.root.handlers))
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer, logger

    # That module gives the whole program a log when it is imported.
    logging.root.level, logging.root.handlers[:] = log
    logger.setLevel(logging.ERROR)
    try:
        quantizer = MatMulNBitsQuantizer(
            onnx.load_from_string(model),
            bits=8,
            block_size=_WEIGHTS_A_SCALE,
            is_symmetric=True,
            accuracy_level=_ACCURACY_LEVEL,
        )
        quantizer.process()
        found = quantizer.model.model
        made: bytes = found.SerializeToString(deterministic=True)
    except MemoryError:
        raise
    except Exception as error:  # one of many, of a graph that it does not know
        raise NotExportable(_first_line(error)) from None
    if not any(node.op_type == "MatMulNBits" for node in found.graph.node):
        raise NotExportable("it has no products with weights")
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
