"""Ideas for the query encoder that were tried and left out: pairs of words, hard negatives, a dense layer, fewer
dimensions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bench.lessons import Course
from noctule.artifacts.query.index.corpus import CorpusReader
from noctule.artifacts.query.model import TextEncoder as Encoder
from noctule.pipeline.embedding.query_encoder import Lessons, solve, weighted_terms
from noctule.pipeline.lexical.analyzer import prose_analyzer, terms
from noctule.pipeline.settings.settings import QueryEncoder

Vector = npt.NDArray[np.float32]
_PAIRS, _PAIR_TEXTS = 20_000, 20
_AWAY, _SAME = 0.3, 0.9999
_HIDDEN, _EPOCHS, _BATCH = 512, 4, 1024


def _unit(vector: npt.NDArray[np.float64] | Vector) -> Vector:
    length = float(np.linalg.norm(vector))
    return (vector / length if length > 0 else vector).astype(np.float32)


class Bigrams:
    """Term vectors for the most frequent pairs of neighbouring words as well, fitted together."""

    def __init__(self, course: Course, corpus: CorpusReader) -> None:
        lessons = [each for each in course.lessons.values() if len(each.texts)]
        self._languages = corpus.languages
        pairs = [[_pairs(text, language) for text, language in _texts(each)] for each in lessons]
        counted = Counter(pair for kind in pairs for text in kind for pair in set(text))
        texts = sum(len(kind) for kind in pairs)
        kept = [pair for pair, count in counted.most_common(_PAIRS) if count >= _PAIR_TEXTS]
        own = np.log(1 + texts / np.array([counted[pair] for pair in kept], dtype=np.float64))
        self._idf = np.concatenate([course.idf, own])
        self._row = {term: at for at, term in enumerate((*course.terms, *kept))}
        x = sparse.vstack([self._features(*each) for each in zip(lessons, pairs, strict=True)], format="csr")
        y = np.concatenate([each.vectors for each in lessons])
        weight = np.repeat(
            np.array([each.weight for each in lessons], np.float32), [len(each.texts) for each in lessons]
        )
        given = QueryEncoder()
        self._vectors = solve(x, y, weight, given.ridge, given.iterations)

    def encode_query(self, text: str) -> Vector:
        """The unit vector of a query."""
        lessons = Lessons([text], [self._languages[0]], np.zeros((1, 1), np.float32), 1.0)
        found = self._features(lessons, [_pairs(text, self._languages[0])]) @ self._vectors
        return _unit(found[0])

    def _features(self, lessons: Lessons, pairs: Sequence[Sequence[str]]) -> Any:
        words = weighted_terms(lessons, self._row, self._idf)
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


def _texts(lessons: Lessons) -> Sequence[tuple[str, str]]:
    return list(zip(lessons.texts, lessons.languages, strict=True))


def _pairs(text: str, language: str) -> list[str]:
    return [f"{one} {other}" for one, other in pairwise(terms(prose_analyzer(language), text))]


def with_hard_negatives(course: Course, table: Mapping[str, Vector]) -> Course:
    """What anchors and titles are to land on, moved away from the document that they land nearest to and do not name."""
    row = {term: at for at, term in enumerate(course.terms)}
    vectors = np.zeros((len(row), len(next(iter(table.values())))), np.float32)
    for term, vector in table.items():
        vectors[row[term]] = vector / course.idf[row[term]]
    documents = course.lessons["titles"].vectors
    moved = {
        kind: replace(each, vectors=_moved(weighted_terms(each, row, course.idf) @ vectors, each, documents))
        for kind, each in course.lessons.items()
        if kind in ("anchors", "titles")
    }
    return replace(course, lessons={**course.lessons, **moved})


def _moved(landed: Vector, lessons: Lessons, documents: Vector) -> Vector:
    found = np.empty_like(lessons.vectors)
    for at in range(0, len(found), _BATCH):
        right = lessons.vectors[at : at + _BATCH]
        scores = landed[at : at + _BATCH] @ documents.T
        scores[right @ documents.T > _SAME] = -np.inf
        away = right + _AWAY * (right - documents[scores.argmax(axis=1)])
        found[at : at + _BATCH] = away / np.linalg.norm(away, axis=1, keepdims=True)
    return found


class Dense:
    """A layer of rectified units after the sum, added to it: ``v + W₂ relu(W₁ v)``."""

    def __init__(self, course: Course, encoder: Encoder) -> None:
        import torch

        torch.manual_seed(0)
        lessons = [each for kind, each in course.lessons.items() if kind in ("words", "phrases", "spans")]
        texts = [text for each in lessons for text in each.texts]
        x = torch.from_numpy(np.stack([encoder.encode_query(text) for text in texts]))
        y = torch.from_numpy(np.concatenate([each.vectors for each in lessons]))
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
        """The unit vector of a query."""
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
        """The unit vector of a query."""
        return _unit(self.components.T @ (self.components @ self.encoder.encode_query(text)))


def narrowed(encoder: Encoder, corpus: CorpusReader, size: int) -> Narrowed:
    """The encoder in the ``size`` strongest components of the documents' centroids."""
    _, vectors = np.linalg.eigh(corpus.centroids.astype(np.float64).T @ corpus.centroids)
    return Narrowed(encoder, vectors[:, -size:].T)
