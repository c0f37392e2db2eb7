"""The engines of one machine: this process, or killable processes beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TypeVar

from ...pipeline.embedding.encoder import Progress, TransformerEncoder, Vectors, available_cores
from ...pipeline.settings.settings import Settings
from ..run.signals import received
from ..run.workers import Begin, Workers, unwatched
from . import BatchEncoder, Caller
from .background_encoder import MOST_TEXTS, BackgroundEncoder

# So many have more texts than another process should encode.
MOST_FILES = 1_000
# A second process takes as long to start as to parse half of them, and a night has other work for that core.
_FEW_BATCHES = 4
A = TypeVar("A")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class InlineCaller:
    """A caller in this process: easy to debug, but a parser that hangs hangs the build."""

    count: int = 1

    def watch(self, stage: Callable[[A, Begin], T], batch: A, limit_s: float) -> T:  # noqa: ARG002
        """Return the stage's result; a stage that takes too long is not stopped."""
        return stage(batch, unwatched)


@dataclass(frozen=True, slots=True)
class LocalEncoder:
    """The driver's encoder; its threads are shared by the calls."""

    encoder: TransformerEncoder
    # The second has its batches ready when the first runs out of them.
    at_once: int = 2

    def encode(self, texts: Sequence[str], progress: Progress, *, as_queries: bool) -> Vectors:
        """Return the encoder's vectors."""
        return self.encoder.encode(texts, progress, as_queries=as_queries)


class Inline:
    """An engine that does everything in this process, one batch after the other."""

    @contextmanager
    def workers(self, batches: int) -> Iterator[Caller]:  # noqa: ARG002
        """Yield a caller in this process."""
        yield InlineCaller()

    def prepare(self, encoder: TransformerEncoder, files: int) -> None:
        """Do nothing: the model is loaded on first use."""

    def batch_encoder(self, encoder: TransformerEncoder, texts: int) -> LocalEncoder:  # noqa: ARG002
        """Return the encoder itself."""
        return LocalEncoder(encoder, at_once=1)


class Processes:
    """An engine that parses in killable processes, one per core, and encodes in this process or one beside
    it.

    Encoding here uses one thread per core. A few files are parsed by one process.
    """

    def __init__(self, settings: Settings) -> None:
        self._embed = settings.embed
        self._cores = settings.embed.workers or available_cores()
        self._background: BackgroundEncoder | None = None
        self._loading = ThreadPoolExecutor(1, "noctule-model")

    def workers(self, batches: int) -> AbstractContextManager[Caller]:
        """Return as many processes as there are cores or batches; one for a few files."""
        return Workers(1 if batches <= _FEW_BATCHES else min(self._cores, batches))

    def prepare(self, encoder: TransformerEncoder, files: int) -> None:
        """Start to load the model: in this process for many files, in another for a few."""
        if files > MOST_FILES:
            self._loading.submit(encoder.load)
        elif files and self._background is None:
            self._background = BackgroundEncoder(self._embed, encoder)

    def batch_encoder(self, encoder: TransformerEncoder, texts: int) -> BatchEncoder:
        """Return the encoder itself, or for a few texts the process that has the model already."""
        if self._background is None or encoder.is_loaded or texts > MOST_TEXTS:
            return LocalEncoder(encoder)
        return self._background

    def close(self) -> None:
        """End what was started."""
        self._loading.shutdown(wait=received() is None)  # loading takes seconds, a stop has few
        if self._background is not None:
            self._background.close()
            self._background = None
