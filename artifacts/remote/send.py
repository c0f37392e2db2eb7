"""Sending a published snapshot to another place: data first, each file verified, the pointer last.

The other place has the layout of a store. Whatever interrupts the sending, readers there see the previous
snapshot or the new one; the next attempt continues where the last one stopped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ...pipeline.errors import NoctuleError, RemoteUnavailable, SettingsError
from ...pipeline.filesystems.opening import is_address
from ...pipeline.model import SnapshotId
from ..disk import durable
from ..disk.layout import CURRENT, MANIFEST, MODELS, PINS, SNAPSHOTS
from ..disk.manifest import MAX_MANIFEST_BYTES
from ..disk.manifest_records import FileEntry
from ..store.contents import pin_content
from ..store.pointer import MAX_POINTER_BYTES, Pointer
from ..store.query_models import copy_model, model_files
from ..store.shard_set import shard_store
from ..store.signature import SIGNATURE, sign
from ..store.snapshot import Snapshot
from ..store.staging import Staging
from ..store.store import Store
from .files import NotThere, RemoteFiles
from .target import RemoteTarget

_TRIES = 2
_ALL = 1 << 20


@dataclass(frozen=True, slots=True)
class Sent:
    """The result of sending: files sent, files that were already there, snapshots removed there."""

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
            _require_whole(snapshot, target)
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
    for record, shard in zip(snapshot.manifest.shards, snapshot.parts, strict=False):
        own = Store(shard_store(store.root, record.name))
        # How many are kept is for the set to say, which comes last and names its shards.
        _send_to_folder(shard, own, shard_store(folder, record.name), _ALL, None)
    with target.lock("publish"):
        have = _files_of_current(target)
        staging = target.stage()
        sizes = {name: _placed(snapshot, name, entry, have, staging) for name, entry in _entries(snapshot)}
        copied = copy_model(snapshot.store, target.root, snapshot.manifest.query_model)
        if signature is not None:
            durable.write_file(staging.path / SIGNATURE, signature)
        published = target.publish(staging, snapshot.manifest)
        if signature is not None:  # a snapshot that was there already keeps its files
            target.put_signature(snapshot.id, signature)
        removed = target.prune(keep)
    sent = {name: size for name, size in sizes.items() if size is not None} | copied
    return _report(snapshot, str(folder), sent, published.changed, removed)


def _require_whole(snapshot: Snapshot, target: str) -> None:
    if snapshot.manifest.shards:
        raise SettingsError(
            "a set of shards is published to folders only",
            where=target,
            hint="Name a folder, also one that is mounted; or build it whole, without [shards].",
        )


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
    is_there = (
        pointer is not None and pointer.id == snapshot.id and not deep and _is_complete(snapshot, remote)
    )
    if is_there and signature is not None:
        remote.replace(f"{_folder(snapshot.id)}/{SIGNATURE}", signature)
    if is_there and pointer is not None:
        return _report(snapshot, remote.address, {}, False, target.prune(keep, pointer))
    moved = _send_files(snapshot, remote, _hashes_there(target, pointer, snapshot.id, deep=deep))
    if not _is_complete(snapshot, remote):
        # Another publisher took a half-sent snapshot for the remains of a killed run.
        moved |= _send_files(snapshot, remote, {})
        _require_complete(snapshot, remote)
    if signature is not None:
        remote.replace(f"{_folder(snapshot.id)}/{SIGNATURE}", signature)
    if pointer is None or pointer.id != snapshot.id:
        generation = 1 + max(pointer.generation if pointer else 0, *target.generations().values(), 0)
        previous = pointer.id if pointer is not None and pointer.id in target.names() else None
        remote.replace(f"{PINS}/{snapshot.id}", pin_content(generation))
        changed, pointer = True, Pointer(snapshot.id, generation, previous)
        remote.replace(CURRENT, pointer.to_bytes())
        _require_read_back(remote, CURRENT, pointer.to_bytes(), MAX_POINTER_BYTES)
    else:
        changed = bool(moved)
    return _report(snapshot, remote.address, moved, changed, target.prune(keep, pointer))


def _report(
    snapshot: Snapshot, target: str, moved: Mapping[str, int], changed: bool, removed: tuple[SnapshotId, ...]
) -> Sent:
    kept = len(snapshot.manifest.files) + len(model_files(snapshot.manifest.query_model)) - len(moved)
    return Sent(target, snapshot.id, changed, len(moved), kept, sum(moved.values()), removed)


def _folder(name: SnapshotId) -> str:
    return f"{SNAPSHOTS}/{name}"


def _is_complete(snapshot: Snapshot, remote: RemoteFiles) -> bool:
    """Return whether every file is there with its size."""
    there = _sizes_there(snapshot, remote)
    wanted = {path: entry.bytes for path, (_, entry) in _wanted(snapshot).items()}
    wanted[f"{_folder(snapshot.id)}/{MANIFEST}"] = len(snapshot.manifest.to_bytes())
    return wanted.items() <= there.items()


def _sizes_there(snapshot: Snapshot, remote: RemoteFiles) -> dict[str, int]:
    models = remote.sizes(MODELS) if model_files(snapshot.manifest.query_model) else {}
    return remote.sizes(_folder(snapshot.id)) | models


def _wanted(snapshot: Snapshot) -> dict[str, tuple[Path, FileEntry]]:
    """Return every file to be sent by its path there: where it is here, and its size and hash."""
    models = model_files(snapshot.manifest.query_model)
    found = {path: (snapshot.store / path, entry) for path, entry in models.items()}
    folder = _folder(snapshot.id)
    return found | {f"{folder}/{name}": (snapshot.path / name, entry) for name, entry in _entries(snapshot)}


def _require_complete(snapshot: Snapshot, remote: RemoteFiles) -> None:
    if not _is_complete(snapshot, remote):
        what, where = "files that were sent are no longer there", remote.where(_folder(snapshot.id))
        hint = "Does another machine publish to this target? Only one should. Nothing was published there."
        raise RemoteUnavailable(what, where=where, hint=hint)


def _hashes_there(
    target: RemoteTarget, pointer: Pointer | None, but: SnapshotId, *, deep: bool
) -> dict[str, str]:
    """Return the files of the target's current snapshot by hash, to be copied there instead of sent.

    Its model is kept where it is, and is not read back each night unless the sending is ``deep``.
    """
    if pointer is None or pointer.id == but:
        return {}
    try:
        manifest = target.manifest(pointer.id)
    except (NoctuleError, NotThere):
        return {}
    models = {} if deep else {entry.sha256: path for path, entry in model_files(manifest.query_model).items()}
    return models | {entry.sha256: f"{_folder(pointer.id)}/{name}" for name, entry in manifest.files.items()}


def _send_files(snapshot: Snapshot, remote: RemoteFiles, have: Mapping[str, str]) -> dict[str, int]:
    """Send what is missing, the manifest last, and verify every hash; return the bytes sent, by name."""
    folder, moved = _folder(snapshot.id), dict[str, int]()
    there = _sizes_there(snapshot, remote)
    for path, (source, entry) in _wanted(snapshot).items():
        known = have.get(entry.sha256)
        is_there = there.get(path) == entry.bytes and (known == path or _holds(remote, path, entry.sha256))
        copied = not is_there and known not in (None, path) and remote.copy(str(known), path)
        if is_there or (copied and _holds(remote, path, entry.sha256)):
            continue
        _send_one(source, remote, path, entry.sha256)
        moved[path] = entry.bytes
    content = snapshot.manifest.to_bytes()
    remote.replace(f"{folder}/{MANIFEST}", content)
    _require_read_back(remote, f"{folder}/{MANIFEST}", content, MAX_MANIFEST_BYTES)
    return moved


def _holds(remote: RemoteFiles, path: str, sha256: str) -> bool:
    try:
        return remote.sha256(path) == sha256
    except NotThere:
        return False


def _send_one(source: Path, remote: RemoteFiles, path: str, sha256: str) -> None:
    for _ in range(_TRIES):
        remote.send(source, path)
        if _holds(remote, path, sha256):
            return
    what = "what can be read there is not what was sent"
    hint = "Check the other side's disk; nothing was published there."
    raise RemoteUnavailable(what, where=remote.where(path), hint=hint)


def _require_read_back(remote: RemoteFiles, path: str, content: bytes, limit: int) -> None:
    if remote.read(path, limit + 1) != content:
        what = "what can be read there is not what was written"
        hint = "Somebody else writes to this target, or its disk is faulty."
        raise RemoteUnavailable(what, where=remote.where(path), hint=hint)
