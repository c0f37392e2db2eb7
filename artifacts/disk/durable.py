"""The only functions that change the disk: write, sync, rename, remove.

Locks are in ``noctule.artifacts.disk.locks``. All of them go through one ``disk``, so that a test can record
every call, refuse the n-th, or replay what a power cut would have left. Each function raises ``WriteFailed``
naming the path and the reason.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, cast
from uuid import uuid4

from ...pipeline.errors import WriteFailed
from .layout import is_held_open
from .system_calls import Disk

_BUFFER_BYTES = 1 << 20
_NOT_EMPTY = {errno.ENOTEMPTY, errno.EEXIST, errno.EBUSY}
_NO_EXCHANGE = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM}


disk = Disk()


def _hint(code: int | None) -> str:
    if code in (errno.ENOSPC, errno.EDQUOT):
        return "Free some space (noctule prune removes old snapshots) and run it again."
    if code in (errno.EROFS, errno.EACCES, errno.EPERM):
        return "Make the folder writable for this user, or choose another."
    if code == errno.EEXIST:
        return "Files here are written once; choose another name."
    return "Look at the disk and its mount, then run it again."


@contextmanager
def refusals(path: Path, act: str = "write") -> Iterator[None]:
    """Turn errors of the disk inside the block into a ``WriteFailed``, with what, where and what next."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        name = errno.errorcode.get(error.errno, "") if error.errno else ""
        raise WriteFailed(
            f"cannot {act}: {reason}{f' ({name})' if name else ''}", where=str(path), hint=_hint(error.errno)
        ) from error


