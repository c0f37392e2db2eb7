"""Images, media and attachments that documents name: found, checked, and kept on disk until written."""

from __future__ import annotations

import logging
import mmap
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from ...artifacts.disk import durable
from ...artifacts.disk.layout import table_file
from ...artifacts.store.store import Store
from ...artifacts.tables.parquet import read_group
from ...artifacts.tables.schemas import ASSETS
from ...pipeline.address import out_of_collection
from ...pipeline.assets.media import recognise
from ...pipeline.assets.svg import without_imports
from ...pipeline.errors import ArtifactError, RejectedDocument
from ...pipeline.identity import sha256_hex
from ...pipeline.model import Rejection, ResolvedLink
from ...pipeline.settings.settings import Settings
from ...pipeline.source_files import FoundFile, read_asset
from ..run.context import RunContext
from ..run.retry import asked_again
from .corpus import CorpusRecord
from .guards import read_unverified
from .sources import HashedSources
from .tables import Tables

_log = logging.getLogger("noctule")
# A row group is what a reader holds in memory at once; a larger file has one of its own.
GROUP_BYTES = 16_000_000


@dataclass(frozen=True, slots=True)
class FoundAssets:
    """What documents may name, by collection and path: files, or rows of the current snapshot.

    ``files`` have their hashes. ``kept`` are rows of collections whose files are not read.
    """

    files: Mapping[str, Mapping[str, FoundFile]]
    hashes: Mapping[FoundFile, str]
    kept: Mapping[str, Set[str]]

    def paths(self) -> dict[str, Iterable[str]]:
        """Return the paths of each collection."""
        return {**self.files, **self.kept}


def find_assets(
    run: RunContext, store: Store, hashed: HashedSources | None, parsed: CorpusRecord
) -> FoundAssets:
    """Return the files that documents may name; the current snapshot's for collections that are not read."""
    files: dict[str, dict[str, FoundFile]] = {}
    for file in hashed.assets if hashed is not None else ():
        if file.collection not in parsed.failed:
            files.setdefault(file.collection, {})[file.path] = file
    unread = run.settings.collections if hashed is None else parsed.failed
    return FoundAssets(files, hashed.assets if hashed is not None else {}, _published(store, set(unread)))


def _published(store: Store, collections: Set[str]) -> dict[str, set[str]]:
    """Return the paths of these collections' assets in the current snapshot; none if it cannot be read."""
    found: dict[str, set[str]] = {}
    try:
        if collections and (current := store.current()) is not None:
            table = read_unverified(store, current).table("assets", ["collection", "path"])
            for row in table.to_pylist():
                if row["collection"] in collections:
                    found.setdefault(row["collection"], set()).add(row["path"])
    except ArtifactError as error:
        _log.warning("the images of %s are missing: %s", ", ".join(sorted(collections)), error)
    return found


def collect_assets(
    run: RunContext,
    store: Store,
    found: FoundAssets,
    links: Sequence[ResolvedLink],
    parsed: CorpusRecord,
) -> tuple[Tables, CorpusRecord]:
    """Return the table of assets that documents name, and the record with those that cannot be used.

    Raise ``SourceError`` for a file that is briefly away.
    """
    reader = _Reader(run.settings, found)
    rows = (row for name, paths in sorted(_named(links).items()) for row in _rows(reader, store, name, paths))
    table = _outside_memory(rows, store.root)
    remarks = [*reader.rejections, *_leading_out(links)]
    return {"assets": table}, parsed.with_assets(remarks, as_hashed=reader.as_hashed)


def _leading_out(links: Iterable[ResolvedLink]) -> Iterator[Rejection]:
    """Yield a remark on each collection with links out of it that lead nowhere, at the first of them."""
    found: dict[str, list[str]] = {}
    for link in links:
        if link.status.startswith("missing-") and ".." in link.target:
            name, _, path = link.source_id.partition(":")
            if out_of_collection(path, link.target):
                found.setdefault(name, []).append(path)
    for name, paths in sorted(found.items()):
        yield Rejection(
            name,
            paths[0],
            "noted",
            f"{len(paths):,} links lead out of the collection, and so nowhere: "
            f"collections.{name}.address.base_url would give them an address",
        )


