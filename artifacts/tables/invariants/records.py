"""The invariants of documents, their sections and passages, and the links between them and to assets."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ....pipeline.model import OTHER_PROJECT
from .columns import Problem, Tables, ints, mask, missing, not_rising, repeated, row_in, where

# Sorts before every other character, so joined keys are in the order of the pairs.
_BETWEEN = "\0"
STATUSES = (
    "asset",
    "external",
    "missing-asset",
    "missing-document",
    "missing-heading",
    OTHER_PROJECT,
    "resolved",
)


def documents(tables: Tables) -> Iterator[Problem]:
    """Check that documents are unique and sorted, with the right communities and passage counts."""
    documents, passages = tables["documents"], tables["passages"]
    yield from where("documents", not_rising(documents["doc_id"]), "doc_id is not unique and sorted")
    communities = tables["communities"]["community_id"]
    yield from where(
        "documents", missing(documents["community"], communities, null_is_fine=True), "no such community"
    )
    yield from where("communities", not_rising(communities), "community_id is not unique and sorted")
    owners = row_in(passages["doc_id"], documents["doc_id"])
    counted = np.bincount(owners[owners >= 0], minlength=documents.num_rows)
    yield from where("documents", ints(documents, "passages") != counted, "passages is not their number")


def owned(table: str) -> Callable[[Tables], Iterator[Problem]]:
    """Check that the rows' section and document exist, and that the span is within the section's own body."""

    def rule(tables: Tables) -> Iterator[Problem]:
        rows, sections = tables[table], tables["sections"]
        yield from where(table, missing(rows["doc_id"], tables["documents"]["doc_id"]), "no such document")
        parent = row_in(rows["section_id"], sections["section_id"])
        yield from where(table, parent < 0, "no such section")
        if (parent < 0).any():
            return
        same = pc.equal(rows["doc_id"], sections["doc_id"].take(pa.array(parent)))
        yield from where(table, ~mask(same), "its section is in another document")
        start, end = ints(rows, "byte_start"), ints(rows, "byte_end")
        inside = (ints(sections, "byte_start")[parent] <= start) & (end <= ints(sections, "body_end")[parent])
        yield from where(table, ~inside | (start > end), "its span is not within its section")

    return rule


def sections(tables: Tables) -> Iterator[Problem]:
    """Check that sections form one tree per document, each within its parent."""
    sections, documents = tables["sections"], tables["documents"]
    yield from where("sections", repeated(sections["section_id"]), "section_id is not unique")
    owner = row_in(sections["doc_id"], documents["doc_id"])
    yield from where("sections", owner < 0, "no such document")
    is_root = ints(sections, "depth") == 0
    yield from where(
        "sections",
        is_root != mask(pc.is_null(sections["parent_id"])),
        "depth 0 and no parent must go together",
    )
    roots = np.bincount(owner[is_root & (owner >= 0)], minlength=documents.num_rows)
    yield from where("documents", roots != 1, "it must have one section of depth 0")
    if not (owner < 0).any():
        yield from _nesting(sections, owner, _text_bytes(documents))


def _text_bytes(documents: pa.Table) -> npt.NDArray[np.int64]:
    return np.asarray(pc.fill_null(pc.binary_length(documents["text"]), 0).to_numpy(), dtype=np.int64)


def _nesting(
    sections: pa.Table, owner: npt.NDArray[np.int64], text_bytes: npt.NDArray[np.int64]
) -> Iterator[Problem]:
    start, body, end = (ints(sections, name) for name in ("byte_start", "body_end", "byte_end"))
    sound = (start >= 0) & (start <= body) & (body <= end) & (end <= text_bytes[owner])
    yield from where("sections", ~sound, "its span is not within its document")
    has_parent = mask(pc.is_valid(sections["parent_id"]))
    parent = row_in(sections["parent_id"], sections["section_id"])
    yield from where("sections", has_parent & (parent < 0), "no such parent section")
    child = np.flatnonzero(parent >= 0)
    above, depth = parent[child], ints(sections, "depth")
    wrong = np.zeros(sections.num_rows, dtype=np.bool_)
    wrong[child] = (depth[above] >= depth[child]) | (owner[above] != owner[child])
    yield from where("sections", wrong, "its parent is not shallower, or in another document")
    wrong[child] = (start[child] < start[above]) | (end[child] > end[above])
    yield from where("sections", wrong, "its span is not within its parent's")


def passages(tables: Tables) -> Iterator[Problem]:
    """Check that passages are unique and sorted, and that each has the vector of its content."""
    passages, vectors = tables["passages"], tables["vectors"]
    yield from where("passages", repeated(passages["passage_id"]), "passage_id is not unique")
    document, ordinal = row_in(passages["doc_id"], tables["documents"]["doc_id"]), ints(passages, "ordinal")
    falls = (np.diff(document) < 0) | ((np.diff(document) == 0) & (np.diff(ordinal) <= 0))
    yield from where("passages", np.append(False, falls)[: len(ordinal)], "not sorted by doc_id and ordinal")
    row = ints(passages, "vector_row")
    outside = (row < 0) | (row >= vectors.num_rows)
    yield from where("passages", outside, f"vector_row is not in 0..{vectors.num_rows - 1}")
    if not outside.any():
        theirs = vectors["content_hash"].take(pa.array(row))
        wrong = mask(pc.not_equal(passages["content_hash"], theirs))
        yield from where("passages", wrong, "its vector_row has another content_hash")


def links(tables: Tables) -> Iterator[Problem]:
    """Check that links lead from a document to a document, with a status."""
    links, documents = tables["links"], tables["documents"]["doc_id"]
    yield from where("links", missing(links["source_id"], documents), "no such source document")
    yield from where("links", missing(links["target_id"], documents, null_is_fine=True), "no such target")
    yield from where("links", missing(links["status"], pa.chunked_array([STATUSES])), "no such status")
    found = pc.is_in(links["status"], value_set=pa.array(["resolved", "missing-heading"]))
    wrong = mask(pc.and_(found, pc.is_null(links["target_id"])))
    yield from where("links", wrong, "it is resolved and has no target")


def assets(tables: Tables) -> Iterator[Problem]:
    """Check that assets are sorted, have a size, and are named by links, all of them."""
    assets, links = tables["assets"], tables["links"]
    keys = _keys(assets["collection"], assets["path"])
    yield from where("assets", not_rising(keys), "not unique and sorted by collection and path")
    yield from where("assets", ints(assets, "bytes") < 0, "bytes is not a number from 0")
    for name in ("width", "height"):
        wrong = mask(pc.less(assets[name], 1)) & mask(pc.is_valid(assets[name]))
        yield from where("assets", wrong, f"{name} is not above 0")
    named = _named(tables)
    yield from where("links", missing(named, keys, null_is_fine=True), "no such asset")
    yield from where("assets", missing(keys, named), "no link names it")
    is_asset = mask(pc.equal(links["status"], "asset"))
    wrong = is_asset != mask(pc.is_valid(links["asset"]))
    yield from where("links", wrong, "the status asset and a path must go together")


def _named(tables: Tables) -> pa.ChunkedArray:
    """Return the asset of each link with its document's collection before it; null for none."""
    links, documents = tables["links"], tables["documents"]
    source = row_in(links["source_id"], documents["doc_id"])
    place = pa.array(source, mask=source < 0) if len(source) else pa.array(np.zeros(0, np.int64))
    return _keys(documents["collection"].take(place), links["asset"])


def _keys(collection: pa.ChunkedArray, path: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.binary_join_element_wise(collection, path, _BETWEEN)
