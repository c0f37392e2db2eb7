"""Locks on files and folders: of a store's writer, of readers, of a folder that is made into another site.

A lock ends with ``close`` or with the process that holds it, so none outlives its owner. Locks go through the
same ``durable.disk`` as everything that changes the disk, so that a test can make them fail too.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shlex
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ...pipeline.errors import StoreBusy
from . import durable

_NOTE_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock on an open file; it ends with ``close`` or with the process, so no lock outlives its owner."""

    descriptor: int

    def close(self) -> None:
        """Release the lock."""
        with suppress(OSError):  # Nothing was written: there is nothing to lose.
            durable.disk.close(self.descriptor)


def directory(descriptor: int, *, alone: bool = False) -> bool:
    """Lock an open folder until it is closed, shared or (``alone``) exclusively; return whether that worked.

    On a file system without locks, a shared lock always works and an exclusive one never does.
    """
    try:
        return _is_free(descriptor, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
    except OSError:
        return not alone


def shared(path: Path) -> Lock | None:
    """Return a reader's lock; ``None`` if no lock file is possible, as on a read-only file system.

    Raises ``StoreBusy`` while the file is being removed.
    """
    while True:
        try:
            descriptor = _open_for_reading(path)
        except OSError:
            return None
        if not _flock(descriptor, fcntl.LOCK_SH):
            raise StoreBusy("it is being removed", where=str(path), hint="Open the current snapshot instead.")
        if _still_named(descriptor, path):
            return Lock(descriptor)
        durable.disk.close(descriptor)


def _open_for_reading(path: Path) -> int:
    try:
        return durable.disk.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return durable.disk.open(path, os.O_RDONLY | os.O_CREAT)


def _still_named(descriptor: int, path: Path) -> bool:
    # A lock on a file that has been removed in the meantime protects nothing.
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _flock(descriptor: int, operation: int) -> bool:
    """Return whether the lock was free; close the descriptor if not."""
    is_free = False
    try:
        is_free = _is_free(descriptor, operation)
    finally:
        if not is_free:
            durable.disk.close(descriptor)
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
    """Return the only lock on the file, or ``None`` while anyone holds one."""
    with durable.refusals(path, "lock"):
        descriptor = durable.disk.open(path, os.O_RDWR | os.O_CREAT)
        return Lock(descriptor) if _flock(descriptor, fcntl.LOCK_EX) else None


@contextmanager
def exclusive(path: Path, purpose: str = "") -> Iterator[None]:
    """Hold the lock for the duration of the block; raises ``StoreBusy`` at once, naming the holder."""
    lock = try_exclusive(path)
    if lock is None:
        what, hint = f"another run holds the lock{_holder(path)}", "Wait for it to end, or stop it."
        raise StoreBusy(what, where=str(path), hint=hint)
    try:
        _leave_note(lock.descriptor, purpose)
        yield
    finally:
        with suppress(OSError):
            os.ftruncate(lock.descriptor, 0)
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


def _holder(path: Path) -> str:
    try:
        with path.open("rb") as file:
            note = json.loads(file.read(_NOTE_BYTES))
        return ": process {pid} on {host} since {since}, {purpose} ({command})".format(**note)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ""