def _named(links: Iterable[ResolvedLink]) -> dict[str, set[str]]:
    """Return the assets that links lead to, by collection."""
    named: dict[str, set[str]] = {}
    for link in links:
        if link.asset is not None:
            named.setdefault(link.source_id.partition(":")[0], set()).add(link.asset)
    return named


def _rows(reader: _Reader, store: Store, collection: str, paths: Set[str]) -> Iterator[pa.Table]:
    if collection in reader.found.kept:
        yield from _published_rows(store, collection, paths)
    else:
        yield from filter(None, (reader.row(collection, path) for path in sorted(paths)))


def _published_rows(store: Store, collection: str, paths: Set[str]) -> Iterator[pa.Table]:
    """Yield the rows of the current snapshot, one at a time."""
    current = store.current()
    if current is None:
        return
    wanted = pa.array(sorted(paths), pa.string())
    with read_unverified(store, current).open_table("assets") as file:
        for group in range(file.num_row_groups):
            rows = read_group(file, group, Path(table_file("assets")))
            same = pc.and_(pc.equal(rows["collection"], collection), pc.is_in(rows["path"], wanted))
            for at in range(len(rows := rows.filter(same))):
                yield rows.slice(at, 1)


class _Reader:
    """A reader of named files, which knows those that cannot be used, and whether all are as hashed."""

    def __init__(self, settings: Settings, found: FoundAssets) -> None:
        self.found, self._settings = found, settings
        self.rejections: list[Rejection] = []
        self.as_hashed = True

    def row(self, collection: str, path: str) -> pa.Table | None:
        """Return the file as a row; nothing if it cannot be used."""
        file = self.found.files[collection][path]
        try:
            content = asked_again(partial(read_asset, file, self._settings.collections[collection]))
        except RejectedDocument as error:
            self._reject(file, error.what)
            return None
        digest = sha256_hex(content)
        self.as_hashed &= digest == self.found.hashes[file]
        found = recognise(path, content)
        if found.kind is None and path.lower().endswith(".svg"):
            content = without_imports(content)
            found, digest = recognise(path, content), sha256_hex(content)
            if found.kind is not None:
                self._note(
                    file, "the drawing is kept without the style sheets that it loads, such as a web font"
                )
        if found.kind is None:
            self._reject(file, found.fault)
            return None
        values = (collection, path, digest, found.kind.name, len(content), found.width, found.height, content)
        columns = [pa.array([value], field.type) for value, field in zip(values, ASSETS, strict=True)]
        return pa.Table.from_arrays(columns, schema=ASSETS)

    def _note(self, file: FoundFile, remark: str) -> None:
        self.rejections.append(Rejection(file.collection, file.path, "noted", remark))

    def _reject(self, file: FoundFile, reason: str) -> None:
        self.rejections.append(Rejection(file.collection, file.path, "quarantined", reason))


def _outside_memory(rows: Iterable[pa.Table], folder: Path) -> pa.Table:
    """Return the rows as a table in a file without a name, which is gone with the table.

    Its chunks hold at most ``GROUP_BYTES``, or one row.
    """
    with durable.refusals(folder), tempfile.TemporaryFile(dir=folder) as file:
        with pa.ipc.new_file(pa.PythonFile(file, mode="w"), ASSETS) as writer:
            for batch in _batches(rows):
                writer.write_table(batch)
        file.flush()
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return pa.ipc.open_file(pa.BufferReader(pa.py_buffer(mapped))).read_all()


def _batches(rows: Iterable[pa.Table]) -> Iterator[pa.Table]:
    pending: list[pa.Table] = []
    size = 0
    for row in rows:
        if pending and size + row.nbytes > GROUP_BYTES:
            yield pa.concat_tables(pending).combine_chunks()
            pending, size = [], 0
        pending.append(row)
        size += row.nbytes
    if pending:
        yield pa.concat_tables(pending).combine_chunks()
