"""A set of shards, read as one snapshot: rows are numbered over all shards, in the order of their names.

A shard is an ordinary snapshot in a store of its own, below the set's. What belongs to the whole corpus, such
as the frequencies of terms and the names of communities, lies in the set; documents and all that is theirs
lie in the shards.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from ...pipeline.errors import ArtifactError
from ..disk.layout import SET_TABLES, SHARDS, TABLES, table_file
from ..disk.locks import Lock
from ..disk.manifest import Manifest, damaged
from ..disk.manifest_records import ShardRecord
from .snapshot import Snapshot

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa
    import pyarrow.parquet as pq

Firsts = npt.NDArray[np.int64]
POSTINGS = {"postings": "terms", "code_postings": "code_terms"}
# Tables whose rows have numbers of their own.
_NUMBERED = ("documents", "passages", "vectors")
_PASSAGES = "list_transform(passage, lambda row: (row + {first})::int) as passage"
# Columns that hold numbers of rows of another table.
_NUMBERS = {
    "passages": ("vectors", "(vector_row + {first})::int as vector_row"),
    "postings": ("passages", _PASSAGES),
    "code_postings": ("passages", _PASSAGES),
}


class ShardSet(Snapshot):
    """A verified set of shards, or some of them, with the interface of a snapshot; threads may share it.

    Of some, counts in the manifest and all tables of the set stay those of the whole corpus.
    """

    __slots__ = ("_first", "_parts")

    def __init__(
        self,
        path: Path,
        manifest: Manifest,
        pin: Lock | None,
        parts: Sequence[Snapshot],
        records: Sequence[ShardRecord] | None = None,
    ) -> None:
        # First: whoever fails here has not taken the pin, and lets go of nothing.
        for part, record in zip(parts, manifest.shards if records is None else records, strict=True):
            require_of_set(part.path, part.manifest, record, manifest)
        super().__init__(path, manifest, pin)
        self._parts = tuple(parts)
        self._first = {table: _firsts(self._parts, table) for table in _NUMBERED}

    def close(self) -> None:
        """Release the pins of the set and of its shards; closing twice is fine."""
        super().close()
        for part in self._parts:
            part.close()

    def outside_memory(self, folder: Path | None) -> Self:
        """Return the same set, whose shards' tables are read into files without a name in the folder."""
        view = super().outside_memory(folder)
        view._parts = tuple(part.outside_memory(folder) for part in self._parts)
        return view

    @property
    def parts(self) -> tuple[Snapshot, ...]:
        """Return the shards."""
        return self._parts

    def holders(self, name: str) -> tuple[Snapshot, ...]:
        """Return the snapshots whose files make up a table, in the order of its rows."""
        return (self,) if name in SET_TABLES else self._parts

    def file(self, name: str) -> Path:
        """Return the path of a table of the set, or of a table's part in the first shard, for messages."""
        if table_file(name) in self.manifest.files or name in self.manifest.files:
            return super().file(name)
        return self._parts[0].file(name)

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Return a table's rows over all shards, or some of its columns; raises ``DamagedSnapshot``."""
        import pyarrow as pa

        if name in SET_TABLES:
            return super().table(name, columns)
        if name in POSTINGS:
            return self._merged_postings(name, columns)
        return pa.concat_tables(
            self._renumbered(name, part.table(name, columns), at) for at, part in enumerate(self._parts)
        )

    def _renumbered(self, name: str, rows: pa.Table, shard: int) -> pa.Table:
        """Return rows of a shard with the numbers that their vectors have in the set."""
        import pyarrow as pa
        import pyarrow.compute as pc

        at = rows.schema.get_field_index("vector_row")
        if name != "passages" or at < 0:
            return rows
        first = pa.scalar(int(self._first["vectors"][shard]), pa.int32())
        return rows.set_column(at, rows.schema.field(at), pc.add(rows.column(at), first))

    def _merged_postings(self, name: str, columns: Sequence[str] | None) -> pa.Table:
        """Return the postings of all shards as one list a term, in the order of the set's terms."""
        from ..tables.schemas import POSTINGS as SCHEMA
        from .merged_postings import merged_postings

        wanted = list(SCHEMA.names if columns is None else columns)
        terms = self.table(POSTINGS[name], ["term"])["term"].combine_chunks()
        needed = list(dict.fromkeys(["term", "passage", *wanted]))
        parts = [part.table(name, needed) for part in self._parts]
        firsts, files = self._first["passages"].tolist(), [part.file(name) for part in self._parts]
        return merged_postings(terms, parts, firsts, self.spill, files).select(wanted)

    def open_table(self, name: str) -> pq.ParquetFile:
        """Return the file of a table of the set; raises ``ArtifactError`` for one that its shards hold."""
        if name in SET_TABLES:
            return super().open_table(name)
        raise ArtifactError(
            f"{name} lies in {len(self._parts)} files", where=str(self.path), hint="Open it in each of parts."
        )

    def require_tables(self) -> None:
        """Raise ``DamagedSnapshot`` unless the footer of every table promises what it should."""
        for name in SET_TABLES:
            self.open_table(name).close()
        for part in self._parts:
            part.require_tables()

    def rows(self, name: str) -> int:
        """Return how many rows a table has over all shards."""
        if name in SET_TABLES:
            return super().rows(name)
        return sum(part.rows(name) for part in self._parts)

    def index(self) -> Any:
        """Return the FAISS indexes of all shards as one, each read once."""
        from ..tables.vectors import ShardedVectors

        if self._index is None:
            self._index = ShardedVectors([part.index() for part in self._parts])
        return self._index

    def locked_connection(self) -> duckdb.DuckDBPyConnection:
        """Return a DuckDB connection that may read the tables of the set and its shards, and nothing else."""
        from ..sql.catalog import locked_connection

        self.require_tables()
        held = [self.path / table_file(name) for name in SET_TABLES]
        for name in (name for name in TABLES if name not in SET_TABLES):
            held += [part.file(name) for part in self._parts]
        return locked_connection(self.path, held)

    def catalog(self, parts: Sequence[str] | None = None) -> str:
        """Return the SQL of the catalog, whose views of what lies in the shards are over all of them."""
        sql = super().catalog(parts)
        for name in (name for name in TABLES if name not in SET_TABLES):
            file, rows = f"snapshot_file('{name}')", self._numbered_rows(name)
            plain = f"(select * exclude (file_row_number) from {rows})"  # noqa: S608  # checked paths
            sql = sql.replace(f"read_parquet({file}, file_row_number = true)", rows)
            sql = sql.replace(f"read_parquet({file})", plain)
        return sql

    def relation(self, name: str) -> str:
        """Return the SQL of a table over all shards, with its rows' numbers in ``file_row_number``."""
        return self._union(name, self._first.get(name, np.zeros(len(self._parts), np.int64)))

    def _numbered_rows(self, name: str) -> str:
        """Return the same with passages and vectors numbered as the set numbers them in other columns too."""
        if name not in _NUMBERS:
            return self.relation(name)
        numbered, column = _NUMBERS[name]
        own = self._first.get(name, np.zeros(len(self._parts), np.int64))
        return self._union(
            name, own, [column.format(first=first) for first in self._first[numbered].tolist()]
        )

    def _union(self, name: str, first: Firsts, columns: Sequence[str] = ()) -> str:
        """Return the rows of all shards, numbered from ``first`` on, with another column in each."""
        from ..sql.catalog import quoted

        others = [f", {column}" for column in columns] or [""] * len(self._parts)
        selects = (
            f"select * replace (file_row_number + {start} as file_row_number{other}) "  # noqa: S608  # checked paths
            f"from read_parquet({quoted(str(part.file(name)))}, file_row_number = true)"
            for part, start, other in zip(self._parts, first.tolist(), others, strict=True)
        )
        return f"({' union all '.join(selects)})"


def shard_store(store: Path, name: str) -> Path:
    """Return the folder of a shard's own store, below that of its set."""
    return store / SHARDS / name


def _firsts(parts: Sequence[Snapshot], table: str) -> Firsts:
    """Return the number of the first row of each shard in the set."""
    sizes = np.array([part.rows(table) for part in parts], dtype=np.int64)
    return np.cumsum(sizes) - sizes


def require_of_set(path: Path | str, shard: Manifest, record: ShardRecord, manifest: Manifest) -> None:
    """Raise ``DamagedSnapshot`` for a shard that is not what its set says, or not of its set."""
    counts = tuple(shard.counts[name] for name in ("documents", "passages", "vectors"))
    expected = (record.documents, record.passages, record.vectors)
    if counts != expected:
        raise damaged(f"expected {expected} documents, passages and vectors, found {counts}", path)
    if shard.shard != record.name:
        raise damaged(f"expected shard {record.name}, found {shard.shard or 'a whole snapshot'}", path)
    if shard.model.sha256 != manifest.model.sha256:
        raise damaged(f"its vectors are of the model {shard.model.name}, not of its set's", path)
    if shard.settings_sha256 != manifest.settings_sha256:
        raise damaged("it was built with other settings than its set", path)
