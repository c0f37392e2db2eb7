"""The store at a remote target: its pointer, its snapshots and shards, and the removal of old ones.

Which kinds of address there are says ``noctule.pipeline.filesystems.opening``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ...pipeline.errors import DamagedSnapshot, NoctuleError
from ...pipeline.model import SnapshotId
from ..disk.layout import CURRENT, MANIFEST, MODELS, PINS, SHARDS, SNAPSHOT_ID, SNAPSHOTS
from ..disk.manifest import MAX_MANIFEST_BYTES, Manifest, snapshot_id
from ..disk.manifest_records import SHARD_NAME
from ..store.contents import PIN_DIGITS, pin_generation
from ..store.pointer import MAX_POINTER_BYTES, Pointer, is_snapshot_id
from ..store.query_models import model_files
from ..store.snapshot import Snapshot
from .files import NotThere, RemoteFiles

# A listing is what the other side says: a name must not lead out of the snapshot.
_FILE = re.compile(r"\.?[A-Za-z0-9][A-Za-z0-9_.-]*")
_OF_SHARD = re.compile(
    rf"(?P<folder>{SHARDS}/{SHARD_NAME.pattern}/{SNAPSHOTS}/{SNAPSHOT_ID.pattern})/(?P<file>{_FILE.pattern})"
)
AGAIN = "Send it again from where it was built: noctule publish --deep"


def snapshot_folder(name: SnapshotId, shard: str = "") -> str:
    """Return the folder of a snapshot below the address of a store, or of a shard's snapshot there."""
    return f"{SHARDS}/{shard}/{SNAPSHOTS}/{name}" if shard else f"{SNAPSHOTS}/{name}"


class RemoteTarget:
    """The files of a store at an address."""

    def __init__(self, remote: RemoteFiles) -> None:
        self._remote = remote

    def pointer(self) -> Pointer | None:
        """Return what ``CURRENT`` says, if it exists; raises ``DamagedSnapshot``, ``RemoteUnavailable``."""
        try:
            content = self._remote.read(CURRENT, MAX_POINTER_BYTES + 1)
        except NotThere:
            return None
        return Pointer.from_bytes(content, where=self._remote.where(CURRENT), hint=AGAIN)

    def pointer_if_sound(self) -> Pointer | None:
        """Return what ``CURRENT`` says, ``None`` if it is missing or damaged."""
        try:
            return self.pointer()
        except DamagedSnapshot:
            return None

    def manifest(self, name: SnapshotId, shard: str = "") -> Manifest:
        """Return the manifest of a snapshot, or of a shard's; raises ``NotThere``, ``DamagedSnapshot``."""
        path = f"{snapshot_folder(name, shard)}/{MANIFEST}"
        content = self._remote.read(path, MAX_MANIFEST_BYTES + 1)
        if snapshot_id(content) != name:
            what = f"this is not the manifest of {name}"
            raise DamagedSnapshot(what, where=self._remote.where(path), hint=AGAIN)
        return Manifest.from_bytes(content, where=self._remote.where(path))

    def sizes(self, snapshot: Snapshot) -> dict[str, int]:
        """Return the bytes of every file there, by path, that may be one of a snapshot or its shards."""
        models = self._remote.sizes(MODELS) if model_files(snapshot.manifest.query_model) else {}
        # One listing: a request for each of many shards would take longer.
        shards = self._remote.sizes(SHARDS) if snapshot.manifest.shards else {}
        return self._remote.sizes(snapshot_folder(snapshot.id)) | models | shards

    def names(self) -> list[SnapshotId]:
        """Return the snapshots that are complete: those with a manifest."""
        return [name for name, files in self._files().items() if MANIFEST in files]

    def generations(self) -> dict[SnapshotId, int]:
        """Return when each snapshot last became current there; 0 if that is lost."""
        return {name: self._generation(name) for name in self._files()}

    def prune(self, keep: int, pointer: Pointer) -> tuple[SnapshotId, ...]:
        """Remove incomplete snapshots, and all but the current, the previous and the ``keep`` latest others.

        Return the complete ones. Then remove shards and models that none of those left names.
        """
        files, age = self._files(), self.generations()
        now = self.pointer_if_sound() or pointer  # another publisher may have come later
        others = [n for n in files if n not in (pointer.id, pointer.previous, now.id, now.previous)]
        whole = sorted((n for n in others if MANIFEST in files[n]), key=lambda name: (-age[name], name))
        halves = [name for name in others if MANIFEST not in files[name]]
        for name in (*whole[keep:], *halves):
            self._remove(snapshot_folder(name), files[name])
            self._remote.remove(f"{PINS}/{name}")
        self._prune_unnamed(pointer)
        return tuple(whole[keep:])

    def _remove(self, folder: str, files: Iterable[str]) -> None:
        # Without its manifest it is no longer a snapshot, whatever interrupts the rest.
        for file in sorted(files, key=lambda each: each != MANIFEST):
            self._remote.remove(f"{folder}/{file}")

    def _prune_unnamed(self, pointer: Pointer) -> None:
        """Remove models and shards that no snapshot names; where a manifest cannot be read, all stay."""
        models, shards = set(self._remote.sizes(MODELS)), self._shards()
        try:
            for name in (pointer.id, *self.names()) if models or shards else ():
                manifest = self.manifest(name)
                models -= set(model_files(manifest.query_model))
                for each in manifest.shards:
                    shards.pop(snapshot_folder(each.snapshot, each.name), None)
        except (NoctuleError, NotThere):
            return
        for path in sorted(models):
            self._remote.remove(path)
        for folder, files in shards.items():
            self._remove(folder, files)

    def _shards(self) -> dict[str, list[str]]:
        """Return the files of every snapshot of a shard, by its folder."""
        found: dict[str, list[str]] = {}
        for path in self._remote.sizes(SHARDS):
            named = _OF_SHARD.fullmatch(path)
            if named:
                found.setdefault(named["folder"], []).append(named["file"])
        return found

    def _files(self) -> dict[SnapshotId, list[str]]:
        found: dict[SnapshotId, list[str]] = {}
        for path in self._remote.sizes(SNAPSHOTS):
            name, _, file = path.removeprefix(f"{SNAPSHOTS}/").partition("/")
            if is_snapshot_id(name) and _FILE.fullmatch(file):
                found.setdefault(SnapshotId(name), []).append(file)
        return dict(sorted(found.items()))

    def _generation(self, name: SnapshotId) -> int:
        try:
            return pin_generation(self._remote.read(f"{PINS}/{name}", PIN_DIGITS))
        except NotThere:
            return 0
