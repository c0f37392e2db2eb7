"""The columns of a snapshot that the search index is made of, read once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ...artifacts.store.snapshot import Snapshot
from ...artifacts.tables.outside_memory import mapped_zeros, zeros
from ...artifacts.tables.parquet import read_blocks
from ..library import SnapshotTables

N = TypeVar("N", bound=np.generic)
Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Narrow = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Terms in the snapshot's order, with postings: term ``i`` owns ``[starts[i], starts[i + 1])``."""

    terms: Sequence[str]
    idf: Floats
    starts: Ints
    passage: Narrow
    score: Floats

    @property
    def frequency(self) -> Ints:
        """Return how many passages hold each term."""
        return np.diff(self.starts)

    def between(self, first: int, end: int) -> Lexicon:
        """Return the terms of a range with their postings."""
        start, stop = self.starts[[first, end]].tolist()
        starts = self.starts[first : end + 1] - start
        own = slice(start, stop)
        return Lexicon(self.terms[first:end], self.idf[first:end], starts, self.passage[own], self.score[own])

    def only(self, kept: npt.NDArray[np.bool_]) -> Lexicon:
        """Return some of the postings, with the terms that they are of."""
        counts = np.diff(np.concatenate([[0], np.cumsum(kept)])[self.starts])
        held = np.flatnonzero(counts)
        return Lexicon(
            [self.terms[at] for at in held.tolist()],
            self.idf[held],
            np.concatenate([[0], np.cumsum(counts[held])]).astype(np.int64),
            self.passage[kept],
            self.score[kept],
        )


@dataclass(frozen=True, slots=True)
class Shape:
    """For each document, in order, its first passage and how many documents link to it."""

    first: Ints
    links_in: Ints

    @property
    def documents(self) -> int:
        """Return how many documents there are."""
        return len(self.links_in)

    @property
    def passages(self) -> int:
        """Return how many passages there are."""
        return int(self.first[-1])

    @property
    def document_of(self) -> Narrow:
        """Return the document of every passage."""
        return np.repeat(np.arange(self.documents, dtype=np.int32), np.diff(self.first))


@dataclass(frozen=True, slots=True)
class TermVectors:
    """Vectors of terms, ``scale[i] * code[i]`` for term ``i``; a query's is the sum of those of its terms."""

    scale: Floats
    code: npt.NDArray[np.int8]

    def of(self, terms: npt.NDArray[Any]) -> Floats:
        """Return the vectors of some terms, a row each."""
        found: Floats = self.code[terms] * self.scale[terms, None]
        return found

    def between(self, first: int, end: int) -> TermVectors:
        """Return the vectors of a range of terms."""
        return TermVectors(self.scale[first:end], self.code[first:end])

    def at(self, places: Ints) -> TermVectors:
        """Return the vectors at some places, zeros where a place is -1."""
        scale = (
            np.where(places >= 0, self.scale[places], np.float32(0))
            if len(self.scale)
            else np.zeros(len(places), np.float32)
        )
        return TermVectors(scale, self.code[places])


@dataclass(frozen=True, slots=True)
class SearchVectors:
    """The centroids of documents, all unit vectors, and the vectors of terms."""

    documents: Floats
    terms: TermVectors


def places_of(some: Lexicon, others: Lexicon) -> Ints:
    """Return the places of terms among others; -1 for those that are not there."""
    found = pc.index_in(pa.array(some.terms, pa.string()), value_set=pa.array(others.terms, pa.string()))
    places: Ints = pc.fill_null(found, -1).to_numpy().astype(np.int64)
    return places


def read_lexicon(snapshot: SnapshotTables) -> Lexicon:
    """Read the terms and postings of the prose index."""
    terms = snapshot.table("terms", ["term", "idf"])
    postings = snapshot.table("postings", ["passage", "score"])
    # A set of shards may keep the frequencies of an earlier night, which are no lengths of its lists.
    counts = pc.list_value_length(postings["passage"]).to_numpy().astype(np.int64)
    return Lexicon(
        terms["term"].to_pylist(),
        terms["idf"].to_numpy().astype(np.float32),
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        _flat(postings["passage"], np.int32, snapshot.spill),
        _flat(postings["score"], np.float32, snapshot.spill),
    )


