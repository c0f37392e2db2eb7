"""The training texts of a snapshot's static encoder, reassembled from the snapshot and its store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from noctule.artifacts.store.snapshot import Snapshot
from noctule.artifacts.store.store import Store
from noctule.artifacts.tables.vector_columns import vector_matrix
from noctule.flows.engines.local import Inline
from noctule.flows.run.background import Background
from noctule.flows.run.context import Resources
from noctule.flows.run.plain import PlainDriver
from noctule.flows.run.stage import Silent
from noctule.flows.stages.embedding.encode import Encoded, Encoding, query_texts
from noctule.flows.stages.embedding.training_texts import (
    TextsWithLanguages,
    encoded_training_texts,
    names,
    phrases,
    picked_passages,
    spans,
    training_names,
    training_passages,
)
from noctule.pipeline.embedding.encoder import load_encoder
from noctule.pipeline.embedding.static_encoder import TrainingTexts
from noctule.pipeline.lexical.analyzer import UNSTEMMED
from noctule.pipeline.model import ResolvedLink
from noctule.pipeline.settings.settings import Settings


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """Training texts by kind, and the terms of the index with their idf."""

    training: Mapping[str, TrainingTexts]
    terms: tuple[str, ...]
    idf: npt.NDArray[np.float64]


def training_set_of(store: Store, snapshot: Snapshot, settings: Settings) -> TrainingSet:
    """Return the training texts of a snapshot; texts missing from the store are encoded."""
    documents, sections, passages = (snapshot.table(name) for name in ("documents", "sections", "passages"))
    links = [ResolvedLink(**row) for row in snapshot.table("links").to_pylist()]
    dimension, given = snapshot.manifest.model.dimension, settings.static_encoder
    vectors = vector_matrix(snapshot.table("vectors").column("vector"), dimension)
    encoded = Encoded((), vectors, passages.column("vector_row").to_numpy(), 0)
    vocabulary = snapshot.table("vocabulary")
    index_terms = tuple(vocabulary.column("index_term").to_pylist())
    words = TextsWithLanguages(index_terms, (UNSTEMMED,) * len(index_terms))
    row = np.arange(len(index_terms), dtype=np.int32)
    known = Encoded((), vector_matrix(vocabulary.column("vector"), dimension), row, 0)
    training = {"words": encoded_training_texts("words", words, known)}
    encoder = load_encoder(settings.embed)
    resources = Resources(PlainDriver(), Silent(), Background())
    encoding = Encoding(encoder, store.root, Inline(), resources)
    for kind, texts in (
        ("phrases", phrases(documents, sections, links, given)),
        ("spans", spans(documents, passages, given)),
    ):
        found = encoding.encode(kind, query_texts(texts.texts, encoder))
        training[kind] = encoded_training_texts(kind, texts, found)
    training["passages"] = training_passages(picked_passages(documents, passages, given), encoded)
    centroids = vector_matrix(snapshot.table("centroids").column("vector"), dimension)
    training["anchors"], training["titles"] = training_names(documents, names(documents, links), centroids)
    terms = snapshot.table("terms", ["term", "idf"])
    return TrainingSet(training, tuple(terms.column("term").to_pylist()), terms.column("idf").to_numpy())
