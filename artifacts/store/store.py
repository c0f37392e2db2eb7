"""The store: stage, publish, current, roll back, prune.

A snapshot is written to a staging folder, verified, named by its content, and becomes current by the
replacement of one small file. Whatever stops a run (an error, a kill, a power cut), readers see the previous
snapshot or the new one, whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

from ...pipeline.errors import (
    ArtifactError,
    DamagedSnapshot,
    NoEarlierSnapshot,
    NoSnapshot,
    NotSigned,
    SettingsError,
    StoreBusy,
    WriteFailed,
)
from ...pipeline.filesystems.opening import is_address
from ...pipeline.model import SnapshotId
from ...pipeline.settings.shard_choice import ShardChoice
from ..disk import durable, folders, locks
from ..disk.layout import (
    CURRENT,
    LOCK,
    OLD_PARSE_CACHE,
    PARSE_CACHE,
    PINS,
)
from ..disk.manifest import Manifest
from ..remote.mirror import mirror_folder, mirror_of
from .check import check_deep
from .contents import SnapshotInfo, StoreContents, is_sound
from .pointer import Pointer
from .query_models import require_sound
from .signature import MAX_SIGNATURE_BYTES, SIGNATURE, require_signature
from .snapshot import Snapshot, read_manifest
from .staging import Staging, new_staging, prove, seal, sweep


@dataclass(frozen=True, slots=True)
class Published:
    """The result of ``publish``; ``changed`` is false when the same content was already current."""

    snapshot_id: SnapshotId
    generation: int
    changed: bool


class Store:
    """A folder of snapshots, one of them current. Many may read; one run at a time may write.

    Of a set, ``shards`` are those that are opened, ``None`` for all.
    """

    def __init__(self, root: Path | str, shards: ShardChoice | None = None) -> None:
        # An address (``s3://bucket/prefix``) is read through a cache, which is a store.
        remote = isinstance(root, str) and is_address(root)
        self.root = mirror_folder(str(root)) if remote else Path(root).absolute()
        self._mirror = mirror_of(self.root, shards)
        self._contents = StoreContents(self.root, shards)
        self._snapshots = self._contents.snapshots_folder
        self._locked = False

    # Reading

    def path_of(self, snapshot_id: SnapshotId) -> Path:
        """Return a snapshot's folder, whether it exists or not; raises ``NoSnapshot`` for an invalid name."""
        return self._contents.path_of(snapshot_id)

    def read_unverified(self, snapshot_id: SnapshotId) -> Snapshot:
        """Return a snapshot that was verified when it was published; nothing is pinned."""
        return self._contents.read_unverified(snapshot_id)

    def read_staged(self, staging: Staging, manifest: Manifest) -> Snapshot:
        """Return a snapshot that is written and not yet published; nothing is pinned."""
        return self._contents.unverified(staging.path, manifest)

    def snapshots(self) -> tuple[SnapshotInfo, ...]:
        """Return every snapshot in the store, the latest to become current first."""
        return self._contents.snapshots()

    def current(self) -> SnapshotId | None:
        """Return the current snapshot, ``None`` before the first is published; raises ``DamagedSnapshot``."""
        if self._mirror is not None:
            self._mirror.bring_current()
        pointer = self._contents.pointer()
        return pointer.id if pointer else None

    def generation(self) -> int:
        """Return how often the current snapshot changed, 0 before the first; raises ``DamagedSnapshot``."""
        pointer = self._contents.pointer()
        return pointer.generation if pointer else 0

    def open(self, snapshot_id: SnapshotId | None = None) -> Snapshot:
        """Open the current or the named snapshot: verified, and protected from pruning until it is closed.

        Raises ``NoSnapshot``, ``DamagedSnapshot`` or ``UnsupportedFormat``.
        """
        if snapshot_id is not None:
            return self._open(snapshot_id)
        wanted = self._required_current()
        while True:
            try:
                return self._open(wanted)
            except (ArtifactError, StoreBusy) as error:
                # Only a newer snapshot is a reason to try again: else a damaged one would be tried for ever.
                if (now := self._required_current()) == wanted:
                    if isinstance(error, NoSnapshot):
                        what, where = f"it names {wanted}, which is not there", str(self.root / CURRENT)
                        error = DamagedSnapshot(what, where=where, hint=self._contents.hint())
                    raise error from None
                wanted = now

    def require_signed(self, snapshot_id: SnapshotId, allowed: Path) -> str:
        """Return who of the allowed signers signed the snapshot; raises ``NotSigned``, ``SettingsError``."""
        path = self.path_of(snapshot_id)
        manifest = read_manifest(path, snapshot_id).to_bytes()
        try:
            return require_signature(manifest, _signature(path), allowed, str(path))
        except NotSigned:
            if self._mirror is None:
                raise
        # It may have been signed, or signed anew, since it was fetched.
        self._mirror.bring_signature(snapshot_id)
        return require_signature(manifest, _signature(path), allowed, self._mirror.address)

    def put_signature(self, snapshot_id: SnapshotId, signature: bytes) -> None:
        """Put a signature beside the snapshot's manifest, replacing an older one; raises ``WriteFailed``."""
        durable.replace_file(self.path_of(snapshot_id) / SIGNATURE, signature)

    # Writing

    def require_own(self) -> None:
        """Raise ``SettingsError`` unless the store is local: a remote one cannot be written to."""
        if self._mirror is not None:
            hint = "Write to a local store and publish it: noctule publish --to ADDRESS"
            raise SettingsError("a remote store is read-only", where=self._mirror.address, hint=hint)

    @contextmanager
    def lock(self, purpose: str) -> Iterator[None]:
        """Hold the right to write while the block runs; raises ``StoreBusy`` if another run has it."""
        self.require_own()
        for folder in (self.root, self._snapshots, self.root / PINS):
            durable.make_directory(folder)
        with locks.exclusive(self.root / LOCK, purpose):
            self._locked = True
            try:
                sweep(self.root)
                self._rename_parse_cache()
                yield
            finally:
                self._locked = False

    def stage(self) -> Staging:
        """Return a new empty folder for a snapshot's files; the lock must be held."""
        self._require_lock()
        return new_staging(self._snapshots)

    def publish(self, staging: Staging, manifest: Manifest) -> Published:
        """Verify the staged files and make them the current snapshot, durably; the lock must be held.

        docs/store/publishing-protocol.md has the steps and what a crash between two of them leaves.
        Raises ``WriteFailed`` or, if the files fail their own check, ``DamagedSnapshot`` or ``DamagedModel``:
        the current snapshot then stays as it was. Content that is already current is left alone.
        """
        self._require_lock()
        snapshot_id = manifest.snapshot_id()
        try:
            seal(staging, manifest)
            prove(staging, snapshot_id)
            require_sound(self.root, manifest.query_model)
            self._put_in_place(staging, snapshot_id)
        except BaseException:
            with suppress(WriteFailed):
                folders.remove_tree(staging.path)
            raise
        pointer = self._contents.pointer_if_sound()
        if pointer is not None and pointer.id == snapshot_id:
            durable.sync_directory(self.root)  # as above
            return Published(snapshot_id, pointer.generation, changed=False)
        return Published(snapshot_id, self._make_current(snapshot_id, pointer), changed=True)

    def rollback(self, to: SnapshotId | None = None) -> SnapshotId:
        """Make the previous (or the named) snapshot current again once verified.

        A second call undoes the first. Repairs a damaged ``CURRENT``. Raises ``NoSnapshot`` when there is
        nothing to go back to.
        """
        with self._holding("rollback"):
            pointer = self._contents.pointer_if_sound()
            target = to if to is not None else self._earlier(pointer)
            self._require_sound(target)
            if pointer is None or pointer.id != target:
                self._make_current(target, pointer)
            return target

    def prune(self, keep: int) -> tuple[SnapshotId, ...]:
        """Remove and return snapshots: not the current, the previous, ``keep`` latest others, any in use."""
        if keep < 0:
            raise ValueError(f"keep must be 0 or more, not {keep}")
        with self._holding("prune"):
            self._contents.pointer()  # damaged, it would make the current snapshot look old
            sweep(self.root, rejected=True)
            others = [info for info in self.snapshots() if not (info.current or info.previous)]
            removed = tuple(
                info.snapshot_id for info in others[keep:] if self._contents.remove(info.snapshot_id)
            )
            self._contents.remove_unnamed_shards()
            self._contents.prune_models()
            return removed

    # Steps

    def _require_lock(self) -> None:
        if not self._locked:
            raise RuntimeError("a store is written to inside `with store.lock(purpose):` only")

    def _holding(self, purpose: str) -> AbstractContextManager[None]:
        return nullcontext() if self._locked else self.lock(purpose)

    def _rename_parse_cache(self) -> None:
        """Give the parse cache of an older noctule its new name, so that nothing is parsed again."""
        old, new = self.root / OLD_PARSE_CACHE, self.root / PARSE_CACHE
        with suppress(WriteFailed):  # it is a cache
            if durable.is_directory(old) and not durable.is_directory(new):
                durable.rename(old, new)

    def _put_in_place(self, staging: Staging, snapshot_id: SnapshotId) -> None:
        target = self.path_of(snapshot_id)
        if not durable.is_directory(target):
            durable.rename(staging.path, target)
            durable.sync_directory(self._snapshots)
        elif is_sound(target, snapshot_id):
            # Whoever put it there may have died before the flush; making the staging folder made up for it.
            folders.remove_tree(staging.path)
        else:
            # Same name, so same content, but the disk has lost some of it: the new files take its place.
            folders.swap_directory(staging.path, target)

    def _make_current(self, snapshot_id: SnapshotId, before: Pointer | None) -> int:
        known = [info.generation for info in self.snapshots()]
        generation = 1 + max([*known, before.generation if before else 0])
        previous = before.id if before is not None and before.id in self._contents.names() else None
        self._contents.make_current(Pointer(snapshot_id, generation, previous))
        return generation

    def _require_sound(self, snapshot_id: SnapshotId) -> None:
        try:
            check_deep(self.path_of(snapshot_id), snapshot_id)
        except DamagedSnapshot as error:
            others = ", ".join(name for name in self._contents.names() if name != snapshot_id)
            hint = f"Name another to go back to: {others}." if others else "Make a new one: noctule index"
            raise DamagedSnapshot(error.what, where=error.where, hint=hint) from error

    def _open(self, snapshot_id: SnapshotId) -> Snapshot:
        if self._mirror is not None:
            self._mirror.bring(snapshot_id)
        try:
            return self._contents.open(snapshot_id)
        except DamagedSnapshot:
            if self._mirror is None:
                raise
            self._mirror.mend(snapshot_id)
            return self._contents.open(snapshot_id)

    def _required_current(self) -> SnapshotId:
        current = self.current()
        if current is None:
            hint = self._contents.hint() if self._contents.names() else "Make one: noctule index"
            raise NoSnapshot("nothing has been published yet", where=str(self.root), hint=hint)
        return current

    def _earlier(self, pointer: Pointer | None) -> SnapshotId:
        others = [i.snapshot_id for i in self.snapshots() if pointer is None or i.snapshot_id != pointer.id]
        if not others:
            what = "there is no other snapshot to go back to"
            hint = "The current snapshot is unchanged." if pointer else "Make one: noctule index"
            error = NoEarlierSnapshot if pointer else NoSnapshot
            raise error(what, where=str(self.root), hint=hint)
        return pointer.previous if pointer and pointer.previous in others else others[0]


def _signature(snapshot: Path) -> bytes | None:
    """Return the signature beside a snapshot's manifest, if there is one."""
    try:
        with (snapshot / SIGNATURE).open("rb") as file:
            return file.read(MAX_SIGNATURE_BYTES)
    except OSError:
        return None
