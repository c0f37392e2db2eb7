"""A verified, read-only snapshot: every byte is checked against the manifest before any reader sees it."""

from __future__ import annotations

import errno
import hashlib
import os
import warnings
import weakref
from collections.abc import Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ...pipeline.errors import ArtifactError, NoSnapshot, is_transient, machine_refusals
from ...pipeline.model import SnapshotId
from ...pipeline.thread_pool import ThreadPool
from ..disk.layout import FAISS_INDEX, MANIFEST, TABLES, table_file
from ..disk.locks import Lock
from ..disk.manifest import MAX_MANIFEST_BYTES, Manifest, damaged, snapshot_id
from ..disk.manifest_records import FileEntry

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa
    import pyarrow.parquet as pq


class Snapshot:
    """A verified snapshot to read from until it is closed; threads may share it, but not a ``connect()``.

    One that is dropped without being closed keeps others from pruning it until Python collects it, and warns.
    """

    __slots__ = ("__weakref__", "_dropped", "_index", "id", "manifest", "path", "spill")

    def __init__(self, path: Path, manifest: Manifest, pin: Lock | None) -> None:
        self.path, self.manifest, self.id = path, manifest, manifest.snapshot_id()
        self._index: Any = None
        self.spill: Path | None = None
        self._dropped: weakref.finalize[..., Snapshot] | None = None
        if pin is not None:
            self._dropped = weakref.finalize(self, _release_dropped, pin, str(path))
            self._dropped.atexit = False  # the process takes its locks with it

    @classmethod
    def open(cls, path: Path, *, expected_id: SnapshotId, pin: Lock | None = None) -> Snapshot:
        """Open the snapshot in a folder; raises ``NoSnapshot``, ``DamagedSnapshot`` or ``UnsupportedFormat``.

        ``pin`` keeps the snapshot from being pruned; it is released when the snapshot is closed.
        """
        folder = path.resolve()
        manifest = read_manifest(folder, expected_id)
        verify_files(folder, manifest.files)
        return cls(folder, manifest, pin)

    def __enter__(self) -> Snapshot:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the pin; closing twice is fine."""
        self._index = None
        found = self._dropped.detach() if self._dropped is not None else None
        if found is not None:
            pin: Lock = found[2][0]
            pin.close()

    def outside_memory(self, folder: Path | None) -> Self:
        """Return the same snapshot, whose tables are read into files without a name in the folder.

        Without a folder that this user can write to, they are read into memory. The view has no pin.
        """
        view = copy(self)
        view._dropped = None
        view.spill = folder if folder is not None and os.access(folder, os.W_OK) else None
        return view

    def file(self, name: str) -> Path:
        """Return the absolute path of a table or named file; raises ``ArtifactError`` if there is none."""
        file_name = table_file(name) if name in TABLES else name
        if file_name not in self.manifest.files:
            raise ArtifactError(
                f"a snapshot has no {name}", where=str(self.path), hint=f"There are {', '.join(TABLES)}."
            )
        return self.path / file_name

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Return a table's rows in file order, or some of its columns; raises ``DamagedSnapshot``."""
        from ..tables.parquet import read_outside_memory, read_table

        path, schema, rows = self._expected(name)
        if self.spill is None:
            table = read_table(path, columns, rows=rows, schema=schema)
        else:
            table = read_outside_memory(path, columns, self.spill, rows=rows, schema=schema)
        require_names(name, table, self.manifest, path)
        return table

    def open_table(self, name: str) -> pq.ParquetFile:
        """Return a table's memory-mapped file, to read row groups from; raises ``DamagedSnapshot``."""
        from ..tables.parquet import open_file

        path, schema, rows = self._expected(name)
        return open_file(path, schema, rows, memory_map=True)

    @property
    def parts(self) -> tuple[Snapshot, ...]:
        """Return the snapshots that hold the documents, in the order of the rows: this one, or its shards."""
        return (self,)

    def open_tables(self, name: str) -> Sequence[pq.ParquetFile]:
        """Return the files that a table lies in, in the order of its rows."""
        return tuple(each.open_table(name) for each in self.holders(name))

    def holders(self, name: str) -> tuple[Snapshot, ...]:  # noqa: ARG002  # a set needs it
        """Return the snapshots whose files make up a table, in the order of its rows."""
        return (self,)

    def require_tables(self) -> None:
        """Raise ``DamagedSnapshot`` unless the footer of every table promises what it should.

        DuckDB reads the tables by itself, and would say it in words of its own.
        """
        for name in TABLES:
            self.open_table(name).close()

    @property
    def store(self) -> Path:
        """Return the folder of the store, where the models lie beside the snapshots."""
        return self.path.parent.parent

    def rows(self, name: str) -> int:
        """Return how many rows a table has."""
        return self.manifest.files[table_file(name)].rows or 0

    def _expected(self, name: str) -> tuple[Path, pa.Schema, int | None]:
        from ..tables.schemas import schemas

        path = self.file(name)
        return path, schemas(self.manifest.model.dimension)[path.stem], self.manifest.files[path.name].rows

    def index(self) -> Any:
        """Return the FAISS index over the rows of ``vectors``, read once; raises ``DamagedSnapshot``.

        ``noctule.artifacts.tables.vectors.search`` searches it, whether it is exact or not; the manifest's
        ``index`` says which it is.
        """
        from ..tables.vectors import read_index

        if self._index is None:
            rows = self.manifest.files[table_file("vectors")].rows or 0
            path, record = self.file(FAISS_INDEX), self.manifest.index
            self._index = read_index(path, rows, self.manifest.model.dimension, record)
        return self._index

    def connect(self) -> duckdb.DuckDBPyConnection:
        """Return a DuckDB connection with the catalog's views and macros; it reads no file but the tables."""
        connection = self.locked_connection()
        # Locked before the catalog runs: part of its text is what the snapshot says.
        connection.execute(self.catalog())
        return connection

    def locked_connection(self) -> duckdb.DuckDBPyConnection:
        """Return a DuckDB connection that may read the tables and opens nothing else."""
        from ..sql.catalog import locked_connection

        self.require_tables()
        return locked_connection(self.path, [self.path / table_file(table) for table in TABLES])

    def catalog(self, parts: Sequence[str] | None = None) -> str:
        """Return the SQL of the catalog's views and macros, or of some parts of it."""
        from ..sql.catalog import PARTS, catalog

        return catalog(self.manifest.model.dimension, self.languages, parts or PARTS)

    def relation(self, name: str) -> str:
        """Return the SQL of a table with its rows' numbers in ``file_row_number``."""
        return f"read_parquet(getvariable('snapshot') || '/{table_file(name)}', file_row_number = true)"

    @property
    def languages(self) -> tuple[str, ...]:
        """Return the languages of the documents."""
        return self.manifest.languages


