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
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ...pipeline.errors import SettingsError, StoreBusy, WriteFailed
from ...pipeline.filesystems import mounts
from . import durable

ONE_HOST = "NOCTULE_ONE_HOST"
_NOTE_BYTES = 4096
# Of a pin that is removed again and again; or whose server no longer says which file a name is.
_ATTEMPTS = 100
_LOOK_AGAIN_S = 0.2
_NO_LOCKS = {errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock on an open file; it ends with ``close`` or with the process, so no lock outlives its owner."""

    descriptor: int

    def close(self) -> None:
        """Release the lock."""
        with suppress(OSError):  # Nothing was written: there is nothing to lose.
            durable.disk.close(self.descriptor)

    def release(self) -> None:
        """Release the lock for processes, too, that were forked while it was held and have its descriptor."""
        with suppress(OSError):  # what was done under the lock is done, whatever a server says now
            fcntl.flock(self.descriptor, fcntl.LOCK_UN)
        self.close()


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
    for _ in range(_ATTEMPTS):
        try:
            descriptor = _open_for_reading(path)
            is_free = _flock(descriptor, fcntl.LOCK_SH)
        except OSError:  # no lock file is possible, or no lock on it
            return None
        if not is_free:
            raise StoreBusy("it is being removed", where=str(path), hint="Open the current snapshot instead.")
        if _still_named(descriptor, path):
            return Lock(descriptor)
        durable.disk.close(descriptor)
    return None


def _open_for_reading(path: Path) -> int:
    try:
        return durable.disk.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return durable.disk.open(path, os.O_RDONLY | os.O_CREAT)


def _still_named(descriptor: int, path: Path) -> bool:
    # A lock on a file that has been removed in the meantime protects nothing.
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:  # missing, or its handle is stale
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
        try:
            return Lock(descriptor) if _flock(descriptor, fcntl.LOCK_EX) else None
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
            what = f"the file system has no locks: {error.strerror}"
            raise WriteFailed(what, where=str(path), hint=mounts.HINT) from error


def wait_exclusive(path: Path, limit_s: float) -> Lock | None:
    """Return the only lock on the file, or ``None`` if others hold it for longer than ``limit_s`` seconds."""
    deadline = time.monotonic() + limit_s
    while (lock := try_exclusive(path)) is None and time.monotonic() <= deadline:
        time.sleep(_LOOK_AGAIN_S)
    return lock


@contextmanager
def exclusive(path: Path, purpose: str = "") -> Iterator[None]:
    """Hold the lock for the duration of the block; raises ``StoreBusy`` at once, naming the holder."""
    lock = try_exclusive(path)
    if lock is None:
        what, hint = f"another run holds the lock{_holder(path)}", "Wait for it to end, or stop it."
        raise StoreBusy(what, where=str(path), hint=hint)
    try:
        _require_alone(path)
        _leave_note(lock.descriptor, purpose)
    except BaseException:
        lock.close()
        raise
    try:
        yield
    finally:
        with suppress(OSError):
            os.ftruncate(lock.descriptor, 0)
        lock.release()


def _require_alone(path: Path) -> None:
    """Raise unless the lock keeps out runs of other hosts, or this is said to be the only host that writes.

    Raises ``SettingsError``; ``StoreBusy`` if a note says that another host has begun and not ended a run.
    """
    reason = mounts.local_locks(path)
    if not reason:
        return
    if not os.environ.get(ONE_HOST):
        what = f"locks here are not visible to other hosts ({reason}){_holder(path)}"
        hint = f"{mounts.HINT} If no other host writes here, set {ONE_HOST}=1"
        raise SettingsError(what, where=str(path), hint=hint)
    note = _note(path)
    if note and socket.gethostname() != note.get("host") and _boot_id() != note.get("boot"):
        what = f"a run of another host has not ended{_holder(path)}"
        raise StoreBusy(what, where=str(path), hint="Wait for it to end. If it died, remove this file.")


def _boot_id() -> str:
    """Return what tells this machine, and containers on it, from every other; nothing where it has none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _leave_note(descriptor: int, purpose: str) -> None:
    note = {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "boot": _boot_id(),
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
        return ": process {pid} on {host} since {since}, {purpose} ({command})".format(**_note(path))
    except (ValueError, KeyError, TypeError):
        return ""


def _note(path: Path) -> dict[str, object]:
    """Return what the holder of a lock has left in it; nothing if it is empty or damaged."""
    try:
        with path.open("rb") as file:
            found = json.loads(file.read(_NOTE_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
