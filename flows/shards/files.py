"""What the passes over a shard leave for one another and for the next night, beside the shard's snapshots.

Tables are Arrow files; a record for each pass says what it was made of, and the hash of each table that it
wrote. A pass whose record has the same key, and whose tables are intact, is not repeated.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from ...artifacts.disk import durable
from ...artifacts.disk.layout import SHARDS
from ...artifacts.disk.manifest import unreadable
from ...artifacts.store.shard_set import shard_store
from ...pipeline.errors import ArtifactError, is_transient
from ...pipeline.identity import canonical_json, sha256_hex

PASSES = "passes"
CORPUS = "corpus"
_FORMAT = 2


class PassFiles:
    """The tables and records in one folder; tables are memory-mapped when they are read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, key: str, tables: Mapping[str, pa.Table], **values: object) -> dict[str, Any]:
        """Write the tables of a pass and then its record, and return that; raises ``WriteFailed``."""
        durable.make_directory(self.folder)
        digests = {table: self._put(table, rows) for table, rows in sorted(tables.items())}
        record = {"format": _FORMAT, "key": key, "tables": digests, "values": values}
        durable.replace_file(self._record(name), canonical_json(record).encode())
        return record

    def recorded(self, name: str, key: str | None = None) -> dict[str, Any] | None:
        """Return the record of a pass, of this key where one is given, if its tables are as written."""
        try:
            record: dict[str, Any] = json.loads(self._record(name).read_bytes())
            same = record["format"] == _FORMAT and key in (None, record["key"])
            whole = same and all(self._digest(each) == digest for each, digest in record["tables"].items())
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            return None
        return record if whole else None

    def values(self, name: str) -> dict[str, Any]:
        """Return what a pass noted; raises ``ArtifactError`` if it has not been made."""
        try:
            found: dict[str, Any] = json.loads(self._record(name).read_bytes())["values"]
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise _lost(self._record(name), error) from error
        return found

    def read(self, table: str) -> pa.Table:
        """Return the rows of a table; raises ``ArtifactError`` if it is not there or cannot be read."""
        try:
            with pa.memory_map(str(self._table(table))) as file:
                return pa.ipc.open_file(file).read_all()
        except (OSError, pa.ArrowException) as error:
            if is_transient(error):
                raise unreadable(error, self._table(table)) from error
            raise _lost(self._table(table), error) from error

    def _put(self, name: str, rows: pa.Table) -> str:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, rows.schema) as file:
            file.write_table(rows)
        content = sink.getvalue()
        durable.replace_file(self._table(name), content)
        return sha256_hex(content)

    def _digest(self, name: str) -> str:
        return sha256_hex(self._table(name).read_bytes())

    def _record(self, name: str) -> Path:
        return self.folder / f"{name}.json"

    def _table(self, name: str) -> Path:
        return self.folder / f"{name}.arrow"


def of_shard(store: Path, name: str) -> PassFiles:
    """Return the files of a shard's passes."""
    return PassFiles(shard_store(store, name) / PASSES)


def of_corpus(store: Path) -> PassFiles:
    """Return the files of what was merged over all shards."""
    return PassFiles(store / SHARDS / CORPUS)


def table_digest(table: pa.Table) -> str:
    """Return a hash of the columns and rows of a table."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as file:
        file.write_table(table.combine_chunks())
    return sha256_hex(sink.getvalue())


def _lost(path: Path, error: Exception) -> ArtifactError:
    return ArtifactError(
        f"a pass over a shard cannot be read: {str(error)[:200]}",
        where=str(path),
        hint="Build again: noctule index. If that fails, remove the folder; the build creates it again.",
    )
