"""The few texts of a night: another process loads the model while this one has other work, and encodes them.

What loads a model keeps a core busy for seconds. A night has other work for so long, and then a hundred texts.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from flows.workers import WorkerFailed, Workers
from pipeline.embed import Progress, TransformerEncoder, Vectors, load_encoder
from pipeline.settings import Embed

# Of more texts this process would rather have the model itself, for all its threads and to show how far it is.
MOST_TEXTS = 4_096
_LIMIT_S = 3_600.0
_log = logging.getLogger("noctule")


@dataclass(frozen=True, slots=True)
class Few:
    """Some texts, and the encoder that they are for."""

    embed: Embed
    texts: tuple[str, ...]
    as_queries: bool


class BesideEncoder:
    """A process that has the model in memory, or soon will; ``encoder`` is this process's, which may never need it."""

    def __init__(self, embed: Embed, encoder: TransformerEncoder) -> None:
        self._embed = embed.model_copy(update={"precision": encoder.precision, "device": encoder.device})
        self._encoder = encoder
        self._workers = Workers(1)
        self._pool = ThreadPoolExecutor(1, "noctule-few")
        self._warm: Future[object] = self._pool.submit(
            self._workers.call, encode_few, Few(self._embed, (), False), _LIMIT_S
        )

    @property
    def at_once(self) -> int:
        """One call at a time."""
        return 1

    def encode(self, texts: Sequence[str], progress: Progress, *, as_queries: bool) -> Vectors:
        """The vectors that the encoder of this process would give; raises ``ModelUnavailable``."""
        try:
            self._warm.result()
            given = Few(self._embed, tuple(texts), as_queries)
            vectors, tokens = self._workers.call(encode_few, given, _LIMIT_S)
        except WorkerFailed as failure:
            _log.warning("%d texts are encoded in this process: the one beside it %s", len(texts), failure)
            return self._encoder.encode(texts, progress, as_queries=as_queries)
        progress(tokens)
        return vectors

    def close(self) -> None:
        """The process ends, whatever it is doing."""
        self._workers.kill()
        self._pool.shutdown()
        self._workers.__exit__(None, None, None)


def encode_few(few: Few) -> tuple[Vectors, int]:
    """The vectors of the texts and how many tokens these have; without texts the model is loaded."""
    encoder, tokens = _encoder(few.embed), [0]
    if not few.texts:
        return np.zeros((0, encoder.dimension), dtype=np.float32), 0
    vectors = encoder.encode(few.texts, tokens.append, as_queries=few.as_queries)
    return vectors, sum(tokens)


@lru_cache(maxsize=1)
def _encoder(embed: Embed) -> TransformerEncoder:
    return load_encoder(embed)
