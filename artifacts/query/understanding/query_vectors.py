"""Vectors of queries, by the snapshot's term vectors or by the model that made the snapshot's vectors."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

from ....pipeline.errors import ModelMismatch
from ....pipeline.settings.settings import Embed, Settings, recorded_model_name, recorded_query_prompt
from ...store.snapshot import Snapshot
from ..caches import Cache, Usage
from ..index.corpus import CorpusReader
from ..model import TextEncoder, Vector
from .term_vectors import TermEncoder


class QueryVectors:
    """Encodes texts by an encoder that is loaded for the first of them; keeps the last ``most`` vectors."""

    def __init__(self, load: Callable[[], TextEncoder], most: int) -> None:
        self._load, self._lock = load, threading.Lock()
        self._encoder: TextEncoder | None = None
        self._kept: Cache[Vector] = Cache(most)

    def encode_query(self, text: str) -> Vector:
        """Return the unit float32 vector of a text, shape ``(dimension,)``."""
        found = self._kept.get(text)
        if found is None:
            with self._lock:
                self._encoder = self._encoder or self._load()
            found = self._encoder.encode_query(text)
            self._kept.put(text, found)
        return found

    def usage(self) -> Usage:
        """Return how the kept vectors were used."""
        return self._kept.usage()


class KeptVectors(QueryVectors):
    """A query encoder that keeps all vectors, for a known set of queries asked again and again."""

    def __init__(self, load: Callable[[], TextEncoder]) -> None:
        super().__init__(load, sys.maxsize)


def shared_encoder(
    snapshot: Snapshot, settings: Settings, kept: dict[str, KeptVectors]
) -> TextEncoder | None:
    """Return one encoder for all snapshots of a model; ``None`` for term vectors: each has its own."""
    if settings.search.encoder == "static":
        return None
    record = snapshot.manifest.model
    key = f"{record.sha256} {record.precision} {_prompt(snapshot, settings.embed)}"
    return kept.setdefault(key, KeptVectors(lambda: load_model(snapshot, settings.embed)))


def load_query_encoder(corpus: CorpusReader, settings: Settings) -> TextEncoder:
    """Load the encoder that the settings name, term vectors or the full model; raise as ``load_model``."""
    if settings.search.encoder == "static":
        return TermEncoder(corpus)
    return load_model(corpus.snapshot, settings.embed)


def load_model(snapshot: Snapshot, configured: Embed) -> TextEncoder:
    """Load the model that made the snapshot's vectors; raise ``ModelMismatch`` if there is another here."""
    from ....pipeline.embedding.encoder import load_encoder
    from ....pipeline.embedding.model_files import find

    record = snapshot.manifest.model
    if recorded_model_name(configured.model) != record.name:
        configured = configured.model_copy(update={"model": record.name})
    configured = configured.model_copy(update={"query_prompt": _prompt(snapshot, configured)})
    if find(configured).sha256 != record.sha256:
        raise ModelMismatch(
            f"the model {record.name!r} on this machine is not the one that made the snapshot's vectors",
            where=f"snapshot {snapshot.id}",
            hint="Name that model as embed.model, or run noctule index to encode with this one.",
        )
    return load_encoder(configured)


def _prompt(snapshot: Snapshot, configured: Embed) -> str:
    """Return the prompt that the snapshot was made with, unless another is asked for."""
    return configured.query_prompt or recorded_query_prompt(snapshot.manifest.settings)
