"""The only calls that change the disk: write, sync, rename, remove, lock.

All of them go through one ``disk``, so that a test can record every call, refuse the n-th, or replay
what a power cut would have left. Each function raises ``WriteFailed`` naming the path and the reason.
"""

from __future__ import annotations

import errno
import fcntl
import io
import json
import os
import shlex
import socket
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, cast
from uuid import uuid4

from artifacts.disk import Disk
from pipeline.errors import StoreBusy, WriteFailed

_BUFFER_BYTES = 1 << 20
_NOTE_BYTES = 4096
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
def _refusals(path: Path, act: str = "write") -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        name = errno.errorcode.get(error.errno, "") if error.errno else ""
        raise WriteFailed(
            f"cannot {act}: {reason}{f' ({name})' if name else ''}", where=str(path), hint=_hint(error.errno)
        ) from error


class _Raw(io.RawIOBase):
    """A descriptor as a stream; once let go, what is still buffered goes nowhere."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor: int | None = descriptor

    def writable(self) -> bool:
        return True

    def write(self, content: object) -> int:
        view = memoryview(cast(bytes, content))
        return view.nbytes if self.descriptor is None else disk.write(self.descriptor, view)


@contextmanager
def writer(path: Path) -> Iterator[BinaryIO]:
    """A binary file that did not exist before; on the disk when the block ends, gone when the block fails."""
    with _refusals(path):
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
    """A new file with this content, on the disk when it returns; its directory is not synced."""
    with writer(path) as file:
        file.write(content)


def replace_file(path: Path, content: bytes | memoryview) -> None:
    """The file holds the old content or the new, never a part, even after a power cut."""
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
    """The first bytes of a file are these, in place (locks on it stay valid); for notes of a few bytes only."""
    with _refusals(path):
        descriptor = disk.open(path, os.O_WRONLY | os.O_CREAT)
        try:
            disk.write(descriptor, content)
            disk.fsync(descriptor)
        finally:
            disk.close(descriptor)


def sync_file(path: Path) -> None:
    """A file that another library wrote is on the disk when this returns."""
    with _refusals(path, "sync"):
        _sync(path, os.O_RDONLY)


def sync_directory(path: Path) -> None:
    """The names in a directory are on the disk when this returns."""
    with _refusals(path, "sync"):
        try:
            _sync(path, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            # Some network file systems keep names durable by themselves and refuse the call.
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):
                raise


def _sync(path: Path, flags: int) -> None:
    descriptor = disk.open(path, flags)
    try:
        disk.fsync(descriptor)
    finally:
        disk.close(descriptor)


def sync_tree(path: Path) -> None:
    """Everything below a folder is on the disk: one call for the file system, as thousands of files take minutes."""
    with _refusals(path, "sync"):
        descriptor = disk.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            disk.sync_file_system(descriptor)
        finally:
            disk.close(descriptor)


def make_directory(path: Path) -> None:
    """The directory is there, with its parents, and their names are on the disk."""
    if path.is_dir():
        return
    if path != path.parent:
        make_directory(path.parent)
    with _refusals(path, "make the directory"):
        try:
            disk.mkdir(path)
        except FileExistsError:
            if not path.is_dir():
                raise
    sync_directory(path.parent)


def rename(source: Path, target: Path) -> None:
    """The directory has a new name, which nothing else had; nothing is synced."""
    with _refusals(target, "rename to"):
        disk.rename(source, target)


def replace(source: Path, target: Path) -> None:
    """The file stands in the place of ``target`` at once; nothing is synced."""
    with _refusals(target, "replace"):
        disk.rename(source, target)


def link(source: Path, target: Path) -> bool:
    """Whether the file has a second name now: not every file system can. Nothing is synced."""
    try:
        disk.link(source, target)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO):
            with _refusals(target, "link"):
                raise
        return False
    return True


def remove_file(path: Path) -> None:
    """The file is gone; one that was not there is fine."""
    with _refusals(path, "remove"), suppress(FileNotFoundError, NotADirectoryError):
        disk.unlink(path)


def remove_directory(path: Path) -> None:
    """The empty folder is gone; one that was not there is fine."""
    with _refusals(path, "remove"), suppress(FileNotFoundError, NotADirectoryError):
        disk.rmdir(path)


def remove_tree(path: Path) -> None:
    """The folder and all below it are gone, links not followed; one that was not there is fine."""
    for folder, directories, files in os.walk(path, topdown=False):
        here = Path(folder)
        with _refusals(here, "remove"):
            for name in files:
                disk.unlink(f"{folder}/{name}")
            for name in directories:
                if (here / name).is_symlink():
                    disk.unlink(here / name)
            disk.rmdir(here)


def make_read_only(tree: Path) -> None:
    """No file below may be written any more; folders stay as they are, so that ``rm -r`` still works."""
    for folder, _, files in os.walk(tree):
        for name in sorted(files):
            path = Path(folder, name)
            with _refusals(path, "make read-only"):
                disk.chmod(path, stat.S_IMODE(path.stat().st_mode) & ~0o222)


def swap_directory(staged: Path, target: Path, aside: Path | None = None) -> None:
    """The new folder stands in the place of the old one at once, whole and on the disk; the old one is removed, or
    lies at ``aside`` afterwards where nothing does yet and one file system holds both.

    Staged and target must be on one file system. Where the system cannot exchange two names, there is an instant without
    ``target``, and after a power cut in it the old folder lies beside it as ``.{name}-old-…``.
    """
    sync_tree(staged)
    if not target.is_dir():
        rename(staged, target)
        sync_directory(target.parent)
        return
    old = _trade_places(staged, target)
    sync_directory(target.parent)
    if aside is None or not moved(old, aside):
        remove_tree(old)


def moved(source: Path, target: Path) -> bool:
    """Whether the folder lies at ``target`` now, where nothing was or an empty folder; nothing is synced."""
    try:
        make_directory(target.parent)
        disk.rename(source, target)
    except (OSError, WriteFailed):
        return False
    return True


def _trade_places(staged: Path, target: Path) -> Path:
    try:
        disk.exchange(staged, target)
    except OSError as error:
        if error.errno not in _NO_EXCHANGE:
            with _refusals(target, "exchange"):
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


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock on an open file; it ends with ``close`` or with the process, so no lock outlives its owner."""

    descriptor: int

    def close(self) -> None:
        """Let go."""
        with suppress(OSError):  # Nothing was written: there is nothing to lose.
            disk.close(self.descriptor)


