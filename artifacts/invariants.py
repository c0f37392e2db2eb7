"""What must hold between the tables of a snapshot, worked out in columns: seconds for 100,000 passages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from artifacts.vectors import Vectors, first_unsound_row

STATUSES = ("asset", "external", "missing-document", "missing-heading", "resolved")

_BLOCK_ROWS = 16_384

Mask = npt.NDArray[np.bool_]
Tables = Mapping[str, pa.Table]


@dataclass(frozen=True, slots=True)
class Problem:
    """A broken rule: which table, and which row of it."""

    table: str
    what: str


def vector_blocks(column: pa.ChunkedArray, dimension: int) -> Iterator[tuple[int, Vectors]]:
    """A column of fixed-size lists in blocks of rows, each with the number of its first: no copy of the whole."""
    for at in range(0, len(column), _BLOCK_ROWS):
        yield at, rows_of(column.slice(at, _BLOCK_ROWS), dimension)


def problems(tables: Tables) -> Iterator[Problem]:
    """Every broken rule, one row of each rule; nothing for a sound snapshot."""
    for rule in RULES:
        yield from rule(tables)


def rows_of(column: pa.ChunkedArray, dimension: int) -> Vectors:
    """A column of fixed-size lists as the rows of a matrix."""
    flat = pc.list_flatten(column).to_numpy().astype(np.float32, copy=False)
    return np.ascontiguousarray(flat).reshape(-1, dimension)


def _where(table: str, wrong: Mask, what: str) -> Iterator[Problem]:
    if wrong.any():
        yield Problem(table, f"row {int(np.argmax(wrong))}: {what}; {int(wrong.sum())} such rows")


def _mask(condition: pa.ChunkedArray) -> Mask:
    return np.asarray(pc.fill_null(condition, True).to_numpy(zero_copy_only=False), dtype=np.bool_)


def _missing(column: pa.ChunkedArray, among: pa.ChunkedArray, null_is_fine: bool = False) -> Mask:
    known = pc.is_in(column, value_set=among.combine_chunks())
    wrong = pc.invert(known)
    return _mask(pc.and_(wrong, pc.is_valid(column)) if null_is_fine else wrong)


def _row_in(column: pa.ChunkedArray, among: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    """The row of each value among others, -1 if it is not there or null."""
    rows = pc.index_in(column, value_set=among.combine_chunks())
    found = np.array(pc.fill_null(rows, -1).to_numpy(), dtype=np.int64)
    found[_mask(pc.is_null(column))] = -1
    return found


def _ints(table: pa.Table, column: str) -> npt.NDArray[np.int64]:
    return np.asarray(pc.fill_null(table[column], -1).to_numpy(), dtype=np.int64)


def _not_rising(column: pa.ChunkedArray) -> Mask:
    """Rows that are not greater than the row before, or null; strings compare by code point."""
    flat = column.combine_chunks()
    wrong = np.zeros(len(flat), dtype=np.bool_)
    if len(flat):
        wrong[0] = not flat[0].is_valid
        wrong[1:] = _mask(pc.invert(pc.greater(flat[1:], flat[:-1])))
    return wrong


def _documents(tables: Tables) -> Iterator[Problem]:
    documents, passages = tables["documents"], tables["passages"]
    yield from _where("documents", _not_rising(documents["doc_id"]), "doc_id is not unique and sorted")
    communities = tables["communities"]["community_id"]
    yield from _where(
        "documents", _missing(documents["community"], communities, null_is_fine=True), "no such community"
    )
    yield from _where("communities", _not_rising(communities), "community_id is not unique and sorted")
    owners = _row_in(passages["doc_id"], documents["doc_id"])
    counted = np.bincount(owners[owners >= 0], minlength=documents.num_rows)
    yield from _where("documents", _ints(documents, "passages") != counted, "passages is not their number")


def _owned(table: str) -> Callable[[Tables], Iterator[Problem]]:
    """The rows' section and document exist, and the span lies within the section's own body."""

    def rule(tables: Tables) -> Iterator[Problem]:
        rows, sections = tables[table], tables["sections"]
        yield from _where(table, _missing(rows["doc_id"], tables["documents"]["doc_id"]), "no such document")
        parent = _row_in(rows["section_id"], sections["section_id"])
        yield from _where(table, parent < 0, "no such section")
        if (parent < 0).any():
            return
        same = pc.equal(rows["doc_id"], sections["doc_id"].take(pa.array(parent)))
        yield from _where(table, ~_mask(same), "its section is in another document")
        start, end = _ints(rows, "byte_start"), _ints(rows, "byte_end")
        inside = (_ints(sections, "byte_start")[parent] <= start) & (
            end <= _ints(sections, "body_end")[parent]
        )
        yield from _where(table, ~inside | (start > end), "its span is not within its section")

    return rule


def _sections(tables: Tables) -> Iterator[Problem]:
    sections, documents = tables["sections"], tables["documents"]
    yield from _where("sections", _repeated(sections["section_id"]), "section_id is not unique")
    owner = _row_in(sections["doc_id"], documents["doc_id"])
    yield from _where("sections", owner < 0, "no such document")
    is_root = _ints(sections, "depth") == 0
    yield from _where(
        "sections",
        is_root != _mask(pc.is_null(sections["parent_id"])),
        "depth 0 and no parent must go together",
    )
    roots = np.bincount(owner[is_root & (owner >= 0)], minlength=documents.num_rows)
    yield from _where("documents", roots != 1, "it must have one section of depth 0")
    if not (owner < 0).any():
        yield from _nesting(sections, owner, _text_bytes(documents))


def _text_bytes(documents: pa.Table) -> npt.NDArray[np.int64]:
    return np.asarray(pc.fill_null(pc.binary_length(documents["text"]), 0).to_numpy(), dtype=np.int64)


def _nesting(
    sections: pa.Table, owner: npt.NDArray[np.int64], text_bytes: npt.NDArray[np.int64]
) -> Iterator[Problem]:
    start, body, end = (_ints(sections, name) for name in ("byte_start", "body_end", "byte_end"))
    sound = (start >= 0) & (start <= body) & (body <= end) & (end <= text_bytes[owner])
    yield from _where("sections", ~sound, "its span is not within its document")
    has_parent = _mask(pc.is_valid(sections["parent_id"]))
    parent = _row_in(sections["parent_id"], sections["section_id"])
    yield from _where("sections", has_parent & (parent < 0), "no such parent section")
    child = np.flatnonzero(parent >= 0)
    above, depth = parent[child], _ints(sections, "depth")
    wrong = np.zeros(sections.num_rows, dtype=np.bool_)
    wrong[child] = (depth[above] >= depth[child]) | (owner[above] != owner[child])
    yield from _where("sections", wrong, "its parent is not shallower, or in another document")
    wrong[child] = (start[child] < start[above]) | (end[child] > end[above])
    yield from _where("sections", wrong, "its span is not within its parent's")


def _repeated(column: pa.ChunkedArray) -> Mask:
    """Rows whose value is null or was there before."""
    return np.asarray(_row_in(column, column) != np.arange(len(column)), dtype=np.bool_)


def _passages(tables: Tables) -> Iterator[Problem]:
    passages, vectors = tables["passages"], tables["vectors"]
    yield from _where("passages", _repeated(passages["passage_id"]), "passage_id is not unique")
    document, ordinal = _row_in(passages["doc_id"], tables["documents"]["doc_id"]), _ints(passages, "ordinal")
    falls = (np.diff(document) < 0) | ((np.diff(document) == 0) & (np.diff(ordinal) <= 0))
    yield from _where("passages", np.append(False, falls)[: len(ordinal)], "not sorted by doc_id and ordinal")
    row = _ints(passages, "vector_row")
    outside = (row < 0) | (row >= vectors.num_rows)
    yield from _where("passages", outside, f"vector_row is not in 0..{vectors.num_rows - 1}")
    if not outside.any():
        theirs = vectors["content_hash"].take(pa.array(row))
        wrong = _mask(pc.not_equal(passages["content_hash"], theirs))
        yield from _where("passages", wrong, "its vector_row has another content_hash")


def _vectors(tables: Tables) -> Iterator[Problem]:
    vectors = tables["vectors"]
    yield from _where("vectors", _repeated(vectors["content_hash"]), "content_hash is not unique")
    yield from _where("vectors", _mask(pc.is_null(vectors["vector"])), "no vector")
    dimension = vectors["vector"].type.list_size
    for start, rows in (
        vector_blocks(vectors["vector"], dimension) if vectors["vector"].null_count == 0 else ()
    ):
        row = first_unsound_row(rows)
        if row is not None:
            yield Problem("vectors", f"row {start + row}: the vector is not finite and of length 1")
            return


def _links(tables: Tables) -> Iterator[Problem]:
    links, documents = tables["links"], tables["documents"]["doc_id"]
    yield from _where("links", _missing(links["source_id"], documents), "no such source document")
    yield from _where("links", _missing(links["target_id"], documents, null_is_fine=True), "no such target")
    yield from _where("links", _missing(links["status"], pa.chunked_array([STATUSES])), "no such status")
    found = pc.is_in(links["status"], value_set=pa.array(["resolved", "missing-heading"]))
    wrong = _mask(pc.and_(found, pc.is_null(links["target_id"])))
    yield from _where("links", wrong, "it is resolved and has no target")


def _lexical(terms_table: str, postings_table: str) -> Callable[[Tables], Iterator[Problem]]:
    """Terms and postings name the same terms in the same order, and the lists are sound."""

    def rule(tables: Tables) -> Iterator[Problem]:
        terms, postings = tables[terms_table], tables[postings_table]
        yield from _where(terms_table, _not_rising(terms["term"]), "term is not unique and sorted")
        if not terms["term"].combine_chunks().equals(postings["term"].combine_chunks()):
            yield Problem(postings_table, f"its terms are not those of {terms_table}, in order")
            return
        passage, score, fields = (postings[n].combine_chunks() for n in ("passage", "score", "fields"))
        if passage.null_count or score.null_count or fields.null_count:
            yield Problem(postings_table, "a list is null")
            return
        counts = np.asarray(pc.list_value_length(passage).to_numpy(), dtype=np.int64)
        wrong = counts != pc.list_value_length(score).to_numpy()
        wrong |= counts != pc.list_value_length(fields).to_numpy()
        yield from _where(postings_table, wrong, "passage, score and fields differ in length")
        if pc.min(fields.flatten()).as_py() == 0:
            yield Problem(postings_table, "a posting is in no field")
        yield from _where(
            terms_table, _ints(terms, "passages") != counts, "passages is not the list's length"
        )
        yield from _postings(postings_table, passage, score, counts, tables["passages"].num_rows)
        if not wrong.any():
            yield from _where(terms_table, _not_highest(terms, score, counts), "max_score is not the highest")

    return rule


def _postings(
    table: str, passage: pa.ListArray, score: pa.ListArray, counts: npt.NDArray[np.int64], passages: int
) -> Iterator[Problem]:
    rows, scores = passage.flatten(), score.flatten().to_numpy(zero_copy_only=False)
    if rows.null_count or not np.isfinite(scores).all():
        yield Problem(table, "a passage is null, or a score is not a finite number")
        return
    numbers = rows.to_numpy()
    starts = np.zeros(len(numbers), dtype=np.bool_)
    begins = (np.cumsum(counts) - counts)[counts > 0]
    starts[begins] = True
    wrong = (numbers < 0) | (numbers >= passages)
    wrong[1:] |= (np.diff(numbers) <= 0) & ~starts[1:]
    if wrong.any():
        row = int(np.searchsorted(np.cumsum(counts), int(np.argmax(wrong)), side="right"))
        yield Problem(table, f"row {row}: passages are not rising within 0..{passages - 1}")


def _not_highest(terms: pa.Table, score: pa.ListArray, counts: npt.NDArray[np.int64]) -> Mask:
    filled = counts > 0
    highest = np.zeros(len(counts), dtype=np.float32)
    if filled.any():
        begins = (np.cumsum(counts) - counts)[filled]
        highest[filled] = np.maximum.reduceat(score.flatten().to_numpy(zero_copy_only=False), begins)
    return np.asarray(terms["max_score"].to_numpy() != highest, dtype=np.bool_)


def _surfaces(tables: Tables) -> Iterator[Problem]:
    surfaces = tables["surfaces"]
    # NUL comes before every other character, so joined keys stand in the order of the pairs.
    keys = pc.binary_join_element_wise(surfaces["surface"], surfaces["language"], "\0")
    yield from _where("surfaces", _not_rising(keys), "not unique and sorted by surface and language")
    yield from _where("surfaces", _mask(pc.is_null(surfaces["terms"])), "no list of terms")
    yield from _where("surfaces", _ints(surfaces, "count") < 0, "count is no number from 0")


def _acronyms(tables: Tables) -> Iterator[Problem]:
    acronyms, documents = tables["acronyms"], _ints(tables["acronyms"], "documents")
    named = pc.and_(pc.is_valid(acronyms["acronym"]), pc.is_valid(acronyms["expansion"]))
    yield from _where("acronyms", ~_mask(named), "no acronym or no expansion")
    wrong = (documents < 1) | (documents > tables["documents"].num_rows)
    yield from _where("acronyms", wrong, "documents is not from 1 to their number")
    order = [("acronym", "ascending"), ("documents", "descending"), ("expansion", "ascending")]
    if not acronyms.sort_by(order).equals(acronyms.combine_chunks()):
        yield Problem("acronyms", "not sorted by acronym, documents and expansion")


def _vocabulary(tables: Tables) -> Iterator[Problem]:
    vocabulary = tables["vocabulary"]
    yield from _where("vocabulary", _not_rising(vocabulary["term"]), "term is not unique and sorted")
    near, similarity = vocabulary["near"], vocabulary["near_similarity"]
    wrong = _mask(pc.not_equal(pc.list_value_length(near), pc.list_value_length(similarity)))
    yield from _where("vocabulary", wrong, "near and near_similarity differ in length")
    strange = _missing(pc.list_flatten(near), vocabulary["term"])
    if strange.any():
        row = pc.list_parent_indices(near)[int(np.argmax(strange))].as_py()
        yield Problem("vocabulary", f"row {row}: a near term is not in the vocabulary")
    if vocabulary["vector"].null_count == 0:
        flat = pc.list_flatten(vocabulary["vector"]).to_numpy()
        if not np.isfinite(flat).all():
            yield Problem("vocabulary", "a vector is not finite")


RULES: tuple[Callable[[Tables], Iterator[Problem]], ...] = (
    _documents,
    _sections,
    _owned("passages"),
    _owned("code_blocks"),
    _passages,
    _vectors,
    _links,
    _lexical("terms", "postings"),
    _lexical("code_terms", "code_postings"),
    _surfaces,
    _acronyms,
    _vocabulary,
)
