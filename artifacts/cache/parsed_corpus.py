"""The parsed corpus, and its form on disk: one row per group of documents, with whole tables in its columns.

The columns of a row are whole tables (lists of structs), so that the rows of many groups, concatenated, are
the tables of the whole corpus without a copy. Terms are numbered within each group, and renumbered when
groups are joined.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ...pipeline.lexical.field_counts import FieldCounts, count_fields
from ...pipeline.model import ReportEntry
from ...pipeline.settings.settings import FIELDS
from ...pipeline.vocabulary.acronyms import Acronym
from ..tables.schemas import CODE_BLOCKS, DOCUMENTS, PASSAGES, SECTIONS, STRINGS
from .counted_terms import COUNTS, counts_column, counts_outside_memory, joined_counts
from .linking_rows import LINKING, LinkingRows, linking_table

_ACRONYM = pa.struct({"acronym": pa.string(), "expansion": pa.string(), "documents": pa.int32()})
_REJECTION = pa.struct(
    {"collection": pa.string(), "path": pa.string(), "kind": pa.string(), "reason": pa.string()}
)
_TABLES = {"documents": DOCUMENTS, "sections": SECTIONS, "passages": PASSAGES, "code_blocks": CODE_BLOCKS}
# ``key`` is the hash of the group's content; all of its documents belong to one collection.
GROUPS = pa.schema(
    [pa.field("key", pa.string()), pa.field("collection", pa.string())]
    + [pa.field(name, pa.list_(pa.struct(list(schema)))) for name, schema in _TABLES.items()]
    + [pa.field("linking", pa.list_(LINKING)), pa.field("prose", COUNTS), pa.field("code", COUNTS)]
    + [pa.field("acronyms", pa.list_(_ACRONYM)), pa.field("languages", STRINGS)]
    + [pa.field("rejections", pa.list_(_REJECTION))]
)


@dataclass(frozen=True, slots=True)
class ParsedCorpus:
    """The contents of parsed documents; rows are in order of document, then of appearance."""

    documents: pa.Table
    sections: pa.Table
    passages: pa.Table
    code_blocks: pa.Table
    linking: pa.ChunkedArray
    prose: FieldCounts
    code: FieldCounts
    acronyms: tuple[Acronym, ...]
    languages: frozenset[str]
    rejections: tuple[ReportEntry, ...]

    def without_counts(self) -> ParsedCorpus:
        """Return the corpus without term counts and links, which are a third of its memory."""
        nothing = count_fields([], [])
        return replace(self, prose=nothing, code=nothing, linking=pa.chunked_array([], LINKING))

    def outside_memory(self, folder: Path) -> ParsedCorpus:
        """Return the corpus with its term counts outside memory, as its tables are that come from the cache.

        Raises ``WriteFailed``.
        """
        prose, code = (counts_outside_memory(each, folder) for each in (self.prose, self.code))
        return replace(self, prose=prose, code=code)

    def linking_documents(self) -> LinkingRows:
        """Return what the links of each document need, and what links can lead to."""
        return LinkingRows(linking_table(self.linking))


def group_row(key: str, collection: str, parsed: ParsedCorpus) -> pa.Table:
    """Return a group of documents of one collection as the one row that stands for it."""
    columns = [
        pa.array([key], pa.string()),
        pa.array([collection], pa.string()),
        *(_one(getattr(parsed, name).to_struct_array()) for name in _TABLES),
        _one(parsed.linking),
        counts_column(parsed.prose),
        counts_column(parsed.code),
        _one(_records(parsed.acronyms, _ACRONYM)),
        pa.array([sorted(parsed.languages)], STRINGS),
        _one(_records(parsed.rejections, _REJECTION)),
    ]
    return pa.Table.from_arrays(columns, schema=GROUPS)


def in_one_piece(rows: pa.Table) -> pa.Table:
    """Return the rows in one chunk, or in as few as 32-bit offsets allow."""
    try:
        return rows.combine_chunks()
    except pa.ArrowInvalid:
        if len(rows) < 2:
            raise
        middle = len(rows) // 2
        return pa.concat_tables([in_one_piece(rows.slice(0, middle)), in_one_piece(rows.slice(middle))])


def _one(values: pa.Array | pa.ChunkedArray) -> pa.ListArray:
    whole = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    whole = pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole
    return pa.ListArray.from_arrays(pa.array([0, len(whole)], pa.int32()), whole)


def _records(nouns: Iterable[Any], kind: pa.StructType) -> pa.StructArray:
    given = list(nouns)
    columns = [pa.array([getattr(noun, field.name) for noun in given], field.type) for field in kind]
    return pa.StructArray.from_arrays(columns, fields=list(kind))


def joined(rows: pa.Table) -> ParsedCorpus:
    """Join the documents of all groups, in the order of the rows."""
    tables = {name: _flat(rows[name], schema) for name, schema in _TABLES.items()}
    acronyms = pc.list_flatten(rows["acronyms"]).to_pylist()
    rejections = pc.list_flatten(rows["rejections"]).to_pylist()
    languages = pc.unique(pc.list_flatten(rows["languages"])).to_pylist()
    return ParsedCorpus(
        **tables,
        linking=pa.chunked_array([chunk.flatten() for chunk in rows["linking"].chunks], LINKING),
        prose=joined_counts(rows["prose"], len(FIELDS)),
        code=joined_counts(rows["code"], 1),
        acronyms=tuple(Acronym(**each) for each in acronyms),
        languages=frozenset(languages),
        rejections=tuple(ReportEntry(**each) for each in rejections),
    )


def _flat(column: pa.ChunkedArray, schema: pa.Schema) -> pa.Table:
    """Concatenate the rows of every group, chunk by chunk, since a chunk's text fits 32-bit offsets."""
    parts = [
        pa.Table.from_arrays(chunk.flatten().flatten(), schema=schema)
        for chunk in column.chunks
        if len(chunk)
    ]
    return pa.concat_tables([schema.empty_table(), *parts])