def _release_dropped(pin: Lock, path: str) -> None:
    """Release the pin of a snapshot that nobody closed."""
    pin.close()
    warnings.warn(f"the snapshot {path} was dropped without being closed", ResourceWarning, stacklevel=2)


def require_names(name: str, table: pa.Table, manifest: Manifest, path: Path) -> None:
    """Raise ``DamagedSnapshot`` for a document or an asset whose path, address or collection cannot be."""
    from ..tables.names import RULES

    recorded = manifest.settings.get("collections")
    wrong = RULES[name](table, recorded if isinstance(recorded, dict) else None) if name in RULES else ""
    if wrong:
        raise damaged(wrong, path)


def read_manifest(folder: Path, expected_id: SnapshotId | None) -> Manifest:
    """Return the manifest of a snapshot folder with this name; raises as ``Snapshot.open`` does."""
    path = folder / MANIFEST
    try:
        with path.open("rb") as file:
            content = file.read(MAX_MANIFEST_BYTES + 1)
    except FileNotFoundError:
        if not is_folder(folder):
            raise NoSnapshot(
                "there is no such snapshot", where=str(folder), hint="See what there is: noctule snapshots"
            ) from None
        raise damaged("the file is missing", path) from None
    except OSError as error:
        raise unreadable(path, error) from error
    found = snapshot_id(content)
    if expected_id is not None and found != expected_id:
        raise damaged(f"expected the manifest of {expected_id}, found that of {found}", path)
    return Manifest.from_bytes(content, where=str(path))


def verify_sizes(folder: Path, entries: Mapping[str, FileEntry]) -> None:
    """Verify the size of every file; raises ``DamagedSnapshot`` naming the first that is wrong."""
    for name, entry in sorted(entries.items()):
        path = folder / name
        try:
            found = path.lstat().st_size if path.is_file() and not path.is_symlink() else None
        except OSError as error:
            raise unreadable(path, error) from error
        if found is None:
            raise damaged("the file is missing", path)
        if found != entry.bytes:
            raise damaged(f"expected {entry.bytes} bytes, found {found}", path)


def verify_files(folder: Path, entries: Mapping[str, FileEntry]) -> None:
    """Verify every file's size and SHA-256; raises ``DamagedSnapshot`` naming the first that is wrong."""
    verify_sizes(folder, entries)
    found = hash_files([folder / name for name in entries])
    for name, entry in sorted(entries.items()):
        if found[name] != entry.sha256:
            raise damaged(f"expected SHA-256 {entry.sha256}, found {found[name]}", folder / name)


def hash_files(paths: Sequence[Path]) -> dict[str, str]:
    """Return the SHA-256 of each file by name, computed in parallel: hashing lets other threads run.

    Raises ``OutOfResources`` if not one thread can be started: that says nothing about the files.
    """
    largest_first = sorted(paths, key=lambda path: (-_size(path), path))
    with (
        machine_refusals(str(largest_first[0].parent) if paths else ""),
        ThreadPool(max_workers=min(8, os.cpu_count() or 1)) as pool,
    ):
        found = pool.map(_sha256, largest_first)
        return dict(zip((path.name for path in largest_first), found, strict=True))


def _sha256(path: Path) -> str:
    try:
        with path.open("rb", buffering=0) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise unreadable(path, error) from error


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def is_folder(path: Path) -> bool:
    """Return whether a folder is there; raises ``ArtifactError`` if that cannot be said."""
    try:
        return path.is_dir()
    except OSError as error:
        raise unreadable(path, error) from error


def is_away(error: OSError) -> bool:
    """Return whether the machine or a server is to blame, and not what was to be read; a bad sector is."""
    return is_transient(error) and error.errno != errno.EIO


def unreadable(path: Path, error: OSError) -> ArtifactError:
    """Return the error for what cannot be read: damage, unless the machine or a server is to blame."""
    if is_away(error):
        what, hint = f"cannot read it now: {error.strerror}", "Try again; if that fails, check the mount."
        return ArtifactError(what, where=str(path), hint=hint)
    if isinstance(error, PermissionError):
        return ArtifactError(
            "not allowed to read it", where=str(path), hint="Check its owner and permissions."
        )
    return damaged(f"cannot read it: {error.strerror}", path)
