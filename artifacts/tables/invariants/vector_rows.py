"""The invariants of vectors: of passages, documents, words and terms."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..vectors import first_unsound_row
from .columns import Problem, Tables, mask, missing, not_rising, repeated, vector_blocks, where


def vectors(tables: Tables) -> Iterator[Problem]:
    """Check that every distinct passage has one finite unit vector."""
    vectors = tables["vectors"]
    yield from where("vectors", repeated(vectors["content_hash"]), "content_hash is not unique")
    yield from where("vectors", mask(pc.is_null(vectors["vector"])), "no vector")
    dimension = vectors["vector"].type.list_size
    for start, rows in (
        vector_blocks(vectors["vector"], dimension) if vectors["vector"].null_count == 0 else ()
    ):
        row = first_unsound_row(rows)
        if row is not None:
            yield Problem("vectors", f"row {start + row}: the vector is not finite and of length 1")
            return


def vocabulary(tables: Tables) -> Iterator[Problem]:
    """Check that words are unique and sorted, with near words from the same table."""
    vocabulary = tables["vocabulary"]
    yield from where("vocabulary", not_rising(vocabulary["term"]), "term is not unique and sorted")
    near, similarity = vocabulary["near"], vocabulary["near_similarity"]
    wrong = mask(pc.not_equal(pc.list_value_length(near), pc.list_value_length(similarity)))
    yield from where("vocabulary", wrong, "near and near_similarity differ in length")
    strange = missing(pc.list_flatten(near), vocabulary["term"])
    if strange.any():
        row = pc.list_parent_indices(near)[int(np.argmax(strange))].as_py()
        yield Problem("vocabulary", f"row {row}: a near term is not in the vocabulary")
    if vocabulary["vector"].null_count == 0:
        flat = pc.list_flatten(vocabulary["vector"]).to_numpy()
        if not np.isfinite(flat).all():
            yield Problem("vocabulary", "a vector is not finite")


def centroids(tables: Tables) -> Iterator[Problem]:
    """Check that every document has its centroid: a unit vector, or zeros."""
    found, documents = tables["centroids"], tables["documents"]
    if not found["doc_id"].combine_chunks().equals(documents["doc_id"].combine_chunks()):
        yield Problem("centroids", "its rows are not the documents, in order")
        return
    yield from where("centroids", mask(pc.is_null(found["vector"])), "no vector")
    if found["vector"].null_count:
        return
    for start, rows in vector_blocks(found["vector"], found["vector"].type.list_size):
        somewhere = np.flatnonzero(rows.any(axis=1))  # a document without passages has none
        row = first_unsound_row(rows[somewhere])
        if row is not None:
            what = f"row {start + int(somewhere[row])}: the vector is not finite and of length 1, nor zeros"
            yield Problem("centroids", what)
            return


def term_vectors(tables: Tables) -> Iterator[Problem]:
    """Check that term vectors belong to sorted terms of the prose index, each with a positive scale."""
    found = tables["term_vectors"]
    yield from where("term_vectors", missing(found["term"], tables["terms"]["term"]), "no such term")
    yield from _quantized("term_vectors", "term", found)


def token_vectors(tables: Tables) -> Iterator[Problem]:
    """Check that tokens are sorted, each with a positive scale; an older snapshot has none."""
    if "token_vectors" in tables:
        yield from _quantized("token_vectors", "token", tables["token_vectors"])


def _quantized(table: str, name: str, found: pa.Table) -> Iterator[Problem]:
    yield from where(table, not_rising(found[name]), f"{name} is not unique and sorted")
    scale = found["scale"].to_numpy()
    yield from where(table, ~(np.isfinite(scale) & (scale > 0)), "scale is not above 0")
    yield from where(table, mask(pc.is_null(found["code"])), "no code")
