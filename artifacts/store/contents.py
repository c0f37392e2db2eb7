"""The contents of a store: snapshots by name, the pins of readers, and the pointer to the current one."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from ...pipeline.errors import ArtifactError, DamagedSnapshot, NoSnapshot, WriteFailed
from ...pipeline.model import SnapshotId
from ...pipeline.settings.shard_choice import HINT, ShardChoice
from ..disk import durable, folders, locks
from ..disk.layout import CURRENT, PINS, SHARDS, SNAPSHOTS, STAGING_PREFIX
from ..disk.manifest import Manifest, damaged
from ..disk.manifest_records import ShardRecord
from .pointer import MAX_POINTER_BYTES, Pointer, is_snapshot_id
from .query_models import prune_models
from .shard_set import ShardSet, shard_store
from .snapshot import Snapshot, is_away, is_folder, read_manifest, unreadable, verify_files

PIN_DIGITS = 20
_ATTEMPTS = 3


def pin_content(generation: int) -> bytes:
    """Return the bytes of a pin that record when its snapshot last became current."""
    return f"{generation:0{PIN_DIGITS}d}\n".encode()


def pin_generation(content: bytes) -> int:
    """Return what a pin's first bytes record, 0 if it is lost."""
    digits = content[:PIN_DIGITS]
    return int(digits) if len(digits) == PIN_DIGITS and digits.isdigit() else 0


@dataclass(frozen=True, slots=True)
class SnapshotInfo:
    """A snapshot in the store; ``generation`` is when it last became current, 0 if that is not known."""

    snapshot_id: SnapshotId
    generation: int
    current: bool
    previous: bool


def _first_bytes(path: Path) -> bytes:
    """Return the first bytes of a pointer; a server forgets one that another host replaces meanwhile."""
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            with path.open("rb") as file:
                return file.read(MAX_POINTER_BYTES + 1)
        except OSError as error:
            if error.errno != errno.ESTALE or attempt == _ATTEMPTS:
                raise
    raise AssertionError("the last attempt returns or raises")


