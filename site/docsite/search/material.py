"""What the search index is made of: the columns of a snapshot that it needs, read once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from docsite.library import SnapshotTables
from docsite.search.ranking import Ranking
from pipeline.errors import ArtifactError

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Narrow = npt.NDArray[np.int32]
_AT_A_TIME = 20_000


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Terms in the order of the snapshot, with their postings: term ``i`` owns ``[starts[i], starts[i + 1])``."""

    terms: Sequence[str]
    idf: Floats
    starts: Ints
    passage: Narrow
    score: Floats

    @property
    def frequency(self) -> Ints:
        """How many passages hold each term."""
        return np.diff(self.starts)


@dataclass(frozen=True, slots=True)
class Shape:
    """Documents in the order of the snapshot: the first passage of each, and how many documents link to it."""

    first: Ints
    links_in: Ints

    @property
    def documents(self) -> int:
        """How many documents there are."""
        return len(self.links_in)

    @property
    def passages(self) -> int:
        """How many passages there are."""
        return int(self.first[-1])

    @property
    def document_of(self) -> Narrow:
        """The document of every passage."""
        return np.repeat(np.arange(self.documents, dtype=np.int32), np.diff(self.first))


@dataclass(frozen=True, slots=True)
class TermVectors:
    """The vector of term ``i`` is ``scale[i] * code[i]``; a query's is the sum of those of its terms."""

    scale: Floats
    code: npt.NDArray[np.int8]

    def of(self, terms: npt.NDArray[Any]) -> Floats:
        """The vectors of some terms, a row each."""
        found: Floats = self.code[terms] * self.scale[terms, None]
        return found


@dataclass(frozen=True, slots=True)
class Meanings:
    """Vectors: of passages, each mixed with its document's as a score mixes the two cosines; of documents; of terms.

    Those of documents are centroids: the mean of their passages', made unit.
    """

    mixed: Floats
    documents: Floats
    terms: TermVectors


def has_search_tables(snapshot: SnapshotTables) -> bool:
    """Whether the snapshot has postings; one that only shows pages may lack them."""
    return _has(snapshot, "postings")


def read_lexicon(snapshot: SnapshotTables) -> Lexicon:
    """The terms and postings of the prose index."""
    terms = snapshot.table("terms", ["term", "idf", "passages"])
    postings = snapshot.table("postings", ["passage", "score"])
    counts = terms["passages"].to_numpy().astype(np.int64)
    return Lexicon(
        terms["term"].to_pylist(),
        terms["idf"].to_numpy().astype(np.float32),
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        pc.list_flatten(postings["passage"]).to_numpy().astype(np.int32, copy=False),
        pc.list_flatten(postings["score"]).to_numpy().astype(np.float32, copy=False),
    )


def read_shape(snapshot: SnapshotTables) -> Shape:
    """How passages lie in documents."""
    table = snapshot.table("documents", ["passages", "links_in"])
    counts, links = (pc.fill_null(table[name], 0).to_numpy() for name in ("passages", "links_in"))
    return Shape(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), links.astype(np.int64))


def read_meanings(
    snapshot: SnapshotTables, terms: Sequence[str], shape: Shape, ranking: Ranking
) -> Meanings | None:
    """All vectors, or nothing where the snapshot has none for terms: the index is then one of words alone."""
    if not ranking.meaning or not _has(snapshot, "term_vectors"):
        return None
    rows = snapshot.table("passages", ["vector_row"])["vector_row"].to_numpy()
    passages = _matrix(snapshot.table("vectors", ["vector"])["vector"])[rows]
    pa.default_memory_pool().release_unused()
    documents = _matrix(snapshot.table("centroids", ["vector"])["vector"])
    document_of = shape.document_of
    passages *= np.float32(ranking.passage / ranking.meaning)
    share = np.float32(ranking.document / ranking.meaning)
    for first in range(0, len(passages), _AT_A_TIME):
        part = slice(first, first + _AT_A_TIME)
        passages[part] += share * documents[document_of[part]]
    return Meanings(passages, documents, _term_vectors(snapshot.table("term_vectors"), terms))


def _term_vectors(table: pa.Table, terms: Sequence[str]) -> TermVectors:
    """The vectors in the order of the terms; a term without one has the vector of zeros."""
    codes = table["code"]
    dimension = codes.type.list_size
    found = pc.index_in(pa.array(terms, pa.string()), value_set=table["term"].combine_chunks())
    rows = pc.fill_null(found, -1).to_numpy()
    flat = pc.list_flatten(codes).to_numpy().reshape(-1, dimension)
    scale = np.append(table["scale"].to_numpy().astype(np.float32), np.float32(0))
    return TermVectors(scale[rows], np.vstack([flat, np.zeros((1, dimension), np.int8)])[rows])


def _matrix(column: pa.ChunkedArray) -> Floats:
    flat = pc.list_flatten(column).to_numpy().astype(np.float32, copy=False)
    return flat.reshape(-1, column.type.list_size)


def _has(snapshot: SnapshotTables, name: str) -> bool:
    try:
        snapshot.table(name, ["term"])
    except (ArtifactError, KeyError):
        return False
    return True
