"""A remote store read through a local folder: a cache by content hash that is a store itself.

A snapshot appears in the cache whole, after the shards if it is a set of them, and ``CURRENT`` there changes
last. If the remote side cannot be reached, the cache answers.
"""

from __future__ import annotations

import json
import logging
import os
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
from ...pipeline.settings.shard_choice import ShardChoice
from ..disk import durable, folders, locks
from ..disk.layout import LOCK, SNAPSHOTS, STAGING_PREFIX
from ..disk.manifest import Manifest
from ..disk.manifest_records import ShardRecord
from ..store.contents import StoreContents
from ..store.pointer import Pointer
from ..store.query_models import model_files
from ..store.signature import MAX_SIGNATURE_BYTES, SIGNATURE
from ..store.snapshot import read_manifest
from .fetch import Fetched
from .files import NotThere, RemoteFiles
from .target import AGAIN, RemoteTarget

REMOTE = "REMOTE"
_WAIT_S = 900.0
_log = logging.getLogger("noctule")


def mirror_folder(address: str) -> Path:
    """Return the folder, created if necessary, in the user's cache through which a remote store is read."""
    address = address.rstrip("/")
    folder = _cache() / "stores" / sha256_hex(address.encode())[:20]
    if _address_of(folder) != address:
        durable.make_directory(folder)
        durable.replace_file(folder / REMOTE, json.dumps({"address": address}).encode() + b"\n")
    return folder


def mirror_of(root: Path, shards: ShardChoice | None) -> Mirror | None:
    """Return the mirror at a folder, of a set of these shards; ``None`` if it is a local store."""
    address = _address_of(root)
    return None if address is None else Mirror(root, address, shards)


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
    """A cache folder and the remote store that it follows.

    Of a set, ``shards`` are those that are fetched, ``None`` for all.
    """

    def __init__(self, root: Path, address: str, shards: ShardChoice | None) -> None:
        self.root, self.address = root, address
        self._contents, self._fetched = StoreContents(root, shards), Fetched(root)

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
            if cached is None or not self._contents.is_whole(cached.id):
                raise
            what = "%s cannot be reached; snapshot %s is answered from the cache"
            _log.warning(what, error.where, cached.id)

    def bring(self, name: SnapshotId) -> None:
        """Fetch the named snapshot if the remote side has it; raises as ``bring_current`` does."""
        if not self._contents.is_whole(name):
            with self._alone():
                self._fetch(RemoteFiles(self.address), name)
        self._mend_model(name)

    def mend(self, name: SnapshotId) -> None:
        """Fetch again what the disk has lost of a cached snapshot; raises as ``bring_current`` does."""
        with self._alone():
            _log.warning("snapshot %s is damaged in the cache %s and will be fetched again", name, self.root)
            remote = RemoteFiles(self.address)
            manifest = self._manifest(RemoteTarget(remote), name)
            self._fetched.drop_damaged()
            for path in (self._contents.path_of(name), *map(self._shard, self._contents.chosen(manifest))):
                if path.is_dir():
                    durable.rename(path, doomed := path.parent / f"{STAGING_PREFIX}{uuid4().hex}")
                    folders.remove_tree(doomed)
            self._fetch(remote, name)

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
            if pointer == self._contents.pointer_if_sound() and self._contents.is_whole(pointer.id):
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
        if self._contents.is_whole(name):
            return
        with suppress(WriteFailed):
            self._fetched.sweep()
        target = RemoteTarget(remote)
        manifest = self._manifest(target, name)
        try:
            for record in self._contents.chosen(manifest):
                self._fetched.fetch_shard(remote, record, manifest)
            if not self._contents.path_of(name).is_dir():
                self._fetched.fetch(remote, name, manifest)
        except DamagedSnapshot:
            if target.pointer_if_sound() is None or name in target.names():
                raise
            what = f"there is no snapshot {name} any more"
            raise NoSnapshot(what, where=self.address, hint=AGAIN) from None

    def _manifest(self, target: RemoteTarget, name: SnapshotId) -> Manifest:
        try:
            return target.manifest(name)
        except NotThere:
            raise NoSnapshot(f"there is no snapshot {name}", where=self.address, hint=AGAIN) from None

    def _shard(self, record: ShardRecord) -> Path:
        return self._contents.shard(record.name).path_of(record.snapshot)

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
                self._fetched.fetch_model(RemoteFiles(self.address), manifest)
        except (RemoteUnavailable, DamagedSnapshot) as error:
            _log.warning("the model that encodes queries cannot be fetched again: %s", error)

    def _make_current(self, pointer: Pointer) -> None:
        self._contents.make_current(pointer)
        for info in self._contents.snapshots():
            if not (info.current or info.previous):
                self._contents.remove(info.snapshot_id)
        self._contents.remove_unnamed_shards()
        self._contents.prune_models()
        self._fetched.drop_unused()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the fetch lock, so that of two readers with an outdated cache the second waits."""
        self._fetched.prepare()
        lock = locks.wait_exclusive(self.root / LOCK, _WAIT_S)
        if lock is None:
            what = "another reader has been fetching for a long time"
            raise StoreBusy(what, where=str(self.root), hint="Stop it.")
        with closing(lock):
            yield
