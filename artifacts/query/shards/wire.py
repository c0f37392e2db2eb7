"""What processes send one another about a request, as JSON and as Arrow tables with a record in JSON."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pydantic import TypeAdapter, ValidationError

from ....pipeline.errors import ArtifactError
from .found import SHOWN, FoundInShards, FoundRecord

# Raised if either side would misread the other.
PROTOCOL = 2
MEDIA_TYPE = "application/vnd.apache.arrow.stream"
MAX_BYTES = 64_000_000
_KEY = b"noctule"
_RECORD: TypeAdapter[FoundRecord] = TypeAdapter(FoundRecord)
_REQUIRED = ("row", "doc_id", "ordinal", "section_id", "content", "passages_of", "links_in")


def to_bytes(found: FoundInShards) -> bytes:
    """Return what was found as the bytes of an Arrow stream."""
    return table_bytes(found.passages.replace_schema_metadata({_KEY: _RECORD.dump_json(found.record)}))


def from_bytes(content: bytes, where: str) -> FoundInShards:
    """Return what was found; raise ``ArtifactError`` for bytes that are not that, naming who sent them."""
    table = table_of(content, where)
    try:
        record = _RECORD.validate_json((table.schema.metadata or {})[_KEY])
    except (KeyError, ValidationError) as error:
        raise _unsound(f"{type(error).__name__}", where) from None
    wanted = [f"{kind}.{n}" for n in range(len(record.lists)) for kind in ("found", "score")]
    missing = sorted({*_REQUIRED, *wanted} - set(table.column_names))
    if missing:
        raise _unsound(f"there is no {missing[0]}", where)
    return FoundInShards(record, table)


def table_bytes(table: pa.Table) -> bytes:
    """Return the bytes of an Arrow stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def table_of(content: bytes, where: str) -> pa.Table:
    """Return the table in the bytes of an Arrow stream; raise ``ArtifactError``."""
    try:
        table = pa.ipc.open_stream(content).read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _unsound(str(error)[:200], where) from None
    return table


def shown_rows(content: bytes, rows: int, where: str) -> list[dict[str, Any]]:
    """Return what hits show of so many passages; raise ``ArtifactError``."""
    table = table_of(content, where)
    if table.column_names != list(SHOWN) or len(table) != rows:
        raise _unsound(f"{len(table)} rows of {', '.join(table.column_names)[:100]}", where)
    found: list[dict[str, Any]] = table.to_pylist()
    return found


def _unsound(what: str, where: str) -> ArtifactError:
    hint = "Run the same version of noctule in all processes."
    return ArtifactError(f"the answer is not what was asked for: {what}", where=where, hint=hint)
