"""What the passes over a shard leave for one another and for the next night, beside the shard's snapshots.

Tables are Arrow files; a record for each pass says what it was made of, and the hash of each table that it
wrote. A pass whose record has the same key, and whose tables are intact, is not repeated. Both name the pass
and its key, so that nobody takes what another run left for this one's.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from ...artifacts.disk import durable
from ...artifacts.disk.layout import SHARDS
from ...artifacts.disk.manifest import unreadable
from ...artifacts.store.shard_set import shard_store
from ...pipeline.errors import ArtifactError, is_transient
from ...pipeline.identity import canonical_json, sha256_hex

PASSES = "passes"
CORPUS = "corpus"
_FORMAT = 5
_PASS, _KEY = b"pass", b"key"
# On a network disk a worker may for a moment see nothing, or what another machine has replaced.
_SEEN_WITHIN_S = 20.0
_LOOK_AGAIN_S = 0.1
_ROWS_AT_A_TIME = 65_536
T = TypeVar("T")


class PassFiles:
    """The tables and records in one folder; tables are memory-mapped when they are read.

    ``made`` has the keys of the passes that this run has made there: only what they left is read, and waited
    for if need be. Without it, whatever is there is read. ``whose`` says what the passes are over.
    """

    def __init__(
        self, folder: Path, made: Mapping[str, str] | None = None, whose: str = "all shards"
    ) -> None:
        self.folder, self._made, self._whose = folder, made, whose

    def write(self, name: str, key: str, tables: Mapping[str, pa.Table], **values: object) -> dict[str, Any]:
        """Write the tables of a pass and then its record, and return that; raises ``WriteFailed``."""
        durable.make_directory(self.folder)
        of_pass = {_PASS: name.encode(), _KEY: key.encode()}
        digests = {table: self._put(table, rows, of_pass) for table, rows in sorted(tables.items())}
        return self._put_record(name, {"format": _FORMAT, "key": key, "tables": digests, "values": values})

    def note(self, name: str, record: Mapping[str, Any], **values: object) -> dict[str, Any]:
        """Write the record of a pass with other values, if they differ, and return it; its tables stay.

        Raises ``WriteFailed``.
        """
        noted = {**record, "values": record["values"] | values}
        return dict(record) if noted == record else self._put_record(name, noted)

    def _put_record(self, name: str, record: dict[str, Any]) -> dict[str, Any]:
        found = {**record, "sha256": _digest_of(record)}
        durable.replace_file(self._record(name), canonical_json(found).encode())
        return found

    def recorded(self, name: str, key: str | None = None) -> dict[str, Any] | None:
        """Return the record of a pass, of this key where one is given, if its tables are as written."""
        try:
            record: dict[str, Any] = json.loads(self._record(name).read_bytes())
            same = record["format"] == _FORMAT and key in (None, record["key"])
            same = same and record["sha256"] == _digest_of(record)
            whole = same and all(self._digest(each) == digest for each, digest in record["tables"].items())
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            return None
        return record if whole else None

    def values(self, name: str) -> dict[str, Any]:
        """Return what a pass noted; raises ``ArtifactError`` if this run has not made it."""

        def look() -> tuple[str, str, dict[str, Any]]:
            record = json.loads(self._record(name).read_bytes())
            return name, record["key"], record["values"]

        return self._of_this_run(look, self._record(name))

    def read(self, table: str) -> pa.Table:
        """Return the rows of a table; raises ``ArtifactError`` if it cannot be read, or is another run's."""

        def look() -> tuple[str, str, pa.Table]:
            rows = self._mapped(table)
            given = dict(rows.schema.metadata or {})
            name, key = (given.pop(each, b"").decode() for each in (_PASS, _KEY))
            return name, key, rows.replace_schema_metadata(given or None)

        return self._of_this_run(look, self._table(table))

    def _of_this_run(self, look: Callable[[], tuple[str, str, T]], path: Path) -> T:
        """Return what ``look`` finds with the name and key of its pass, once it is there and of this run."""
        deadline = time.monotonic() + (0 if self._made is None else _SEEN_WITHIN_S)
        while True:
            is_last = time.monotonic() >= deadline
            try:
                name, key, found = look()
            except (OSError, ValueError, LookupError, TypeError, pa.ArrowException) as error:
                if is_last or not _may_come(error):
                    raise self._unread(error, path) from error
            else:
                if self._made is None or self._made.get(name) == key:
                    return found
                if is_last:
                    raise _late(f"the results of the pass {name!r} belong to another run", path)
            time.sleep(_LOOK_AGAIN_S)

    def _unread(self, error: Exception, path: Path) -> ArtifactError:
        if isinstance(error, FileNotFoundError):
            return _late(f"a file that a pass over {self._whose} left is not there", path)
        return unreadable(error, path) if is_transient(error) else _lost(path, error)

    def _mapped(self, table: str) -> pa.Table:
        with pa.memory_map(str(self._table(table))) as file:
            return pa.ipc.open_file(file).read_all()

    def _put(self, name: str, rows: pa.Table, of_pass: Mapping[bytes, bytes]) -> str:
        marked = rows.replace_schema_metadata({**(rows.schema.metadata or {}), **of_pass})
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, marked.schema) as file:
            file.write_table(marked)
        content = sink.getvalue()
        durable.replace_file(self._table(name), content)
        return sha256_hex(content)

    def _digest(self, name: str) -> str:
        return sha256_hex(self._table(name).read_bytes())

    def _record(self, name: str) -> Path:
        return self.folder / f"{name}.json"

    def _table(self, name: str) -> Path:
        return self.folder / f"{name}.arrow"


def _digest_of(record: Mapping[str, Any]) -> str:
    """Return the hash of a record that stands in it, by which damage is recognised."""
    given = {name: value for name, value in record.items() if name != "sha256"}
    return sha256_hex(canonical_json(given).encode())


def of_shard(store: Path, name: str, made: Mapping[str, str] | None = None) -> PassFiles:
    """Return the files of a shard's passes."""
    return PassFiles(shard_store(store, name) / PASSES, made, f"shard {name}")


def of_corpus(store: Path, made: Mapping[str, str] | None = None) -> PassFiles:
    """Return the files of what was merged over all shards."""
    return PassFiles(store / SHARDS / CORPUS, made)


def table_digest(table: pa.Table) -> str:
    """Return a hash of the columns and rows of a table, whatever pieces it lies in."""
    found = hashlib.sha256(table.schema.remove_metadata().serialize())
    for first in range(0, len(table), _ROWS_AT_A_TIME):
        rows = table.slice(first, _ROWS_AT_A_TIME)
        # Copied: what Arrow writes of a slice depends on what lies after it.
        for batch in rows.take(np.arange(len(rows))).combine_chunks().to_batches():
            found.update(batch.serialize())
    return found.hexdigest()


def _may_come(error: Exception) -> bool:
    """Return whether a file may be there, or be read, a moment later."""
    return isinstance(error, FileNotFoundError) or is_transient(error)


def _late(what: str, path: Path) -> ArtifactError:
    hint = "Check that every worker can access this run's store, then run it again."
    return ArtifactError(what, where=str(path), hint=hint)


def _lost(path: Path, error: Exception) -> ArtifactError:
    return ArtifactError(
        f"the results of a pass cannot be read: {str(error)[:200]}",
        where=str(path),
        hint="Build again: noctule index. If that fails, remove the folder; the build creates it again.",
    )