def _flat(lists: pa.ChunkedArray, kind: type[N], folder: Path | None) -> npt.NDArray[N]:
    """Return the values of all lists, outside memory if there is a folder; raises ``WriteFailed``."""
    if folder is None or lists.num_chunks <= 1:
        found: npt.NDArray[N] = pc.list_flatten(lists).to_numpy().astype(kind, copy=False)
        return found
    parts = [chunk.flatten().to_numpy() for chunk in lists.chunks]
    return np.concatenate(parts, out=mapped_zeros((sum(map(len, parts)),), kind, folder))


def read_shape(snapshot: SnapshotTables) -> Shape:
    """Read how passages lie in documents."""
    table = snapshot.table("documents", ["passages", "links_in"])
    counts, links = (pc.fill_null(table[name], 0).to_numpy() for name in ("passages", "links_in"))
    return Shape(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), links.astype(np.int64))


def read_search_vectors(snapshot: SnapshotTables, terms: Sequence[str]) -> SearchVectors | None:
    """Read the vectors of documents and terms, or nothing if no term has one; raises ``WriteFailed``.

    The index is then one of words alone.
    """
    table = snapshot.table("term_vectors")
    if not len(table):
        return None
    vectors = _term_vectors(table, terms)
    del table
    column = snapshot.table("centroids", ["vector"])["vector"]
    documents = _flat(column, np.float32, snapshot.spill).reshape(-1, column.type.list_size)
    found = SearchVectors(documents, vectors)
    pa.default_memory_pool().release_unused()
    return found


def read_passages(snapshot: SnapshotTables, dimension: int) -> Floats:
    """Read the vector of every passage, a row each."""
    rows = snapshot.table("passages", ["vector_row"])["vector_row"].to_numpy()
    shape, spill = (len(rows), dimension), snapshot.spill
    found = zeros(shape, np.float32, spill)
    order = np.argsort(rows, kind="stable")
    first = 0
    for chunk in blocks(snapshot, "vectors", "vector"):
        start, end = np.searchsorted(rows, [first, first + len(chunk)], sorter=order)
        found[order[start:end]] = _rows(chunk)[rows[order[start:end]] - first]
        first += len(chunk)
    pa.default_memory_pool().release_unused()
    return found


def blocks(snapshot: SnapshotTables, name: str, column: str) -> Iterator[pa.Array]:
    """Yield a table's column in order, in blocks, so that an on-disk snapshot is never all in memory."""
    if isinstance(snapshot, Snapshot):
        for each in snapshot.holders(name):
            yield from read_blocks(each.file(name), column)
    else:
        yield from snapshot.table(name, [column])[column].chunks


def _term_vectors(table: pa.Table, terms: Sequence[str]) -> TermVectors:
    """Return the vectors in the order of the terms; a term without one has zeros."""
    place = pc.index_in(table["term"].combine_chunks(), value_set=pa.array(terms, pa.string())).to_numpy()
    dimension = table["code"].type.list_size
    scale, code = np.zeros(len(terms), np.float32), np.zeros((len(terms), dimension), np.int8)
    given = quantized_vectors(table)
    scale[place], code[place] = given.scale, given.code
    return TermVectors(scale, code)


def quantized_vectors(table: pa.Table) -> TermVectors:
    """Return the vectors of a table, in its order."""
    code = pc.list_flatten(table["code"]).to_numpy().reshape(-1, table["code"].type.list_size)
    return TermVectors(table["scale"].to_numpy(), code)


def _rows(chunk: pa.FixedSizeListArray) -> Floats:
    flat = chunk.flatten().to_numpy().astype(np.float32, copy=False)
    matrix: Floats = flat.reshape(-1, chunk.type.list_size)
    return matrix
