"""The files of one snapshot at an address: each is sent and read back, and the manifest comes last."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ...pipeline.errors import NoctuleError, RemoteUnavailable
from ...pipeline.model import SnapshotId
from ..disk.layout import MANIFEST
from ..disk.manifest import MAX_MANIFEST_BYTES
from ..disk.manifest_records import FileEntry
from ..store.query_models import model_files
from ..store.snapshot import Snapshot
from .files import NotThere, RemoteFiles
from .target import RemoteTarget, snapshot_folder

_TRIES = 2


class Upload:
    """A snapshot, or a shard of a set, and the address that it is sent to."""

    def __init__(self, snapshot: Snapshot, remote: RemoteFiles) -> None:
        self.snapshot, self.shard, self._remote = snapshot, snapshot.manifest.shard, remote
        self.folder = snapshot_folder(snapshot.id, self.shard)
        self._manifest = snapshot.manifest.to_bytes()
        entries = sorted(snapshot.manifest.files.items())
        # Queries are encoded by the model of the set: its shards need none there.
        models = {} if self.shard else model_files(snapshot.manifest.query_model)
        self._files = {path: (snapshot.store / path, entry) for path, entry in models.items()}
        self._files |= {f"{self.folder}/{name}": (snapshot.path / name, entry) for name, entry in entries}

    def is_complete(self, there: Mapping[str, int]) -> bool:
        """Return whether every file is there with its size, given the size of all that is there by path."""
        wanted = {path: entry.bytes for path, (_, entry) in self._files.items()}
        return (wanted | {f"{self.folder}/{MANIFEST}": len(self._manifest)}).items() <= there.items()

    def send(self, there: Mapping[str, int], have: Mapping[str, str]) -> dict[str, int]:
        """Send what is missing, the manifest last, and verify every hash; return the bytes sent, by path.

        ``have`` are files at the target by their hash, to be copied there.
        """
        moved: dict[str, int] = {}
        for path, (source, entry) in self._files.items():
            if not self._is_there(path, entry, there, have.get(entry.sha256)):
                self._send_one(source, path, entry.sha256)
                moved[path] = entry.bytes
        path = f"{self.folder}/{MANIFEST}"
        self._remote.replace(path, self._manifest)
        require_read_back(self._remote, path, self._manifest, MAX_MANIFEST_BYTES)
        return moved

    def require_complete(self, there: Mapping[str, int]) -> None:
        """Raise ``RemoteUnavailable`` unless every file is there."""
        if not self.is_complete(there):
            what, where = "files that were sent are no longer there", self._remote.where(self.folder)
            hint = "Does another machine publish here? Only one should. The snapshot there is unchanged."
            raise RemoteUnavailable(what, where=where, hint=hint)

    def _is_there(self, path: str, entry: FileEntry, there: Mapping[str, int], known: str | None) -> bool:
        """Return whether a file is there, or could be copied there from ``known``."""
        if there.get(path) == entry.bytes and (known == path or self._holds(path, entry.sha256)):
            return True
        copied = known not in (None, path) and self._remote.copy(str(known), path)
        return copied and self._holds(path, entry.sha256)

    def _holds(self, path: str, sha256: str) -> bool:
        try:
            return self._remote.sha256(path) == sha256
        except NotThere:
            return False

    def _send_one(self, source: Path, path: str, sha256: str) -> None:
        for _ in range(_TRIES):
            self._remote.send(source, path)
            if self._holds(path, sha256):
                return
        what = "the file read back differs from what was sent"
        hint = "Check the other side's disk; nothing was published there."
        raise RemoteUnavailable(what, where=self._remote.where(path), hint=hint)


def files_there(target: RemoteTarget, name: SnapshotId, shard: str, *, deep: bool) -> dict[str, str]:
    """Return the paths of a snapshot's files at a target by hash, to be copied there instead of sent.

    Its model is kept where it is, and is not read back each night unless the sending is ``deep``.
    """
    try:
        manifest = target.manifest(name, shard)
    except (NoctuleError, NotThere):
        return {}
    kept = {} if deep or shard else model_files(manifest.query_model)
    models = {entry.sha256: path for path, entry in kept.items()}
    folder = snapshot_folder(name, shard)
    return models | {entry.sha256: f"{folder}/{file}" for file, entry in manifest.files.items()}


def require_read_back(remote: RemoteFiles, path: str, content: bytes, limit: int) -> None:
    """Raise ``RemoteUnavailable`` unless a small file there holds this content."""
    if remote.read(path, limit + 1) != content:
        what = "the file read back differs from what was written"
        hint = "Somebody else writes to this target, or its disk is faulty."
        raise RemoteUnavailable(what, where=remote.where(path), hint=hint)
