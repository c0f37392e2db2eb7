"""Sending a published snapshot to another place: data first, each file verified, the pointer last.

The other place has the layout of a store. Whatever interrupts the sending, readers there see the previous
snapshot or the new one; the next attempt continues where the last one stopped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ...pipeline.errors import NoctuleError, RemoteUnavailable, SettingsError
from ...pipeline.filesystems.opening import is_address
from ...pipeline.model import SnapshotId
from ..disk import durable
from ..disk.layout import CURRENT, PINS, SHARDS
from ..disk.manifest_records import FileEntry
from ..store.contents import is_sound, pin_content
from ..store.pointer import MAX_POINTER_BYTES, Pointer
from ..store.query_models import copy_model, model_files, share
from ..store.shard_set import shard_store
from ..store.signature import SIGNATURE, sign
from ..store.snapshot import Snapshot
from ..store.staging import Staging
from ..store.store import Store
from .files import NotThere, RemoteFiles
from .target import RemoteTarget, snapshot_folder
from .upload import Upload, files_there, require_read_back

# The name of a set, or of a snapshot in one piece, among those of its shards.
_WHOLE = ""


@dataclass(frozen=True, slots=True)
class Sent:
    """The result of sending: files sent, files that were already there, snapshots removed there.

    Files of a set are also those of its shards.
    """

    target: str
    snapshot_id: SnapshotId
    changed: bool
    sent: int
    kept: int
    bytes: int
    removed: tuple[SnapshotId, ...]


def send(store: Store, target: str, keep: int, *, deep: bool = False, sign_with: Path | None = None) -> Sent:
    """Send the store's current snapshot, verify it and make it current there, keeping ``keep`` older ones.

    ``deep`` also reads back files that were already there; with ``sign_with``, a key of OpenSSH, a signature
    lies beside the manifest there. Raises ``SettingsError`` for a key that does not sign,
    ``RemoteUnavailable``, ``WriteFailed``, ``StoreBusy`` or ``NoSnapshot``; the target's current
    snapshot then stays as it was.
    """
    with store.open() as snapshot:
        signature = None if sign_with is None else sign(snapshot.manifest.to_bytes(), sign_with)
        if is_address(target):
            return _send_to_address(snapshot, RemoteFiles(target), keep, signature, deep=deep)
        return _send_to_folder(snapshot, store, Path(target).expanduser().absolute(), keep, signature)


# To a folder: with the store's own protocol


def _send_to_folder(
    snapshot: Snapshot, store: Store, folder: Path, keep: int, signature: bytes | None
) -> Sent:
    if folder.resolve() == store.root.resolve():
        hint = "Name another folder or address."
        raise SettingsError("the target is the store itself", where=str(folder), hint=hint)
    target = Store(folder)
    with target.lock("publish"):
        # Under the lock of the set: no set names them yet, and another run would prune them.
        moved = copy_model(snapshot.store, target.root, snapshot.manifest.query_model)
        for shard in _shards(snapshot):
            moved |= _shard_to_folder(shard, folder)
        of_set, changed = _publish_to_folder(snapshot, target, signature)
        removed = target.prune(keep)
    return _report(str(folder), snapshot, moved | of_set, changed, removed)


def _shards(snapshot: Snapshot) -> tuple[Snapshot, ...]:
    return snapshot.parts if snapshot.manifest.shards else ()


def _shard_to_folder(shard: Snapshot, folder: Path) -> dict[str, int]:
    """Send a shard to its own store below the folder, unless it is there; return the bytes sent, by path."""
    name = shard.manifest.shard
    target = Store(shard_store(folder, name))
    if is_sound(path := target.path_of(shard.id), shard.id):
        durable.sync_directory(path.parent)  # whoever put it there may have died before this
        return {}
    with target.lock("publish"):
        if shard.manifest.query_model is not None:
            share(folder, target.root, shard.manifest.query_model.files)
        moved, _ = _publish_to_folder(shard, target, None)
    return {f"{SHARDS}/{name}/{path}": size for path, size in moved.items()}


def _publish_to_folder(
    snapshot: Snapshot, target: Store, signature: bytes | None
) -> tuple[dict[str, int], bool]:
    """Publish a snapshot in another store, which has its model.

    Return the bytes sent, by file, and whether another snapshot was current there.
    """
    have = _files_of_current(target)
    staging = target.stage()
    sizes = {name: _placed(snapshot, name, entry, have, staging) for name, entry in _entries(snapshot)}
    if signature is not None:
        durable.write_file(staging.path / SIGNATURE, signature)
    published = target.publish(staging, snapshot.manifest)
    if signature is not None:  # a snapshot that was there already keeps its files
        target.put_signature(snapshot.id, signature)
    return {name: size for name, size in sizes.items() if size is not None}, published.changed


def _files_of_current(target: Store) -> dict[str, Path]:
    """Return the files of the folder's current snapshot by their hash, if it is sound."""
    try:
        with target.open() as current:
            return {entry.sha256: current.path / name for name, entry in _entries(current)}
    except NoctuleError:
        return {}


