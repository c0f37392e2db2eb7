"""The store at a remote target: its pointer, its snapshots by age, and the removal of old ones."""

from __future__ import annotations

import re

from ...pipeline.errors import DamagedSnapshot, NoctuleError
from ...pipeline.model import SnapshotId
from ..disk.layout import CURRENT, MANIFEST, MODELS, PINS, SNAPSHOTS
from ..disk.manifest import MAX_MANIFEST_BYTES, Manifest, snapshot_id
from ..store.contents import PIN_DIGITS, pin_generation
from ..store.pointer import MAX_POINTER_BYTES, Pointer, is_snapshot_id
from ..store.query_models import model_files
from .files import NotThere, RemoteFiles

# A listing is what the other side says: a name must not lead out of the snapshot.
_FILE = re.compile(r"\.?[A-Za-z0-9][A-Za-z0-9_.-]*")
AGAIN = "Send it again from where it was built: noctule publish --deep"


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

    def manifest(self, name: SnapshotId) -> Manifest:
        """Return a snapshot's manifest; raises ``NotThere``, or ``DamagedSnapshot`` if it is not that."""
        path = f"{SNAPSHOTS}/{name}/{MANIFEST}"
        content = self._remote.read(path, MAX_MANIFEST_BYTES + 1)
        if snapshot_id(content) != name:
            what = f"this is not the manifest of {name}"
            raise DamagedSnapshot(what, where=self._remote.where(path), hint=AGAIN)
        return Manifest.from_bytes(content, where=self._remote.where(path))

    def names(self) -> list[SnapshotId]:
        """Return the snapshots that are complete: those with a manifest."""
        return [name for name, files in self._files().items() if MANIFEST in files]

    def generations(self) -> dict[SnapshotId, int]:
        """Return when each snapshot last became current there; 0 if that is lost."""
        return {name: self._generation(name) for name in self._files()}

    def prune(self, keep: int, pointer: Pointer) -> tuple[SnapshotId, ...]:
        """Remove incomplete snapshots, and all but the current, the previous and the ``keep`` latest others.

        Return the complete ones.
        """
        files, age = self._files(), self.generations()
        others = [name for name in files if name not in (pointer.id, pointer.previous)]
        whole = sorted((n for n in others if MANIFEST in files[n]), key=lambda name: (-age[name], name))
        halves = [name for name in others if MANIFEST not in files[name]]
        for name in (*whole[keep:], *halves):
            # Without its manifest it is no longer a snapshot, whatever interrupts the rest.
            for file in sorted(files[name], key=lambda each: each != MANIFEST):
                self._remote.remove(f"{SNAPSHOTS}/{name}/{file}")
            self._remote.remove(f"{PINS}/{name}")
        self._prune_models(pointer)
        return tuple(whole[keep:])

    def _prune_models(self, pointer: Pointer) -> None:
        """Remove the models that no snapshot needs; where a manifest cannot be read, all of them stay."""
        there = set(self._remote.sizes(MODELS))
        try:
            for name in (pointer.id, *self.names()) if there else ():
                there -= set(model_files(self.manifest(name).query_model))
                if not there:
                    return
        except (NoctuleError, NotThere):
            return
        for path in sorted(there):
            self._remote.remove(path)

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
