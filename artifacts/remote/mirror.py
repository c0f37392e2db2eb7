"""A remote store read through a local folder: a cache by content hash that is a store itself.

Files are fetched by their hash and refused if they are not what the manifest says; a snapshot appears in the
cache whole, and ``CURRENT`` there changes last. If the remote side cannot be reached, the cache answers.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from ...pipeline.errors import (
    ArtifactError,
    DamagedSnapshot,
    NoSnapshot,
    RemoteUnavailable,
    StoreBusy,
    WriteFailed,
)
from ...pipeline.identity import sha256_hex
from ...pipeline.model import SnapshotId
from ..disk import durable, folders, locks
from ..disk.layout import LOCK, MANIFEST, PINS, SNAPSHOTS, STAGING_PREFIX
from ..disk.manifest import Manifest
from ..disk.manifest_records import FileEntry
from ..store.contents import StoreContents
from ..store.pointer import Pointer
from ..store.query_models import model_files
from ..store.signature import MAX_SIGNATURE_BYTES, SIGNATURE
from ..store.snapshot import hash_files, read_manifest
from .files import NotThere, RemoteFiles
from .target import AGAIN, RemoteTarget

REMOTE = "REMOTE"
OBJECTS = "objects"
_WAIT_S = 900.0
_LOOK_AGAIN_S = 0.2
_log = logging.getLogger("noctule")


def mirror_folder(address: str) -> Path:
    """Return the folder, created if necessary, in the user's cache through which a remote store is read."""
    address = address.rstrip("/")
    folder = _cache() / "stores" / sha256_hex(address.encode())[:20]
    if _address_of(folder) != address:
        durable.make_directory(folder)
        durable.replace_file(folder / REMOTE, json.dumps({"address": address}).encode() + b"\n")
    return folder


def mirror_of(root: Path) -> Mirror | None:
    """Return the mirror at a folder, ``None`` if it is a local store."""
    address = _address_of(root)
    return None if address is None else Mirror(root, address)


def _cache() -> Path:
    given = os.environ.get("NOCTULE_CACHE")
    if given:
        return Path(given).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser())
    return Path(base) / "noctule"


