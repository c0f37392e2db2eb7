"""Images, media and attachments that documents name: found, checked, and kept on disk until written."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ...artifacts.disk.layout import table_file
from ...artifacts.store.store import Store
from ...artifacts.tables.outside_memory import mapped_table
from ...artifacts.tables.parquet import read_group
from ...artifacts.tables.schemas import ASSETS
from ...pipeline.address import out_of_collection
from ...pipeline.assets.media import recognise
from ...pipeline.assets.svg import without_imports
from ...pipeline.discover.selection import still_selected
from ...pipeline.errors import ArtifactError, RejectedDocument
from ...pipeline.filesystems.opening import is_address
from ...pipeline.identity import sha256_hex
from ...pipeline.model import ReportEntry, ResolvedLink, SnapshotId
from ...pipeline.printable import counted
from ...pipeline.settings.settings import Settings
from ...pipeline.source_files import FoundFile, files_by_path, image_of_notebook, read_asset
from ..run.context import RunContext
from ..run.retry import with_retries
from ..sources.published import published_assets
from .corpus import CorpusRecord
from .sources import HashedSources, key_of_group
from .tables import Tables

_log = logging.getLogger("noctule")
_TABLE = Path(table_file("assets"))
_WITHOUT_IMPORTS = "the drawing is kept without the style sheets that it loads, such as a web font"
# A row group is what a reader holds in memory at once; a larger file has one of its own.
GROUP_BYTES = 16_000_000


@dataclass(frozen=True, slots=True)
class FoundAssets:
    """What documents may name, by collection and path: files, or rows of the current snapshot.

    Images may also lie in the notebooks among ``documents``. ``kept`` are rows of collections whose files are
    not read. ``hashed`` has the hashes of the others.
    """

    files: Mapping[str, Mapping[str, FoundFile]]
    documents: Mapping[str, Mapping[str, FoundFile]]
    kept: Mapping[str, Set[str]]
    hashed: HashedSources | None = None

    def paths(self) -> dict[str, Iterable[str]]:
        """Return the paths of each collection, without images of notebooks: these are not opened."""
        return {**self.files, **self.kept}

    def at(self, collection: str, path: str) -> FoundFile | None:
        """Return the file at a path, or the image in a notebook."""
        file = self.files.get(collection, {}).get(path)
        return file or image_of_notebook(path, self.documents.get(collection, {}))


def find_assets(
    run: RunContext, store: Store, hashed: HashedSources | None, parsed: CorpusRecord
) -> FoundAssets:
    """Return the files that documents may name; the current snapshot's for collections that are not read."""
    if hashed is None:
        return FoundAssets({}, {}, published_assets(store, set(run.settings.collections)))
    documents = files_by_path(chain.from_iterable(hashed.groups))
    assets = files_by_path(file for file in hashed.assets if file.collection not in parsed.failed)
    return FoundAssets(assets, documents, published_assets(store, set(parsed.failed)), hashed)


def collect_assets(
    run: RunContext,
    store: Store,
    found: FoundAssets,
    links: Collection[ResolvedLink],
    parsed: CorpusRecord,
) -> tuple[Tables, CorpusRecord]:
    """Return the table of assets that documents name, and the record with those that cannot be used.

    Raise ``SourceError`` for a file that is briefly away.
    """
    reader = _Reader(run.settings, found, _PublishedContent(store))
    # Few of all links; the rest would be made anew each time.
    links = [link for link in links if link.asset is not None or link.status.startswith("missing-")]
    rows = (row for name, paths in sorted(_named(links).items()) for row in _rows(reader, store, name, paths))
    table = mapped_table(ASSETS, _batches(rows), store.root)
    remarks = [*reader.rejections, *_leading_out(links)]
    return {"assets": table}, parsed.with_assets(remarks, as_hashed=reader.as_hashed())


