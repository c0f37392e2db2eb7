"""Rejected ideas for the static encoder: word pairs, hard negatives, a dense layer, fewer dimensions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bench.training_texts import TrainingSet
from noctule.artifacts.query.index.corpus import CorpusReader
from noctule.artifacts.query.model import TextEncoder as Encoder
from noctule.pipeline.embedding.static_encoder import TrainingTexts, solve, weighted_terms
from noctule.pipeline.lexical.analyzer import prose_analyzer, terms
from noctule.pipeline.settings.settings import StaticEncoderSettings

Vector = npt.NDArray[np.float32]
_PAIRS, _PAIR_TEXTS = 20_000, 20
_AWAY, _SAME = 0.3, 0.9999
_HIDDEN, _EPOCHS, _BATCH = 512, 4, 1024


def _unit(vector: npt.NDArray[np.float64] | Vector) -> Vector:
    length = float(np.linalg.norm(vector))
    return (vector / length if length > 0 else vector).astype(np.float32)


class Bigrams:
    """Term vectors that also cover the most frequent pairs of adjacent words, fitted together."""

    def __init__(self, training_set: TrainingSet, corpus: CorpusReader) -> None:
        training = [each for each in training_set.training.values() if len(each.texts)]
        self._languages = corpus.languages
        pairs = [[_pairs(text, language) for text, language in _texts(each)] for each in training]
        counted = Counter(pair for kind in pairs for text in kind for pair in set(text))
        texts = sum(len(kind) for kind in pairs)
        kept = [pair for pair, count in counted.most_common(_PAIRS) if count >= _PAIR_TEXTS]
        own = np.log(1 + texts / np.array([counted[pair] for pair in kept], dtype=np.float64))
        self._idf = np.concatenate([training_set.idf, own])
        self._row = {term: at for at, term in enumerate((*training_set.terms, *kept))}
        x = sparse.vstack([self._features(*each) for each in zip(training, pairs, strict=True)], format="csr")
        y = np.concatenate([each.vectors for each in training])
        weight = np.repeat(
            np.array([each.weight for each in training], np.float32), [len(each.texts) for each in training]
        )
        given = StaticEncoderSettings()
        self._vectors = solve(x, [y], weight, given.ridge, given.iterations)

    def encode_query(self, text: str) -> Vector:
        """Return the unit vector of a query."""
        training = TrainingTexts([text], [self._languages[0]], np.zeros((1, 1), np.float32), 1.0)
        found = self._features(training, [_pairs(text, self._languages[0])]) @ self._vectors
        return _unit(found[0])

    def _features(self, training: TrainingTexts, pairs: Sequence[Sequence[str]]) -> Any:
        words = weighted_terms(training, self._row, self._idf)
        cells = [
            (at, self._row[pair]) for at, text in enumerate(pairs) for pair in set(text) if pair in self._row
        ]
        if not cells:
            return words
        text, column = np.array(cells).T
        return words + sparse.csr_matrix(
            ((0.3 * self._idf[column] / self._idf.max()).astype(np.float32), (text, column)),
            shape=words.shape,
        )


def _texts(training: TrainingTexts) -> Sequence[tuple[str, str]]:
    return list(zip(training.texts, training.languages, strict=True))


def _pairs(text: str, language: str) -> list[str]:
    return [f"{one} {other}" for one, other in pairwise(terms(prose_analyzer(language), text))]


def with_hard_negatives(training_set: TrainingSet, table: Mapping[str, Vector]) -> TrainingSet:
    """Move the targets of anchors and titles away from the nearest document that they do not name."""
    row = {term: at for at, term in enumerate(training_set.terms)}
    vectors = np.zeros((len(row), len(next(iter(table.values())))), np.float32)
    for term, vector in table.items():
        vectors[row[term]] = vector / training_set.idf[row[term]]
    documents = training_set.training["titles"].vectors
    moved = {
        kind: replace(
            each, vectors=_moved(weighted_terms(each, row, training_set.idf) @ vectors, each, documents)
        )
        for kind, each in training_set.training.items()
        if kind in ("anchors", "titles")
    }
    return replace(training_set, training={**training_set.training, **moved})


def _moved(landed: Vector, training: TrainingTexts, documents: Vector) -> Vector:
    found = np.empty_like(training.vectors)
    for at in range(0, len(found), _BATCH):
        right = training.vectors[at : at + _BATCH]
        scores = landed[at : at + _BATCH] @ documents.T
        scores[right @ documents.T > _SAME] = -np.inf
        away = right + _AWAY * (right - documents[scores.argmax(axis=1)])
        found[at : at + _BATCH] = away / np.linalg.norm(away, axis=1, keepdims=True)
    return found


class Dense:
    """A layer of rectified units after the sum, added to it: ``v + W₂ relu(W₁ v)``."""

    def __init__(self, training_set: TrainingSet, encoder: Encoder) -> None:
        import torch

        torch.manual_seed(0)
        training = [
            each for kind, each in training_set.training.items() if kind in ("words", "phrases", "spans")
        ]
        texts = [text for each in training for text in each.texts]
        x = torch.from_numpy(np.stack([encoder.encode_query(text) for text in texts]))
        y = torch.from_numpy(np.concatenate([each.vectors for each in training]))
        self._encoder, size = encoder, x.shape[1]
        self._layers = torch.nn.Sequential(
            torch.nn.Linear(size, _HIDDEN), torch.nn.ReLU(), torch.nn.Linear(_HIDDEN, size)
        )
        optimizer = torch.optim.Adam(self._layers.parameters(), lr=1e-3)
        for _ in range(_EPOCHS):
            for batch in torch.split(torch.randperm(len(x)), _BATCH):
                optimizer.zero_grad()
                given = x[batch] + self._layers(x[batch])
                loss = 1 - torch.nn.functional.cosine_similarity(given, y[batch]).mean()
                loss.backward()  # type: ignore[no-untyped-call]
                optimizer.step()

    def encode_query(self, text: str) -> Vector:
        """Return the unit vector of a query."""
        import torch

        given = torch.from_numpy(self._encoder.encode_query(text))
        with torch.no_grad():
            return _unit((given + self._layers(given)).numpy())


@dataclass(frozen=True, slots=True)
class Narrowed:
    """An encoder whose vectors lie in the space of a few principal components of the documents."""

    encoder: Encoder
    components: npt.NDArray[np.float64]

    def encode_query(self, text: str) -> Vector:
        """Return the unit vector of a query."""
        return _unit(self.components.T @ (self.components @ self.encoder.encode_query(text)))


def narrowed(encoder: Encoder, corpus: CorpusReader, size: int) -> Narrowed:
    """Restrict the encoder to the ``size`` strongest components of the documents' centroids."""
    _, vectors = np.linalg.eigh(corpus.centroids.astype(np.float64).T @ corpus.centroids)
    return Narrowed(encoder, vectors[:, -size:].T)