class _Raw(io.RawIOBase):
    """A descriptor as a stream; once released, its buffer is discarded."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor: int | None = descriptor

    def writable(self) -> bool:
        return True

    def write(self, content: object) -> int:
        view = memoryview(cast(bytes, content))
        return view.nbytes if self.descriptor is None else disk.write(self.descriptor, view)


@contextmanager
def writer(path: Path) -> Iterator[BinaryIO]:
    """Yield a new binary file, which is on disk when the block ends, and removed if the block fails."""
    with refusals(path):
        descriptor = disk.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        raw = _Raw(descriptor)
        file = io.BufferedWriter(raw, _BUFFER_BYTES)
        try:
            yield cast(BinaryIO, file)
            if not file.closed:
                file.flush()
            disk.fsync(descriptor)
        except BaseException:
            raw.descriptor = None
            _abandon(path, descriptor)
            raise
        raw.descriptor = None
        disk.close(descriptor)


def _abandon(path: Path, descriptor: int) -> None:
    # The first error is the one to report.
    with suppress(OSError):
        disk.close(descriptor)
    with suppress(OSError):
        disk.unlink(path)


def write_file(path: Path, content: bytes | memoryview) -> None:
    """Write a new file with this content, on disk on return; its directory is not synced."""
    with writer(path) as file:
        file.write(content)


def replace_file(path: Path, content: bytes | memoryview) -> None:
    """Replace a file: it holds the old content or the new, never a part, even after a power cut."""
    staged = path.with_name(f".{path.name}-{uuid4().hex}")
    try:
        write_file(staged, content)
        replace(staged, path)
    except WriteFailed:
        with suppress(OSError):
            disk.unlink(staged)
        raise
    sync_directory(path.parent)


def overwrite(path: Path, content: bytes) -> None:
    """Overwrite the first bytes of a file in place (locks on it stay valid); for short notes only."""
    with refusals(path), _opened(path, os.O_WRONLY | os.O_CREAT) as descriptor:
        disk.write(descriptor, content)
        disk.fsync(descriptor)


def sync_file(path: Path) -> None:
    """Wait until a file that another library wrote is on disk."""
    with refusals(path, "sync"), _opened(path) as descriptor:
        disk.fsync(descriptor)


def sync_directory(path: Path) -> None:
    """Wait until the names in a directory are on disk."""
    with refusals(path, "sync"):
        try:
            with _opened(path, os.O_RDONLY | os.O_DIRECTORY) as descriptor:
                disk.fsync(descriptor)
        except OSError as error:
            # Some network file systems keep names durable by themselves and refuse the call.
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):
                raise


@contextmanager
def _opened(path: Path, flags: int = os.O_RDONLY) -> Iterator[int]:
    descriptor = disk.open(path, flags)
    try:
        yield descriptor
    finally:
        disk.close(descriptor)


def sync_tree(path: Path) -> None:
    """Wait until everything below a folder is on disk, by one call: thousands of files would take minutes."""
    with refusals(path, "sync"), _opened(path, os.O_RDONLY | os.O_DIRECTORY) as descriptor:
        disk.sync_file_system(descriptor)


def is_directory(path: Path) -> bool:
    """Return whether a directory is there; raise ``WriteFailed`` if the disk cannot say."""
    with refusals(path, "look at"):
        return path.is_dir()


def make_directory(path: Path) -> None:
    """Make a directory and its parents, and wait until their names are on disk."""
    if is_directory(path):
        return
    if path != path.parent:
        make_directory(path.parent)
    with refusals(path, "make the directory"):
        try:
            disk.mkdir(path)
        except FileExistsError:
            if not is_directory(path):
                raise
    sync_directory(path.parent)


def rename(source: Path, target: Path) -> None:
    """Rename a directory to a name that is not taken; nothing is synced."""
    with refusals(target, "rename to"):
        _rename(source, target)


def replace(source: Path, target: Path) -> None:
    """Put the file in the place of ``target`` in one step; nothing is synced."""
    with refusals(target, "replace"):
        _rename(source, target)


def _rename(source: Path, target: Path) -> None:
    found = _stat(source)
    try:
        disk.rename(source, target)
    except FileNotFoundError:
        # A server that did it, and whose answer was lost, is asked again and finds no source.
        if found is None or _stat(source) is not None or not _is(target, found):
            raise


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except OSError:
        return None


def _is(path: Path, expected: os.stat_result | None) -> bool:
    found = _stat(path)
    return found is not None and expected is not None and os.path.samestat(found, expected)


def link(source: Path, target: Path) -> bool:
    """Give a file a second name; return whether the file system can. Nothing is synced."""
    try:
        disk.link(source, target)
    except OSError as error:
        if error.errno == errno.EEXIST and _is(target, _stat(source)):
            return True  # it was done, and the server's answer was lost
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO):
            with refusals(target, "link"):
                raise
        return False
    return True


def remove_file(path: Path) -> None:
    """Remove a file; a missing one is no error, nor one that is removed and still read somewhere."""
    if is_held_open(path.name):
        return
    with refusals(path, "remove"), suppress(FileNotFoundError, NotADirectoryError):
        disk.unlink(path)


def remove_directory(path: Path) -> None:
    """Remove an empty folder; a missing one is no error."""
    with refusals(path, "remove"), suppress(FileNotFoundError, NotADirectoryError):
        disk.rmdir(path)


def remove_tree(path: Path) -> None:
    """Remove a folder and everything below it, without following links; a missing one is no error."""
    with refusals(path, "look at"):
        is_link = path.is_symlink()
    if is_link:
        remove_file(path)
        return
    for folder, directories, files in os.walk(path, topdown=False):
        here = Path(folder)
        with refusals(here, "remove"):
            for name in files:
                if not is_held_open(name):
                    _unlink(f"{folder}/{name}")
            for name in directories:
                if (here / name).is_symlink():
                    disk.unlink(here / name)
            _remove_emptied(here)


def _unlink(path: str) -> None:
    with suppress(FileNotFoundError):
        disk.unlink(path)


def _remove_emptied(folder: Path) -> None:
    """Remove a folder; one that a server keeps for files that are still open goes with the next sweep."""
    try:
        disk.rmdir(folder)
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
            with refusals(path, "make read-only"):
                disk.chmod(path, stat.S_IMODE(path.stat().st_mode) & ~0o222)


def swap_directory(staged: Path, target: Path, aside: Path | None = None) -> None:
    """Put the new folder in the place of the old one in one step, whole and on disk.

    The old one is removed, or kept at ``aside`` if nothing is there yet and one file system holds both.
    Staged and target must be on one file system. Where the system cannot exchange two names, there is an
    instant without ``target``, and after a power cut in it the old folder lies beside it as
    ``.{name}-old-…``.
    """
    sync_tree(staged)
    if not is_directory(target):
        rename(staged, target)
        sync_directory(target.parent)
        return
    old = _trade_places(staged, target)
    sync_directory(target.parent)
    if aside is None or not moved(old, aside):
        remove_tree(old)


def moved(source: Path, target: Path) -> bool:
    """Move a folder to where nothing or an empty folder is; return whether it did. Nothing is synced."""
    try:
        make_directory(target.parent)
        _rename(source, target)
    except (OSError, WriteFailed):
        return False
    return True


def _trade_places(staged: Path, target: Path) -> Path:
    try:
        disk.exchange(staged, target)
    except OSError as error:
        if error.errno not in _NO_EXCHANGE:
            with refusals(target, "exchange"):
                raise
        return _two_renames(staged, target)
    return staged


def _two_renames(staged: Path, target: Path) -> Path:
    old = target.with_name(f".{target.name}-old-{uuid4().hex}")
    rename(target, old)
    try:
        rename(staged, target)
    except WriteFailed:
        rename(old, target)
        raise
    return old
