"""Encoding of a night's few texts in another process, which loads the model while this one has other work.

Loading a model keeps a core busy for seconds. A night has other work for that long, and then a hundred texts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

from ...pipeline.embedding.encoder import Progress, TransformerEncoder, Vectors, load_encoder
from ...pipeline.settings.settings import Embed
from ..run.background import Background
from ..run.memory import uncollected

# Of more texts this process would rather have the model itself, for all its threads and to show progress.
MOST_TEXTS = 4_096


@dataclass(frozen=True, slots=True)
class TextBatch:
    """Texts to encode, with the encoder's settings."""

    embed: Embed
    texts: tuple[str, ...]
    as_queries: bool


class BackgroundEncoder:
    """A process with the model loaded, or loading, that gives the same vectors as ``encoder``."""

    def __init__(self, embed: Embed, encoder: TransformerEncoder) -> None:
        self._embed = embed.model_copy(update={"precision": encoder.precision, "device": encoder.device})
        self._encoder = encoder
        self._background = Background()
        self._start((), as_queries=False)

    def _start(self, texts: Sequence[str], *, as_queries: bool) -> Callable[[], tuple[Vectors, int]]:
        batch = TextBatch(self._embed, tuple(texts), as_queries)
        return self._background.start(encode_batch, batch, partial(_encoded, self._encoder, batch))

    @property
    def at_once(self) -> int:
        """Return 1: one call at a time."""
        return 1

    def encode(self, texts: Sequence[str], progress: Progress, *, as_queries: bool) -> Vectors:
        """Return the vectors that this process's encoder would give; raise ``ModelUnavailable``."""
        vectors, tokens = self._start(texts, as_queries=as_queries)()
        progress(tokens)
        return vectors

    def close(self) -> None:
        """End the process, whatever it is doing."""
        self._background.close()


def encode_batch(batch: TextBatch) -> tuple[Vectors, int]:
    """Return the vectors of the texts and their number of tokens; without texts, only load the model."""
    return _encoded(_encoder(batch.embed), batch)


def _encoded(encoder: TransformerEncoder, batch: TextBatch) -> tuple[Vectors, int]:
    tokens = [0]
    if not batch.texts:
        return np.zeros((0, encoder.dimension), dtype=np.float32), 0
    vectors = encoder.encode(batch.texts, tokens.append, as_queries=batch.as_queries)
    return vectors, sum(tokens)


@lru_cache(maxsize=1)
def _encoder(embed: Embed) -> TransformerEncoder:
    with uncollected():
        return load_encoder(embed)