def _address_of(folder: Path) -> str | None:
    try:
        found = json.loads((folder / REMOTE).read_bytes())["address"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return found if isinstance(found, str) else None


class Mirror:
    """A cache folder and the remote store that it follows."""

    def __init__(self, root: Path, address: str) -> None:
        self.root, self.address = root, address
        self._contents = StoreContents(root)

    def bring_current(self) -> None:
        """Fetch the remote side's current snapshot and make it current.

        Keep the cached one if it is unreachable. Raises ``RemoteUnavailable`` if there is no cached one,
        ``NoSnapshot`` if nothing was published there, and ``DamagedSnapshot`` for bytes that are not those
        that were published.
        """
        try:
            self._follow()
        except RemoteUnavailable as error:
            cached = self._contents.pointer_if_sound()
            if cached is None or not self._contents.path_of(cached.id).is_dir():
                raise
            what = "%s cannot be reached; snapshot %s is answered from the cache"
            _log.warning(what, error.where, cached.id)

    def bring(self, name: SnapshotId) -> None:
        """Fetch the named snapshot if the remote side has it; raises as ``bring_current`` does."""
        if not self._contents.path_of(name).is_dir():
            with self._alone():
                self._fetch(RemoteFiles(self.address), name)
        self._mend_model(name)

    def mend(self, name: SnapshotId) -> None:
        """Fetch again what the disk has lost of a cached snapshot; raises as ``bring_current`` does."""
        with self._alone():
            _log.warning("snapshot %s is damaged in the cache %s; it is fetched again", name, self.root)
            path = self._contents.path_of(name)
            if path.is_dir():
                found = hash_files(sorted(self._objects().iterdir()))
                for digest in sorted(digest for digest in found if found[digest] != digest):
                    durable.remove_file(self._objects() / digest)
                durable.rename(path, doomed := path.parent / f"{STAGING_PREFIX}{uuid4().hex}")
                folders.remove_tree(doomed)
            self._fetch(RemoteFiles(self.address), name)

    def bring_signature(self, name: SnapshotId) -> None:
        """Fetch the signature of a cached snapshot, if it has one there now; raises ``RemoteUnavailable``."""
        remote = RemoteFiles(self.address)
        try:
            found = remote.read(f"{SNAPSHOTS}/{name}/{SIGNATURE}", MAX_SIGNATURE_BYTES)
        except NotThere:
            return
        durable.replace_file(self._contents.path_of(name) / SIGNATURE, found)

    # Steps

    def _follow(self) -> None:
        for _ in range(3):
            remote = RemoteFiles(self.address)
            pointer = RemoteTarget(remote).pointer()
            if pointer is None:
                hint = "From where it is built: noctule publish --to ADDRESS"
                raise NoSnapshot("nothing has been published there yet", where=self.address, hint=hint)
            if pointer == self._contents.pointer_if_sound() and self._contents.path_of(pointer.id).is_dir():
                return
            try:
                with self._alone():
                    self._fetch(remote, pointer.id)
                    self._make_current(pointer)
                return
            except NoSnapshot:
                # It may have been pruned since the pointer was read: try again if there is a newer pointer.
                if RemoteTarget(remote).pointer() == pointer:
                    raise
        what = "it changes faster than it can be read"
        raise RemoteUnavailable(what, where=self.address, hint="Try again.")

    def _fetch(self, remote: RemoteFiles, name: SnapshotId) -> None:
        target = self._contents.path_of(name)
        if target.is_dir():
            return
        self._sweep()
        try:
            manifest = RemoteTarget(remote).manifest(name)
        except NotThere:
            raise NoSnapshot(f"there is no snapshot {name}", where=self.address, hint=AGAIN) from None
        staging = target.parent / f"{STAGING_PREFIX}{uuid4().hex}"
        durable.make_directory(staging)
        for file, entry in sorted(manifest.files.items()):
            kept = self._object(remote, f"{SNAPSHOTS}/{name}/{file}", entry)
            if not durable.link(kept, staging / file):
                durable.write_file(staging / file, kept.read_bytes())
        self._fetch_model(remote, manifest)
        self._seal(staging, manifest, target)

    def _fetch_model(self, remote: RemoteFiles, manifest: Manifest) -> None:
        """Fetch the model that encodes the snapshot's queries, unless it is here."""
        for name, entry in model_files(manifest.query_model).items():
            path = self.root / name
            if path.is_file() and path.stat().st_size == entry.bytes:
                continue
            durable.make_directory(path.parent)
            before = self._objects() / entry.sha256
            if before.is_file() and hash_files([before])[before.name] != entry.sha256:
                durable.remove_file(before)  # it is the same file as a model that somebody removed as damaged
            kept = self._object(remote, name, entry)
            durable.remove_file(path)
            if not durable.link(kept, path):
                durable.replace_file(path, kept.read_bytes())
            durable.sync_directory(path.parent)

    def _mend_model(self, name: SnapshotId) -> None:
        """Fetch a cached snapshot's model again if it is gone; a search by term vectors does without."""
        try:
            manifest = read_manifest(self._contents.path_of(name), name)
        except ArtifactError:
            return  # opening it says what is wrong
        if all((self.root / file).is_file() for file in model_files(manifest.query_model)):
            return
        try:
            with self._alone():
                self._fetch_model(RemoteFiles(self.address), manifest)
        except (RemoteUnavailable, DamagedSnapshot) as error:
            _log.warning("the model that encodes queries cannot be fetched again: %s", error)

    def _object(self, remote: RemoteFiles, path: str, entry: FileEntry) -> Path:
        """Return a file by its hash, fetching it if it is not here yet."""
        kept = self._objects() / entry.sha256
        if kept.is_file() and kept.stat().st_size == entry.bytes:
            return kept
        part = self._objects() / f"{STAGING_PREFIX}{uuid4().hex}"
        try:
            with durable.writer(part) as out:
                size = sum(out.write(block) for block in _bounded(remote.blocks(path), entry.bytes))
        except NotThere:
            raise self._damaged(remote, path, "the file is missing") from None
        found = hash_files([part])[part.name]
        if size != entry.bytes or found != entry.sha256:
            durable.remove_file(part)
            what = f"expected {entry.bytes} bytes with SHA-256 {entry.sha256}, found {size} with {found}"
            raise self._damaged(remote, path, what)
        durable.replace(part, kept)
        return kept

    def _damaged(self, remote: RemoteFiles, path: str, what: str) -> ArtifactError:
        if RemoteTarget(remote).pointer_if_sound() is not None:
            name = path.split("/")[1]
            if f"{SNAPSHOTS}/{name}/{MANIFEST}" not in remote.sizes(f"{SNAPSHOTS}/{name}"):
                return NoSnapshot(f"there is no snapshot {name} any more", where=self.address, hint=AGAIN)
        return DamagedSnapshot(what, where=remote.where(path), hint=AGAIN)

    def _seal(self, staging: Path, manifest: Manifest, target: Path) -> None:
        durable.write_file(staging / MANIFEST, manifest.to_bytes())
        folders.make_read_only(staging)
        durable.sync_directory(staging)
        durable.sync_directory(self._objects())
        durable.rename(staging, target)
        durable.sync_directory(target.parent)

    def _make_current(self, pointer: Pointer) -> None:
        self._contents.make_current(pointer)
        for info in self._contents.snapshots():
            if not (info.current or info.previous):
                self._contents.remove(info.snapshot_id)
        self._contents.prune_models()
        for kept in sorted(self._objects().iterdir()):
            if kept.stat().st_nlink == 1:
                durable.remove_file(kept)

    def _sweep(self) -> None:
        """Remove what an interrupted fetch left behind."""
        with suppress(WriteFailed):
            for path in sorted(self._objects().glob(f"{STAGING_PREFIX}*")):
                durable.remove_file(path)
            for path in sorted(self._contents.snapshots_folder.glob(f"{STAGING_PREFIX}*")):
                folders.remove_tree(path)

    def _objects(self) -> Path:
        return self.root / OBJECTS

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the fetch lock, so that of two readers with an outdated cache the second waits."""
        for folder in (self._objects(), self._contents.snapshots_folder, self.root / PINS):
            durable.make_directory(folder)
        deadline = time.monotonic() + _WAIT_S
        while (lock := locks.try_exclusive(self.root / LOCK)) is None:
            if time.monotonic() > deadline:
                what = "another reader has been fetching for a long time"
                raise StoreBusy(what, where=str(self.root), hint="Stop it.")
            time.sleep(_LOOK_AGAIN_S)
        with closing(lock):
            yield


def _bounded(blocks: Iterator[bytes], most: int) -> Iterator[bytes]:
    """Yield blocks until they exceed ``most`` bytes, so that nothing can fill the disk."""
    seen = 0
    for block in blocks:
        yield block
        seen += len(block)
        if seen > most:
            return
