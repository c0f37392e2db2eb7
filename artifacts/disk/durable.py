"""The only functions that change the disk, with those of ``folders``: write, sync, rename, remove.

Locks are in ``noctule.artifacts.disk.locks``. All of them go through one ``disk``, so that a test can record
every call, refuse the n-th, or replay what a power cut would have left. Each function raises ``WriteFailed``
naming the path and the reason.
"""

from __future__ import annotations

import errno
import fcntl
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, cast
from uuid import uuid4

from ...pipeline.errors import WriteFailed
from .layout import is_held_open
from .system_calls import Disk

_BUFFER_BYTES = 1 << 20


disk = Disk()


def _hint(code: int | None) -> str:
    if code in (errno.ENOSPC, errno.EDQUOT):
        return "Free some space (noctule prune removes old snapshots) and run it again."
    if code in (errno.EROFS, errno.EACCES, errno.EPERM):
        return "Make the folder writable for this user, or choose another."
    if code in (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM):
        return "Look at the limits of memory and open files, then run it again."
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
    with refusals(path), opened(path, os.O_WRONLY | os.O_CREAT) as descriptor:
        disk.write(descriptor, content)
        disk.fsync(descriptor)


def append(path: Path, lines: bytes, most: int) -> bool:
    """Add whole lines to a file, all or none; return whether it took them and has at most so many bytes.

    Several processes may do so at once. Nothing is synced, and a line that a crash has torn is ended first.
    """
    with refusals(path, "add to"), opened(path, os.O_RDWR | os.O_CREAT | os.O_APPEND) as descriptor:
        with suppress(OSError):  # without locks on a file system, each call still adds at the end
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        size = os.fstat(descriptor).st_size
        is_torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
        content = b"\n" + lines if is_torn else lines
        if size + len(content) > most:
            return False
        try:
            _write_all(descriptor, content)
        except OSError:
            with suppress(OSError):
                disk.truncate(descriptor, size)
            raise
    return True


def _write_all(descriptor: int, content: bytes) -> None:
    left = memoryview(content)
    while left:
        left = left[disk.write(descriptor, left) :]


def sync_file(path: Path) -> None:
    """Wait until a file that another library wrote is on disk."""
    with refusals(path, "sync"), opened(path) as descriptor:
        disk.fsync(descriptor)


def sync_directory(path: Path) -> None:
    """Wait until the names in a directory are on disk."""
    with refusals(path, "sync"):
        try:
            with opened(path, os.O_RDONLY | os.O_DIRECTORY) as descriptor:
                disk.fsync(descriptor)
        except OSError as error:
            # Some network file systems keep names durable by themselves and refuse the call.
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):
                raise


@contextmanager
def opened(path: Path, flags: int = os.O_RDONLY) -> Iterator[int]:
    """Yield a descriptor for the block's time; raises ``OSError``."""
    descriptor = disk.open(path, flags)
    try:
        yield descriptor
    finally:
        disk.close(descriptor)


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