def lock_directory(descriptor: int, *, alone: bool = False) -> bool:
    """Whether an open folder is this process's to read, or to change where it is the only one, until it is closed.

    Where the file system has no locks, it is to be read and never to be changed.
    """
    try:
        return _is_free(descriptor, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
    except OSError:
        return not alone


def lock_shared(path: Path) -> Lock | None:
    """A reader's lock; ``None`` where no lock file can be had (a read-only file system), ``StoreBusy`` if it goes."""
    while True:
        try:
            descriptor = _open_for_reading(path)
        except OSError:
            return None
        if not _flock(descriptor, fcntl.LOCK_SH):
            raise StoreBusy("it is being removed", where=str(path), hint="Open the current snapshot instead.")
        if _still_named(descriptor, path):
            return Lock(descriptor)
        disk.close(descriptor)


def _open_for_reading(path: Path) -> int:
    try:
        return disk.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return disk.open(path, os.O_RDONLY | os.O_CREAT)


def _still_named(descriptor: int, path: Path) -> bool:
    # A lock on a file that was removed meanwhile protects nothing.
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _flock(descriptor: int, operation: int) -> bool:
    """Whether the lock was free; closes the descriptor if not."""
    is_free = False
    try:
        is_free = _is_free(descriptor, operation)
    finally:
        if not is_free:
            disk.close(descriptor)
    return is_free


def _is_free(descriptor: int, operation: int) -> bool:
    try:
        fcntl.flock(descriptor, operation | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return False
        raise
    return True


def try_exclusive(path: Path) -> Lock | None:
    """The only lock on the file, or ``None`` while anyone holds one."""
    with _refusals(path, "lock"):
        descriptor = disk.open(path, os.O_RDWR | os.O_CREAT)
        return Lock(descriptor) if _flock(descriptor, fcntl.LOCK_EX) else None


@contextmanager
def lock_exclusive(path: Path, purpose: str = "") -> Iterator[None]:
    """The lock for the block's time; raises ``StoreBusy`` at once, saying who has it and since when."""
    lock = try_exclusive(path)
    if lock is None:
        raise StoreBusy(
            f"another run holds the lock{_holder(path)}",
            where=str(path),
            hint="Wait for it to end, or stop it.",
        )
    try:
        _leave_note(lock.descriptor, purpose)
        yield
    finally:
        _wipe_note(lock.descriptor)
        fcntl.flock(lock.descriptor, fcntl.LOCK_UN)
        lock.close()


def _leave_note(descriptor: int, purpose: str) -> None:
    note = {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "since": datetime.now(UTC).isoformat(timespec="seconds"),
        "purpose": purpose,
        "command": shlex.join(sys.argv)[:500],
    }
    # On a full disk the lock still holds, and prune must be able to take it; only the note is missing.
    with suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps(note).encode(), 0)


def _wipe_note(descriptor: int) -> None:
    with suppress(OSError):
        os.ftruncate(descriptor, 0)


def _holder(path: Path) -> str:
    try:
        with path.open("rb") as file:
            note = json.loads(file.read(_NOTE_BYTES))
        return ": process {pid} on {host} since {since}, {purpose} ({command})".format(**note)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ""
