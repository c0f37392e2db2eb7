"""The models that encode queries: files beside the snapshots, each kept once under its SHA-256.

A snapshot's manifest names its model's files by their hash, so whoever trusts the manifest need not trust
this folder: every file is hashed when it is read. Nothing here is ever changed, only added and removed.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from ...pipeline.errors import DamagedModel, WriteFailed
from ...pipeline.identity import canonical_json, combined_hash
from ..disk import durable, folders, locks
from ..disk.layout import MODELS, QUERY_MODEL_FILES
from ..disk.manifest import Manifest
from ..disk.manifest_records import FileEntry, QueryModel

_log = logging.getLogger("noctule")
_WAIT_S = 600.0
_HINT = (
    "Export it again: noctule index. In the cache of a remote store, remove the file: it is fetched again. "
    "Search without it: --encoder static."
)


def entry_of(content: bytes) -> FileEntry:
    """Return the size and the hash of a file's content."""
    return FileEntry(len(content), hashlib.sha256(content).hexdigest())


def file_name(name: str, entry: FileEntry) -> str:
    """Return the path in a store of a file of a query model, such as ``models/3f9c….onnx``."""
    return f"{MODELS}/{entry.sha256}{Path(name).suffix}"


def model_files(record: QueryModel | None) -> dict[str, FileEntry]:
    """Return the files of a query model by their path in a store; none if there is no model."""
    files = {} if record is None else record.files
    return {file_name(name, entry): entry for name, entry in sorted(files.items())}


def verify_file(path: Path, entry: FileEntry) -> Path:
    """Return the path of a file of a query model; raises ``DamagedModel`` unless it is the manifest's."""
    try:
        with path.open("rb", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            found = hashlib.file_digest(file, "sha256").hexdigest() if size == entry.bytes else ""
    except FileNotFoundError:
        raise _damaged("it is missing", path) from None
    except OSError as error:
        raise _damaged(f"it cannot be read: {error.strerror}", path) from None
    if size != entry.bytes:
        raise _damaged(f"expected {entry.bytes} bytes, found {size}", path)
    if found != entry.sha256:
        raise _damaged(f"expected SHA-256 {entry.sha256}, found {found}", path)
    return path


def require_sound(store: Path, record: QueryModel | None, *, quick: bool = False) -> None:
    """Raise ``DamagedModel`` unless every byte of the model's files is there; ``quick`` looks at sizes."""
    for name, entry in model_files(record).items():
        if not quick:
            verify_file(store / name, entry)
        elif not _has_size(store / name, entry):
            raise _damaged(f"it is missing or has not {entry.bytes} bytes", store / name)


def is_sound(store: Path, record: QueryModel) -> bool:
    """Return whether every byte of the model's files is there."""
    try:
        require_sound(store, record)
    except DamagedModel:
        return False
    return True


def keep(store: Path, contents: Mapping[str, bytes]) -> None:
    """Put files, given by their path in the store, on disk; raises ``WriteFailed``."""
    durable.make_directory(store / MODELS)
    for name, content in contents.items():
        durable.replace_file(store / name, content)
    folders.make_read_only(store / MODELS)


def copy_model(source: Path, target: Path, record: QueryModel | None) -> dict[str, int]:
    """Copy what the target lacks of a model from one store to another; return the bytes written, by path.

    Raise ``DamagedModel`` or ``WriteFailed``.
    """
    copied: dict[str, int] = {}
    for name, entry in model_files(record).items():
        try:
            verify_file(target / name, entry)
        except DamagedModel:
            keep(target, {name: verify_file(source / name, entry).read_bytes()})
            copied[name] = entry.bytes
    return copied


def prune_models(store: Path, manifests: Sequence[Manifest]) -> None:
    """Remove the files that none of these snapshots needs, and what a killed run left behind."""
    needed = {store / name for each in manifests for name in model_files(each.query_model)}
    for path in folders.entries(store / MODELS):
        if path not in needed:
            durable.remove_file(path)


class ExportedModels:
    """Exports of a model by one version of the libraries, in a folder that the stores of a machine share.

    It is a cache laid out as a store is: an entry says which files an export gave, and these are hashed
    before they are used. Stores link to them where the file system can.
    """

    def __init__(self, folder: Path, model_sha256: str, exporter: str) -> None:
        self._folder = folder
        self._entry = folder / f"{combined_hash([model_sha256, exporter])[:20]}.json"

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Wait for other processes that export this model: one exports, and the others take what it gave.

        In a folder without locks, or after ten minutes, nobody is waited for.
        """
        lock, path = None, self._entry.with_suffix(".lock")
        with suppress(WriteFailed):
            durable.make_directory(self._folder)
            lock = locks.try_exclusive(path)
            if lock is None:
                _log.info("another run exports the model for searching: waiting ten minutes at most")
                lock = locks.wait_exclusive(path, _WAIT_S)
        try:
            yield
        finally:
            if lock is not None:
                lock.release()

    def give(self, store: Path) -> dict[str, FileEntry] | None:
        """Give a store the files of an earlier export and return them; ``None`` if there is no sound one."""
        try:
            found = json.loads(self._entry.read_bytes())
            files = {name: FileEntry(int(found[name][0]), str(found[name][1])) for name in QUERY_MODEL_FILES}
            share(self._folder, store, files)
        except (OSError, ValueError, LookupError, TypeError, DamagedModel):
            return None
        return files

    def take(self, store: Path, files: dict[str, FileEntry]) -> None:
        """Keep the files of a store's export for other stores; raises ``WriteFailed``."""
        share(store, self._folder, files)
        entry = {name: [each.bytes, each.sha256] for name, each in files.items()}
        durable.replace_file(self._entry, canonical_json(entry).encode() + b"\n")


def share(source: Path, target: Path, files: Mapping[str, FileEntry]) -> None:
    """Link or copy files of a model from one folder to another; raises ``DamagedModel``, ``WriteFailed``."""
    for name, entry in files.items():
        here, there = (folder / file_name(name, entry) for folder in (source, target))
        verify_file(here, entry)
        durable.make_directory(there.parent)
        durable.remove_file(there)
        link_or_copy(here, there)
        durable.sync_directory(there.parent)


def link_or_copy(here: Path, there: Path) -> None:
    """Give a file of a model a second place where there is none yet; raises ``WriteFailed``."""
    if not durable.link(here, there):
        durable.write_file(there, here.read_bytes())


def _has_size(path: Path, entry: FileEntry) -> bool:
    return path.is_file() and path.stat().st_size == entry.bytes


def _damaged(what: str, path: Path) -> DamagedModel:
    return DamagedModel(f"the model that encodes queries is damaged: {what}", where=str(path), hint=_HINT)
