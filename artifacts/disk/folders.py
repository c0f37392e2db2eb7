"""Whole folders: flushed, removed, made read-only, and put in the place of another in one step.

They go through the ``disk`` of ``durable`` too, and raise ``WriteFailed`` as its functions do.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from ...pipeline.errors import WriteFailed
from . import durable
from .layout import is_held_open

_NOT_EMPTY = {errno.ENOTEMPTY, errno.EEXIST, errno.EBUSY}
_NO_EXCHANGE = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM}


def entries(folder: Path, pattern: str = "*") -> list[Path]:
    """Return what a folder holds, sorted, nothing of a missing one; raise ``WriteFailed`` if that fails."""
    with durable.refusals(folder, "list"):
        try:
            return sorted(path for path in folder.iterdir() if path.match(pattern))
        except (FileNotFoundError, NotADirectoryError):
            return []


def sync_tree(path: Path) -> None:
    """Wait until everything below a folder is on disk, by one call: thousands of files would take minutes."""
    with durable.refusals(path, "sync"), durable.opened(path, os.O_RDONLY | os.O_DIRECTORY) as descriptor:
        durable.disk.sync_file_system(descriptor)


def remove_tree(path: Path) -> None:
    """Remove a folder and everything below it, without following links; a missing one is no error."""
    with durable.refusals(path, "look at"):
        is_link = path.is_symlink()
    if is_link:
        durable.remove_file(path)
        return
    for folder, directories, files in os.walk(path, topdown=False):
        here = Path(folder)
        with durable.refusals(here, "remove"):
            for name in files:
                if not is_held_open(name):
                    _unlink(f"{folder}/{name}")
            for name in directories:
                if (here / name).is_symlink():
                    durable.disk.unlink(here / name)
            _remove_emptied(here)


def _unlink(path: str) -> None:
    with suppress(FileNotFoundError):
        durable.disk.unlink(path)


def _remove_emptied(folder: Path) -> None:
    """Remove a folder; one that a server keeps for files that are still open goes with the next sweep."""
    try:
        durable.disk.rmdir(folder)
    except FileNotFoundError:
        pass
    except OSError as error:
        left = (name for _, _, names in os.walk(folder) for name in names)
        if error.errno not in _NOT_EMPTY or not any(map(is_held_open, left)):
            raise


def make_read_only(tree: Path) -> None:
    """Make all files below a folder read-only; folders stay as they are, so that ``rm -r`` still works."""
    for folder, _, files in os.walk(tree):
        for name in sorted(files):
            path = Path(folder, name)
            with durable.refusals(path, "make read-only"):
                durable.disk.chmod(path, stat.S_IMODE(path.stat().st_mode) & ~0o222)


def swap_directory(staged: Path, target: Path, aside: Path | None = None) -> None:
    """Put the new folder in the place of the old one in one step, whole and on disk.

    The old one is removed, or kept at ``aside`` if nothing is there yet and one file system holds both.
    Staged and target must be on one file system. Where the system cannot exchange two names, there is an
    instant without ``target``, and after a power cut in it the old folder lies beside it as
    ``.{name}-old-…``.
    """
    sync_tree(staged)
    if not durable.is_directory(target):
        durable.rename(staged, target)
        durable.sync_directory(target.parent)
        return
    old = _trade_places(staged, target)
    durable.sync_directory(target.parent)
    if aside is None or not moved(old, aside):
        remove_tree(old)


def moved(source: Path, target: Path) -> bool:
    """Move a folder to where nothing or an empty folder is; return whether it did. Nothing is synced."""
    try:
        durable.make_directory(target.parent)
        durable.rename(source, target)
    except WriteFailed:
        return False
    return True


def _trade_places(staged: Path, target: Path) -> Path:
    try:
        durable.disk.exchange(staged, target)
    except OSError as error:
        if error.errno not in _NO_EXCHANGE:
            with durable.refusals(target, "exchange"):
                raise
        return _two_renames(staged, target)
    return staged


def _two_renames(staged: Path, target: Path) -> Path:
    old = target.with_name(f".{target.name}-old-{uuid4().hex}")
    durable.rename(target, old)
    try:
        durable.rename(staged, target)
    except WriteFailed:
        durable.rename(old, target)
        raise
    return old
