"""Staging folders, where the files of a snapshot to be are described, sealed and proved."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from ...pipeline.errors import DamagedSnapshot, UnsupportedFormat, WriteFailed
from ...pipeline.model import SnapshotId
from ..disk import durable, folders
from ..disk.layout import MANIFEST, POINTER_PREFIX, SNAPSHOTS, STAGING_PREFIX, is_held_open
from ..disk.manifest import Manifest
from ..disk.manifest_records import FileEntry
from .check import check_deep
from .signature import SIGNATURE
from .snapshot import hash_files

REJECTED_PREFIX = ".rejected-"


@dataclass(frozen=True, slots=True)
class Staging:
    """A folder for the files of a snapshot to be; nobody reads it, and what a dead run leaves is removed."""

    path: Path


def new_staging(snapshots: Path) -> Staging:
    """Return a new empty folder beside the snapshots; raises ``WriteFailed``."""
    path = snapshots / f"{STAGING_PREFIX}{uuid4().hex}"
    durable.make_directory(path)
    return Staging(path)


def describe(staging: Staging, tables: Mapping[str, int]) -> dict[str, FileEntry]:
    """Return the size and SHA-256 of every staged file, and the rows of those named in ``tables``."""
    with durable.refusals(staging.path, "read"):
        paths = [path for path in _staged_files(staging) if path.name not in {MANIFEST, SIGNATURE}]
        digests = hash_files(paths)
        rows = {path.name: tables.get(path.stem) if path.suffix == ".parquet" else None for path in paths}
        sizes = {path.name: path.stat().st_size for path in paths}
    return {name: FileEntry(size, digests[name], rows[name]) for name, size in sizes.items()}


def _staged_files(staging: Staging) -> list[Path]:
    return [path for path in folders.entries(staging.path) if not is_held_open(path.name)]


def seal(staging: Staging, manifest: Manifest) -> None:
    """Write all files to disk, the manifest last, then their names, and make them read-only."""
    for path in _staged_files(staging):
        durable.sync_file(path)
    durable.write_file(staging.path / MANIFEST, manifest.to_bytes())
    durable.sync_directory(staging.path)
    folders.make_read_only(staging.path)


def prove(staging: Staging, snapshot_id: SnapshotId) -> None:
    """Check every byte and reference of a sealed snapshot; what fails is kept aside for inspection.

    Raises ``DamagedSnapshot``, and ``WriteFailed`` if it cannot be put aside.
    """
    try:
        # Shards were proved when they were published, each in its own store.
        check_deep(staging.path, snapshot_id, spill=staging.path.parent, shards=False)
    except (DamagedSnapshot, UnsupportedFormat) as error:
        rejected = staging.path.with_name(staging.path.name.replace(STAGING_PREFIX, REJECTED_PREFIX))
        for older in folders.entries(rejected.parent, f"{REJECTED_PREFIX}*"):
            folders.remove_tree(older)
        durable.rename(staging.path, rejected)
        broken = Path(error.where).name
        what = f"the build failed its own check and was not published: {broken}: {error.what}"
        hint = "The current snapshot is unchanged; the rejected files are kept there for inspection."
        raise DamagedSnapshot(what, where=str(rejected), hint=hint) from error


def sweep(store: Path, *, rejected: bool = False) -> None:
    """Remove what a dead run left in a store, also what failed its check if ``rejected``.

    The caller has the lock, so nobody is writing these; a disk that refuses must not stop a rollback.
    """
    prefixes = (STAGING_PREFIX, REJECTED_PREFIX) if rejected else (STAGING_PREFIX,)
    snapshots = store / SNAPSHOTS
    with suppress(WriteFailed):
        for path in folders.entries(snapshots):
            if path.name.startswith(prefixes):
                folders.remove_tree(path)
        for path in folders.entries(store, f"{POINTER_PREFIX}*"):
            durable.remove_file(path)