def _leading_out(links: Iterable[ResolvedLink]) -> Iterator[ReportEntry]:
    """Yield a remark on each collection with links out of it that lead nowhere, at the first of them."""
    found: dict[str, list[str]] = {}
    for link in links:
        if link.status.startswith("missing-") and ".." in link.target:
            name, _, path = link.source_id.partition(":")
            if out_of_collection(path, link.target):
                found.setdefault(name, []).append(path)
    for name, paths in sorted(found.items()):
        yield ReportEntry(
            name,
            paths[0],
            "noted",
            f"leading out of the collection, and so nowhere: {counted(len(paths), 'link')}; "
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
    for opened in store.read_unverified(current).open_tables("assets"):
        with opened as file:
            for group in range(file.num_row_groups):
                rows = read_group(file, group, _TABLE)
                same = pc.and_(pc.equal(rows["collection"], collection), pc.is_in(rows["path"], wanted))
                for at in range(len(rows := rows.filter(same))):
                    yield rows.slice(at, 1)


class _PublishedContent:
    """The bytes of the current snapshot's assets, one row group at a time; none if it is damaged."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._open: tuple[int, pa.Table] | None = None

    def content(self, path: str, sha256: str) -> bytes | None:
        """Return the bytes with this hash, if the snapshot has them under any collection's ``path``."""
        place = self._places.get((path, sha256))
        if place is None:
            return None
        try:
            content = bytes(self._group(place[0])["content"][place[1]].as_buffer())
        except ArtifactError:
            return None
        return content if sha256_hex(content) == sha256 else None

    @cached_property
    def _places(self) -> Mapping[tuple[str, str], tuple[int, int]]:
        found: dict[tuple[str, str], tuple[int, int]] = {}
        try:
            if (current := self._store.current()) is not None:
                for number, (file, group) in enumerate(self._groups(current)):
                    rows = read_group(file, group, _TABLE, ["path", "asset_id"])
                    pairs = zip(rows["path"].to_pylist(), rows["asset_id"].to_pylist(), strict=True)
                    found |= {pair: (number, at) for at, pair in enumerate(pairs)}
        except ArtifactError as error:
            _log.warning("images are read again: %s", error)
        return found

    def _group(self, number: int) -> pa.Table:
        if self._open is None or self._open[0] != number:
            current = self._store.current()
            assert current is not None
            file, group = self._groups(current)[number]
            self._open = (number, read_group(file, group, _TABLE, ["content"]))
        return self._open[1]

    def _groups(self, current: SnapshotId) -> list[tuple[pq.ParquetFile, int]]:
        files = self._store.read_unverified(current).open_tables("assets")
        return [(file, group) for file in files for group in range(file.num_row_groups)]


class _Reader:
    """A reader of named files, which knows those that cannot be used, and whether all are as hashed."""

    def __init__(self, settings: Settings, found: FoundAssets, before: _PublishedContent) -> None:
        self.found, self._settings, self._before = found, settings, before
        self.rejections: list[ReportEntry] = []
        self._as_hashed, self._opened = True, set[str]()

    def row(self, collection: str, path: str) -> pa.Table | None:
        """Return the file as a row; nothing if it cannot be used."""
        file = self.found.at(collection, path)
        if file is None or (
            file.member and not still_selected(self._settings.collections[collection], (), (path,))
        ):
            return None
        try:
            content = self._content(file)
        except RejectedDocument as error:
            self._reject(file, error.what)
            return None
        digest = sha256_hex(content)
        if file.member:
            self._opened.add(file.location)
        else:
            self._as_hashed &= digest == self._hash(file)
        found = recognise(path, content)
        if found.kind is None and path.lower().endswith(".svg"):
            content = without_imports(content)
            found, digest = recognise(path, content), sha256_hex(content)
            if found.kind is not None:
                self._note(file, _WITHOUT_IMPORTS)
        if found.kind is None:
            self._reject(file, found.fault)
            return None
        values = (collection, path, digest, found.kind.name, len(content), found.width, found.height, content)
        columns = [pa.array([value], field.type) for value, field in zip(values, ASSETS, strict=True)]
        return pa.Table.from_arrays(columns, schema=ASSETS)

    def as_hashed(self) -> bool:
        """Return whether files are still as they were hashed, the notebooks that were opened among them."""
        hashed = self.found.hashed
        if hashed is None or not self._as_hashed or not self._opened:
            return self._as_hashed
        collections = self._settings.collections  # what lies in a folder is read once more
        known = {f: h for f, h in hashed.documents.items() if is_address(collections[f.collection].root)}
        return all(
            key == key_of_group(group, self._settings, hashed.fingerprints, known)
            for group, key in zip(hashed.groups, hashed.keys, strict=True)
            if any(file.location in self._opened for file in group)
        )

    def _hash(self, file: FoundFile) -> str:
        assert self.found.hashed is not None  # no file is read where none is hashed
        return self.found.hashed.assets[file]

    def _content(self, file: FoundFile) -> bytes:
        """Return the file's bytes; the snapshot before has those of a file at an address that is the same."""
        own = self._settings.collections[file.collection]
        may_be_kept = is_address(own.root) and not file.member
        kept = self._before.content(file.path, self._hash(file)) if may_be_kept else None
        return with_retries(partial(read_asset, file, own)).content if kept is None else kept

    def _note(self, file: FoundFile, remark: str) -> None:
        self.rejections.append(ReportEntry(file.collection, file.path, "noted", remark))

    def _reject(self, file: FoundFile, reason: str) -> None:
        self.rejections.append(ReportEntry(file.collection, file.path, "quarantined", reason))


def _batches(rows: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Yield the rows in tables of at most ``GROUP_BYTES``, or of one row."""
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