def _entries(snapshot: Snapshot) -> list[tuple[str, FileEntry]]:
    return sorted(snapshot.manifest.files.items())


def _placed(
    snapshot: Snapshot, name: str, entry: FileEntry, have: Mapping[str, Path], staging: Staging
) -> int | None:
    """Put the file into the staging folder; return the bytes, ``None`` if a file of the target was linked."""
    there = have.get(entry.sha256)
    if there is not None and durable.link(there, staging.path / name):
        return None
    with durable.writer(staging.path / name) as out, (snapshot.path / name).open("rb") as source:
        while block := source.read(1 << 20):
            out.write(block)
    return entry.bytes


# To an address: no locks and no renames, but files named by their content


def _send_to_address(
    snapshot: Snapshot, remote: RemoteFiles, keep: int, signature: bytes | None, *, deep: bool
) -> Sent:
    target = RemoteTarget(remote)
    pointer = target.pointer_if_sound()
    uploads = [Upload(each, remote) for each in _set_last(snapshot)]
    moved = _send_all(uploads, target, _current_there(target, pointer), deep=deep)
    if signature is not None:
        remote.replace(f"{snapshot_folder(snapshot.id)}/{SIGNATURE}", signature)
    changed = bool(moved)
    if pointer is None or pointer.id != snapshot.id:
        changed, pointer = True, _make_current(snapshot.id, target, remote, pointer)
        moved |= _send_again(uploads, target)  # who pruned just before did not know that it would be current
    return _report(remote.address, snapshot, moved, changed, target.prune(keep, pointer))


def _report(
    target: str, snapshot: Snapshot, moved: Mapping[str, int], changed: bool, removed: tuple[SnapshotId, ...]
) -> Sent:
    models = len(model_files(snapshot.manifest.query_model))
    every = models + sum(len(each.manifest.files) for each in _set_last(snapshot))
    return Sent(target, snapshot.id, changed, len(moved), every - len(moved), sum(moved.values()), removed)


def _set_last(snapshot: Snapshot) -> tuple[Snapshot, ...]:
    """Return the shards of a set and then the set, which names them; a whole snapshot alone."""
    return (*_shards(snapshot), snapshot)


def _current_there(target: RemoteTarget, pointer: Pointer | None) -> dict[str, SnapshotId]:
    """Return the snapshot of each shard, and of the whole, that is current at the target."""
    if pointer is None:
        return {}
    try:
        shards = target.manifest(pointer.id).shards
    except (NoctuleError, NotThere):
        shards = ()
    return {_WHOLE: pointer.id} | {each.name: each.snapshot for each in shards}


def _send_all(
    uploads: Sequence[Upload], target: RemoteTarget, current: Mapping[str, SnapshotId], *, deep: bool
) -> dict[str, int]:
    """Send, in their order, the snapshots that are not whole there; return the bytes sent, by path.

    Of what is current there, and was verified when it was published, the sizes are compared.
    """
    moved: dict[str, int] = {}
    there, whole = target.sizes(uploads[-1].snapshot), 0
    for each in uploads:
        before = current.get(each.shard)
        if not deep and before == each.snapshot.id and each.is_complete(there):
            whole += 1
            continue
        other = before is not None and before != each.snapshot.id
        have = files_there(target, before, each.shard, deep=deep) if other and before is not None else {}
        moved |= each.send(there, have)
    return moved if whole == len(uploads) else moved | _send_again(uploads, target)


def _send_again(uploads: Sequence[Upload], target: RemoteTarget) -> dict[str, int]:
    """Send what another publisher removed, to whom half a snapshot is what a killed run left behind."""
    moved: dict[str, int] = {}
    there = target.sizes(uploads[-1].snapshot)
    lost = [each for each in uploads if not each.is_complete(there)]
    for each in lost:
        moved |= each.send(there, {})
    there = target.sizes(uploads[-1].snapshot) if lost else there
    for each in uploads:
        each.require_complete(there)
    return moved


def _make_current(
    name: SnapshotId, target: RemoteTarget, remote: RemoteFiles, before: Pointer | None
) -> Pointer:
    marked = target.generations()
    generation = 1 + max(before.generation if before else 0, *marked.values(), 0)
    previous = before.id if before is not None and before.id in target.names() else None
    # A pin never says more than happened: a publisher that ended early left the next one its pin to write.
    if before is not None and marked.get(before.id, before.generation) != before.generation:
        remote.replace(f"{PINS}/{before.id}", pin_content(before.generation))
    pointer = Pointer(name, generation, previous)
    remote.replace(CURRENT, pointer.to_bytes())
    require_read_back(remote, CURRENT, pointer.to_bytes(), MAX_POINTER_BYTES)
    with suppress(RemoteUnavailable):
        remote.replace(f"{PINS}/{name}", pin_content(generation))
    return pointer