class StoreContents:
    """The folders of a store."""

    def __init__(self, root: Path, shards: ShardChoice | None = None) -> None:
        self.root, self._choice = root, shards
        self.snapshots_folder = root / SNAPSHOTS

    def path_of(self, snapshot_id: SnapshotId) -> Path:
        """Return a snapshot's folder, whether it exists or not; raises ``NoSnapshot`` for an invalid name."""
        if not is_snapshot_id(snapshot_id):
            what = f"{snapshot_id!r} is not a snapshot's name"
            raise NoSnapshot(what, where=str(self.root), hint=self.hint())
        return self.snapshots_folder / snapshot_id

    def is_whole(self, snapshot_id: SnapshotId) -> bool:
        """Return whether a snapshot has its folder, and of a set every shard that is opened has one."""
        path = self.path_of(snapshot_id)
        if not path.is_dir():
            return False
        try:
            shards = self.chosen(read_manifest(path, snapshot_id))
        except ArtifactError:
            return True  # opening it says what is wrong
        return all(self.shard(each.name).path_of(each.snapshot).is_dir() for each in shards)

    def pin(self, snapshot_id: SnapshotId) -> Path:
        """Return the file that readers of a snapshot lock, which also records when it last became current."""
        return self.root / PINS / snapshot_id

    def pointer(self) -> Pointer | None:
        """Return what ``CURRENT`` says, if there is one; raises ``DamagedSnapshot``, ``ArtifactError``."""
        path = self.root / CURRENT
        try:
            content = _first_bytes(path)
        except FileNotFoundError:
            return None
        except OSError as error:
            what = f"cannot read which snapshot is current: {error.strerror}"
            hint = unreadable(path, error).hint if is_away(error) else self.hint()
            raise ArtifactError(what, where=str(path), hint=hint) from error
        return Pointer.from_bytes(content, where=str(path), hint=self.hint())

    def pointer_if_sound(self) -> Pointer | None:
        """Return what ``CURRENT`` says, ``None`` if it is missing or damaged."""
        try:
            return self.pointer()
        except DamagedSnapshot:
            return None

    def snapshots(self) -> tuple[SnapshotInfo, ...]:
        """Return every snapshot in the store, the latest to become current first."""
        pointer = self.pointer_if_sound()
        current, previous = (pointer.id, pointer.previous) if pointer else (None, None)
        infos = (
            SnapshotInfo(name, self._last_current(name, pointer), name == current, name == previous)
            for name in self.names()
        )
        return tuple(sorted(infos, key=lambda info: (-info.generation, info.snapshot_id)))

    def _last_current(self, snapshot_id: SnapshotId, pointer: Pointer | None) -> int:
        if pointer is not None and pointer.id == snapshot_id:
            return pointer.generation
        return self.generation_of(snapshot_id)

    def hint(self) -> str:
        """Return what to do next, and the snapshots to do it with."""
        try:
            names = ", ".join(self.names())
        except ArtifactError as error:
            return error.hint
        if not names:
            return "There are none; make one: noctule index"
        return f"Go back: noctule rollback. There are {names}."

    def names(self) -> list[SnapshotId]:
        """Return the snapshots in the store, sorted, ignoring everything else in the folder.

        Raises ``ArtifactError`` if the folder cannot be listed, which is not to have none.
        """
        try:
            found = [path.name for path in self.snapshots_folder.iterdir() if is_snapshot_id(path.name)]
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise unreadable(self.snapshots_folder, error) from error
        return sorted(map(SnapshotId, found))

    def generation_of(self, snapshot_id: SnapshotId) -> int:
        """Return when a snapshot last became current; 0 if its pin is lost.

        Raises ``ArtifactError`` if it is only away, for prune would take the snapshot for an old one.
        """
        path = self.pin(snapshot_id)
        try:
            return pin_generation(path.read_bytes())
        except OSError as error:
            if is_away(error):
                raise unreadable(path, error) from error
            return 0

    def make_current(self, pointer: Pointer) -> None:
        """Write ``CURRENT``, durably, and then the snapshot's pin; raises ``WriteFailed``.

        A pin never says more than happened. Of a run that ended between the two, the next one writes it.
        """
        before = self.pointer_if_sound()
        if before is not None and before.id in self.names():
            self._record(before.id, before.generation)
        self._record(pointer.id, self.generation_of(pointer.id))  # readers lock it from now on
        durable.sync_directory(self.root / PINS)
        try:
            durable.replace_file(self.root / CURRENT, pointer.to_bytes())
        except WriteFailed as error:
            if self.pointer_if_sound() != pointer:
                raise
            what = f"{pointer.id} is current, but the disk did not confirm it: {error.what}"
            hint = "A power cut may bring back the previous snapshot; check the disk."
            raise WriteFailed(what, where=error.where, hint=hint) from error
        with suppress(WriteFailed):
            self._record(pointer.id, pointer.generation)

    def _record(self, snapshot_id: SnapshotId, generation: int) -> None:
        durable.overwrite(self.pin(snapshot_id), pin_content(generation))

    def remove(self, snapshot_id: SnapshotId) -> bool:
        """Remove a snapshot in one step, so that nobody finds half of it; return whether nobody reads it."""
        lock = locks.try_exclusive(self.pin(snapshot_id))
        if lock is None:
            return False
        with closing(lock):
            doomed = self.snapshots_folder / f"{STAGING_PREFIX}{uuid4().hex}"
            durable.rename(self.path_of(snapshot_id), doomed)
            durable.sync_directory(self.snapshots_folder)
            durable.remove_file(self.pin(snapshot_id))
            folders.remove_tree(doomed)
        return True

    def prune_models(self) -> None:
        """Remove the models that no snapshot needs; of a snapshot that cannot be read nobody knows."""
        try:
            manifests = [read_manifest(self.path_of(name), name) for name in self.names()]
        except ArtifactError:
            return
        prune_models(self.root, manifests)

    def open(self, snapshot_id: SnapshotId) -> Snapshot:
        """Open a snapshot, verified and pinned; raises ``NoSnapshot`` and as ``Snapshot.open`` does."""
        path = self.path_of(snapshot_id)
        if not is_folder(path):
            raise NoSnapshot("there is no such snapshot", where=str(path), hint=self.hint())
        pin = locks.shared(self.pin(snapshot_id))
        shards: list[Snapshot] = []
        try:
            found = Snapshot.open(path, expected_id=snapshot_id)
            shards = self._shards(found.manifest)
            # One owner for the pin: a second would let go of it when it is dropped.
            if not shards:
                return Snapshot(found.path, found.manifest, pin)
            return ShardSet(found.path, found.manifest, pin, shards, self.chosen(found.manifest))
        except BaseException:
            _close(shards)
            if pin is not None:
                pin.close()
            raise

    def _shards(self, manifest: Manifest) -> list[Snapshot]:
        """Return the chosen shards of a set, opened, verified and pinned; none for a whole snapshot."""
        found: list[Snapshot] = []
        try:
            for record in self.chosen(manifest):
                found.append(self.shard(record.name).open(record.snapshot))
        except NoSnapshot as error:
            _close(found)
            raise damaged(f"a shard is missing: {error.what}", error.where) from error
        except BaseException:
            _close(found)
            raise
        return found

    def chosen(self, manifest: Manifest) -> Sequence[ShardRecord]:
        """Return the shards of a set that are opened, none of a snapshot in one piece.

        Raises ``ArtifactError`` if the set has none of the shards that were chosen.
        """
        if self._choice is None:
            return manifest.shards
        names = self._choice.of_names([each.name for each in manifest.shards])
        if not names:
            every = f"{len(manifest.shards)} shards" if manifest.shards else "no set of shards"
            what = f"the shards {self._choice} are not among those of the snapshot, {every}"
            raise ArtifactError(what, where=str(self.root), hint=HINT)
        return [each for each in manifest.shards if each.name in names]

    def read_unverified(self, snapshot_id: SnapshotId) -> Snapshot:
        """Return a snapshot, or a set with its shards, neither verified nor pinned."""
        path = self.path_of(snapshot_id)
        return self.unverified(path, read_manifest(path, snapshot_id))

    def unverified(self, path: Path, manifest: Manifest) -> Snapshot:
        """Return the snapshot in a folder, or the set with its shards, neither verified nor pinned."""
        if not manifest.shards:
            return Snapshot(path, manifest, None)
        parts = [self.shard(each.name).read_unverified(each.snapshot) for each in manifest.shards]
        return ShardSet(path, manifest, None, parts)

    def shard(self, name: str) -> StoreContents:
        """Return the contents of a shard's own store."""
        return StoreContents(shard_store(self.root, name))

    def remove_unnamed_shards(self) -> None:
        """Remove snapshots of shards that no set names and nobody reads; an unreadable set names all."""
        try:
            sets = [read_manifest(self.path_of(name), name) for name in self.names()]
        except ArtifactError:
            return
        named = {(each.name, each.snapshot) for manifest in sets for each in manifest.shards}
        for folder in folders.entries(self.root / SHARDS, "[0-9]*"):
            shard = self.shard(folder.name)
            for snapshot in shard.names():
                if (folder.name, snapshot) not in named:
                    shard.remove(snapshot)


def unverified(path: Path, manifest: Manifest) -> Snapshot:
    """Return the snapshot in a folder of a store, or the set with its shards, neither verified nor pinned."""
    return StoreContents(path.absolute().parent.parent).unverified(path, manifest)


def _close(snapshots: Iterable[Snapshot]) -> None:
    for each in snapshots:
        each.close()


def is_sound(folder: Path, expected_id: SnapshotId) -> bool:
    """Return whether a folder holds every byte of a snapshot."""
    try:
        verify_files(folder, read_manifest(folder, expected_id).files)
    except ArtifactError:
        return False
    return True
