"""Cached query vectors, so that variants of a search cost only the search."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from bench.corpora import cache_folder
from noctule.pipeline.embedding.encoder import TransformerEncoder, load_encoder, resolve_precision
from noctule.pipeline.embedding.model_files import find
from noctule.pipeline.settings.settings import Embed

Vector = npt.NDArray[np.float32]


class CachedEncoder:
    """A query encoder that encodes each text once; the model is loaded only for an unknown text."""

    def __init__(self, settings: Embed) -> None:
        self._settings = settings
        name = f"query-vectors-{find(settings).sha256[:12]}-{resolve_precision(settings)}.parquet"
        self._file = cache_folder() / name
        self._vectors = self._read()
        self._saved = len(self._vectors)

    def encode_query(self, text: str) -> Vector:
        """Return the unit float32 vector of a query, shape ``(dimension,)``."""
        if text not in self._vectors:
            self._vectors[text] = self._encoder.encode_query(text)
        return self._vectors[text]

    def save(self) -> None:
        """Save the vectors in the cache folder for the next run."""
        if len(self._vectors) > self._saved:
            texts = sorted(self._vectors)
            vectors = pa.array([self._vectors[text] for text in texts], type=pa.list_(pa.float32()))
            pq.write_table(pa.table({"text": texts, "vector": vectors}), self._file)

    @cached_property
    def _encoder(self) -> TransformerEncoder:
        return load_encoder(self._settings)

    def _read(self) -> dict[str, Vector]:
        if not self._file.exists():
            return {}
        table = pq.read_table(self._file)
        vectors = (np.array(vector.as_py(), dtype=np.float32) for vector in table.column("vector"))
        return dict(zip(table.column("text").to_pylist(), vectors, strict=True))
