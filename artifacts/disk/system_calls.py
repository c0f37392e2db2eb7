"""The system calls that ``noctule.artifacts.disk.durable`` is built on; nothing else may use them."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
from pathlib import Path

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


class Disk:
    """The system calls themselves, and nothing else."""

    def open(self, path: Path, flags: int) -> int:
        """Open a descriptor that child programs do not inherit."""
        return os.open(path, flags | os.O_CLOEXEC, 0o644)

    def write(self, descriptor: int, content: bytes | memoryview) -> int:
        """Write bytes and return how many were taken, which may be fewer than given."""
        return os.write(descriptor, content)

    def truncate(self, descriptor: int, size: int) -> None:
        """Cut a file to its first bytes."""
        os.ftruncate(descriptor, size)

    def fsync(self, descriptor: int) -> None:
        """Wait until the file or directory is on disk."""
        try:
            # On macOS fsync leaves the bytes in the drive's cache; not every file system supports the
            # alternative.
            fcntl.fcntl(descriptor, getattr(fcntl, "F_FULLFSYNC"))  # noqa: B009
        except (AttributeError, OSError):
            os.fsync(descriptor)

    def close(self, descriptor: int) -> None:
        """Close a descriptor."""
        os.close(descriptor)

    def mkdir(self, path: Path) -> None:
        """Make one directory."""
        path.mkdir()

    def rename(self, source: Path, target: Path) -> None:
        """Rename; a file at the target is replaced."""
        source.replace(target)

    def link(self, source: Path, target: Path) -> None:
        """Give a file a second name."""
        target.hardlink_to(source)

    def exchange(self, first: Path, second: Path) -> None:
        """Swap two names in one step; raises ``OSError`` where the system cannot."""
        rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
        if rename is None:
            raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
        if rename(_AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), _RENAME_EXCHANGE) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    def unlink(self, path: Path | str) -> None:
        """Remove a file."""
        os.unlink(path)  # noqa: PTH108  # a Path of each file would take a third of the time

    def rmdir(self, path: Path) -> None:
        """Remove an empty directory."""
        path.rmdir()

    def chmod(self, path: Path, mode: int) -> None:
        """Change the permission bits."""
        path.chmod(mode)

    def sync_file_system(self, descriptor: int) -> None:
        """Wait until the whole file system that holds the descriptor is on disk."""
        sync = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
        if sync is None:
            os.sync()
        elif sync(descriptor) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
