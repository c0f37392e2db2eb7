"""Snapshots of a remote store, fetched into a cache: each file by its hash, and refused if it is another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

from ...pipeline.errors import DamagedSnapshot
from ...pipeline.model import SnapshotId
from ..disk import durable, folders
from ..disk.layout import MANIFEST, PINS, SHARDS, SNAPSHOTS, STAGING_PREFIX
from ..disk.manifest import Manifest
from ..disk.manifest_records import FileEntry, ShardRecord
from ..store.query_models import model_files
from ..store.shard_set import require_of_set, shard_store
from ..store.snapshot import hash_files
from .files import NotThere, RemoteFiles
from .target import AGAIN, RemoteTarget, snapshot_folder

OBJECTS = "objects"


class Fetched:
    """The files that a cache has of a remote store, each once by its hash; snapshots link to them."""

    def __init__(self, root: Path) -> None:
        self._root, self.objects = root, root / OBJECTS

    def prepare(self) -> None:
        """Make the folders of the cache."""
        for folder in (self.objects, self._root / SNAPSHOTS, self._root / PINS):
            durable.make_directory(folder)

    def fetch(self, remote: RemoteFiles, name: SnapshotId, manifest: Manifest) -> None:
        """Fetch a snapshot that the cache lacks, and its model; it appears whole.

        Raises ``DamagedSnapshot`` or ``RemoteUnavailable``.
        """
        self._fetch(remote, self._root, name, manifest)

    def fetch_shard(self, remote: RemoteFiles, record: ShardRecord, of: Manifest) -> None:
        """Fetch a shard of a set, unless the cache has it; raises as ``fetch`` does.

        One of another set is refused before any of its tables is fetched.
        """
        root = shard_store(self._root, record.name)
        if (root / SNAPSHOTS / record.snapshot).is_dir():
            return
        where = remote.where(snapshot_folder(record.snapshot, record.name))
        try:
            manifest = RemoteTarget(remote).manifest(record.snapshot, record.name)
        except NotThere:
            raise DamagedSnapshot(f"shard {record.name} is missing", where=where, hint=AGAIN) from None
        require_of_set(where, manifest, record, of)
        for folder in (root / SNAPSHOTS, root / PINS):
            durable.make_directory(folder)
        self._fetch(remote, root, record.snapshot, manifest)

    def fetch_model(self, remote: RemoteFiles, manifest: Manifest) -> None:
        """Fetch the model that encodes the snapshot's queries, unless it is here."""
        for name, entry in model_files(manifest.query_model).items():
            path = self._root / name
            if path.is_file() and path.stat().st_size == entry.bytes:
                continue
            durable.make_directory(path.parent)
            before = self.objects / entry.sha256
            if before.is_file() and hash_files([before])[before.name] != entry.sha256:
                durable.remove_file(before)  # it is the same file as a model that somebody removed as damaged
            kept = self._object(remote, name, entry)
            durable.remove_file(path)
            if not durable.link(kept, path):
                durable.replace_file(path, kept.read_bytes())
            durable.sync_directory(path.parent)

    def drop_damaged(self) -> None:
        """Remove the files whose content is not what their name says."""
        found = hash_files(folders.entries(self.objects))
        for digest in sorted(digest for digest in found if found[digest] != digest):
            durable.remove_file(self.objects / digest)

    def drop_unused(self) -> None:
        """Remove the files that no snapshot or model links to."""
        with durable.refusals(self.objects, "look at"):
            unused = [kept for kept in folders.entries(self.objects) if kept.stat().st_nlink == 1]
        for kept in unused:
            durable.remove_file(kept)

    def sweep(self) -> None:
        """Remove what an interrupted fetch left behind; raises ``WriteFailed``."""
        for path in folders.entries(self.objects, f"{STAGING_PREFIX}*"):
            durable.remove_file(path)
        for root in (self._root, *folders.entries(self._root / SHARDS)):
            for path in folders.entries(root / SNAPSHOTS, f"{STAGING_PREFIX}*"):
                folders.remove_tree(path)

    def _fetch(self, remote: RemoteFiles, root: Path, name: SnapshotId, manifest: Manifest) -> None:
        folder = snapshot_folder(name, manifest.shard)
        staging = root / SNAPSHOTS / f"{STAGING_PREFIX}{uuid4().hex}"
        durable.make_directory(staging)
        for file, entry in sorted(manifest.files.items()):
            kept = self._object(remote, f"{folder}/{file}", entry)
            if not durable.link(kept, staging / file):
                durable.write_file(staging / file, kept.read_bytes())
        if not manifest.shard:  # shards have the model of their set
            self.fetch_model(remote, manifest)
        self._seal(staging, manifest, root / SNAPSHOTS / name)

    def _object(self, remote: RemoteFiles, path: str, entry: FileEntry) -> Path:
        """Return a file by its hash, fetching it if it is not here yet."""
        kept = self.objects / entry.sha256
        if kept.is_file() and kept.stat().st_size == entry.bytes:
            return kept
        part = self.objects / f"{STAGING_PREFIX}{uuid4().hex}"
        try:
            with durable.writer(part) as out:
                size = sum(out.write(block) for block in _bounded(remote.blocks(path), entry.bytes))
        except NotThere:
            raise DamagedSnapshot("the file is missing", where=remote.where(path), hint=AGAIN) from None
        found = hash_files([part])[part.name]
        if size != entry.bytes or found != entry.sha256:
            durable.remove_file(part)
            what = f"expected {entry.bytes} bytes with SHA-256 {entry.sha256}, found {size} with {found}"
            raise DamagedSnapshot(what, where=remote.where(path), hint=AGAIN)
        durable.replace(part, kept)
        return kept

    def _seal(self, staging: Path, manifest: Manifest, target: Path) -> None:
        durable.write_file(staging / MANIFEST, manifest.to_bytes())
        folders.make_read_only(staging)
        durable.sync_directory(staging)
        durable.sync_directory(self.objects)
        durable.rename(staging, target)
        durable.sync_directory(target.parent)


def _bounded(blocks: Iterator[bytes], most: int) -> Iterator[bytes]:
    """Yield blocks until they exceed ``most`` bytes, so that nothing can fill the disk."""
    seen = 0
    for block in blocks:
        yield block
        seen += len(block)
        if seen > most:
            return
