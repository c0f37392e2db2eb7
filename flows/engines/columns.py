"""An understood batch as bytes and back: Arrow streams one after the other, no object pickled."""

from __future__ import annotations

import io
from dataclasses import asdict, fields
from typing import Any

import pyarrow as pa

from artifacts import tables
from flows.understand import Understood
from pipeline.acronyms import Acronym
from pipeline.field_counts import FieldCounts
from pipeline.links import LinkingDocument
from pipeline.model import DocId, Link, Rejection

_TABLES = ("documents", "sections", "passages", "code_blocks")
_STRING, _STRINGS, _INTS = pa.string(), pa.list_(pa.string()), pa.list_(pa.int32())
_LINK = pa.struct([("kind", _STRING), ("target", _STRING), ("text", _STRING), ("start", pa.int64())])
_LINKING = pa.schema(
    [
        ("doc_id", _STRING),
        ("collection", _STRING),
        ("path", _STRING),
        ("url", _STRING),
        ("title", _STRING),
        ("aliases", _STRINGS),
        ("anchors", _STRINGS),
        ("links", pa.list_(_LINK)),
    ]
)
_LANGUAGES = pa.schema([("language", _STRING)])
# One row: the columns of a count have lengths of their own.
_COUNTS = pa.schema(
    [
        ("terms", _STRINGS),
        ("term", _INTS),
        ("text", _INTS),
        ("field", pa.list_(pa.int8())),
        ("count", _INTS),
        ("lengths", _INTS),
        ("fields", pa.int32()),
        ("surface", _STRINGS),
        ("surface_language", _STRINGS),
        ("surface_offsets", _INTS),
        ("surface_terms", _INTS),
        ("surface_count", _INTS),
    ]
)


def to_bytes(understood: Understood) -> bytes:
    """The batch as bytes that ``from_bytes`` reads on any machine."""
    sink = io.BytesIO()
    for table in (
        *(getattr(understood, name) for name in _TABLES),
        _rows([asdict(each) for each in understood.linking], _LINKING),
        _counts_table(understood.prose),
        _counts_table(understood.code),
        _rows([asdict(each) for each in understood.acronyms], tables.ACRONYMS),
        _rows([{"language": each} for each in sorted(understood.languages)], _LANGUAGES),
        _rows([asdict(each) for each in understood.rejections], tables.REPORT),
    ):
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
    return sink.getvalue()


def from_bytes(content: bytes) -> Understood:
    """The batch that ``to_bytes`` wrote; its tables lie in ``content``, not in copies of it."""
    source = pa.BufferReader(content)
    documents, sections, passages, code_blocks = (_next(source) for _ in _TABLES)
    linking, prose, code, acronyms, languages, rejections = (_next(source) for _ in range(6))
    return Understood(
        documents=documents,
        sections=sections,
        passages=passages,
        code_blocks=code_blocks,
        linking=tuple(_linking(row) for row in linking.to_pylist()),
        prose=_counts(prose),
        code=_counts(code),
        acronyms=tuple(Acronym(**row) for row in acronyms.to_pylist()),
        languages=frozenset(languages.column("language").to_pylist()),
        rejections=tuple(Rejection(**row) for row in rejections.to_pylist()),
    )


def _next(source: pa.BufferReader) -> pa.Table:
    with pa.ipc.open_stream(source) as reader:
        return reader.read_all()


def _rows(rows: list[dict[str, Any]], schema: pa.Schema) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=schema)


def _linking(row: dict[str, Any]) -> LinkingDocument:
    links = tuple(Link(**link) for link in row.pop("links"))
    aliases, anchors = tuple(row.pop("aliases")), tuple(row.pop("anchors"))
    return LinkingDocument(
        **row | {"doc_id": DocId(row["doc_id"])}, aliases=aliases, anchors=anchors, links=links
    )


def _counts_table(counts: FieldCounts) -> pa.Table:
    columns = {each.name: getattr(counts, each.name) for each in fields(counts)}
    columns["lengths"] = counts.lengths.reshape(-1)
    columns["fields"] = counts.lengths.shape[1]
    return pa.Table.from_arrays([_cell(columns[name], _COUNTS.field(name).type) for name in _COUNTS.names],
                                schema=_COUNTS)  # fmt: skip


def _cell(value: Any, kind: pa.DataType) -> pa.Array:
    if not pa.types.is_list(kind):
        return pa.array([value], type=kind)
    items = pa.array(value, type=kind.value_type)
    return pa.ListArray.from_arrays(pa.array([0, len(items)], type=pa.int32()), items, type=kind)


def _counts(table: pa.Table) -> FieldCounts:
    def column(name: str) -> Any:
        return table.column(name).combine_chunks().values

    text = ("terms", "surface", "surface_language")
    numbers = [name for name in _COUNTS.names if name not in (*text, "fields")]
    values: dict[str, Any] = {name: column(name).to_numpy() for name in numbers}
    width = table.column("fields")[0].as_py()
    values["lengths"] = values["lengths"].reshape(-1, width)
    values |= {name: tuple(column(name).to_pylist()) for name in text}
    return FieldCounts(**values)
