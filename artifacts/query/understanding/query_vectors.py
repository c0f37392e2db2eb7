"""Vectors of queries: by the model that made the snapshot's vectors, or by the snapshot's term vectors.

The model runs in ONNX Runtime from the files that lie beside the snapshot. Where it could not be exported, or
an older noctule made the snapshot, torch runs it from the model's own files, and a notice says so.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from contextlib import suppress

from ....pipeline.embedding.onnx_encoder import OnnxEncoder
from ....pipeline.errors import ModelMismatch
from ....pipeline.settings.settings import Embed, Settings, recorded_model_name, recorded_query_prompt
from ...disk.layout import ONNX_MODEL, TOKENIZER
from ...disk.manifest_records import QueryModel
from ...store.query_models import file_name, verify_file
from ...store.snapshot import Snapshot
from ..caches import Cache, Usage
from ..index.corpus import CorpusReader
from ..model import TextEncoder, Vector
from .static_encoder import StaticEncoder


class QueryVectors:
    """Encodes texts by an encoder that is loaded for the first of them; keeps the last ``most`` vectors.

    ``notice`` is what to tell those whose texts it encodes.
    """

    def __init__(self, load: Callable[[], TextEncoder], most: int, notice: str = "") -> None:
        self._load, self._lock, self._notice = load, threading.Lock(), notice
        self._encoder: TextEncoder | None = None
        self._begun = False
        self._kept: Cache[Vector] = Cache(most)

    def encode_query(self, text: str) -> Vector:
        """Return the unit float32 vector of a text, shape ``(dimension,)``."""
        found = self._kept.get(text)
        if found is None:
            found = self._loaded().encode_query(text)
            self._kept.put(text, found)
        return found

    def begin(self) -> None:
        """Start to load the encoder beside what comes before the first text, which meets what goes wrong.

        What takes seconds, and so has a notice, is left to that text: there may be none.
        """
        if self._encoder is None and not (self._begun or self._notice):
            self._begun = True
            threading.Thread(target=self._try, name="noctule-encoder", daemon=True).start()

    def _try(self) -> None:
        with suppress(Exception):
            self._loaded()

    def _loaded(self) -> TextEncoder:
        with self._lock:
            if self._encoder is None:
                self._encoder = self._load()
            return self._encoder

    def notices(self) -> tuple[str, ...]:
        """Return what to tell once a text has been encoded."""
        return (self._notice,) if self._notice and self._encoder is not None else ()

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
    record, exported = snapshot.manifest.model, _exported(snapshot)
    made = "torch" if exported is None else exported.files[ONNX_MODEL].sha256
    key = f"{record.sha256} {record.precision} {made} {_prompt(snapshot, settings.embed)}"
    return kept.setdefault(key, KeptVectors(lambda: load_model(snapshot, settings.embed)))


def load_query_encoder(corpus: CorpusReader, settings: Settings) -> TextEncoder:
    """Load the encoder that the settings name, term vectors or the full model; raise as ``load_model``."""
    if settings.search.encoder == "static":
        return StaticEncoder(corpus)
    return load_model(corpus.snapshot, settings.embed)


def torch_notice(snapshot: Snapshot, settings: Settings) -> str:
    """Return what to tell whoever searches by torch because there is no exported model; else nothing."""
    if settings.search.encoder == "static" or _exported(snapshot) is not None:
        return ""
    if snapshot.manifest.query_model is None:
        return "queries are encoded by torch, which takes seconds to load: noctule index exports the model"
    return "queries are encoded by torch, which takes seconds to load: the model could not be exported"


def load_model(snapshot: Snapshot, configured: Embed) -> TextEncoder:
    """Load the model that made the snapshot's vectors, from beside it or, if it has none there, by torch.

    Raise ``DamagedModel`` if a file beside it is not as it was published, ``ModelUnavailable`` if torch would
    be needed and the model is not here, and ``ModelMismatch`` if there is another.
    """
    exported = _exported(snapshot)
    if exported is None:
        return _load_by_torch(snapshot, configured)
    model, tokenizer = (
        verify_file(snapshot.store / file_name(name, exported.files[name]), exported.files[name])
        for name in (ONNX_MODEL, TOKENIZER)
    )
    prompt = configured.query_prompt or exported.query_prompt
    return OnnxEncoder(model, tokenizer.read_bytes(), exported.max_tokens, prompt)


def _exported(snapshot: Snapshot) -> QueryModel | None:
    record = snapshot.manifest.query_model
    return record if record is not None and record.files else None


def _load_by_torch(snapshot: Snapshot, configured: Embed) -> TextEncoder:
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
