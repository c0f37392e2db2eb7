"""Whether files and folders are there, and what is said where the machine cannot say now."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import SourceError, is_transient

_ANY_HINT = "Check the disk, the network, and the limits on memory and open files, then run again."
# Until then a collection keeps the documents of the snapshot before, every night anew.
_HINTS = {
    errno.EIO: "The disk cannot read it. Put a copy in its place and look at the disk (dmesg, smartctl). "
    "To go on without it, exclude it in the collection's settings: its documents are removed then.",
    errno.ENOENT: "Its folder is empty or missing. Mount the disk again, then run again.",
    **dict.fromkeys(
        (errno.EMFILE, errno.ENFILE, errno.ENOMEM),
        "Raise the limits of open files and memory (ulimit -n, LimitNOFILE=), then run again.",
    ),
    **dict.fromkeys(
        (errno.ESTALE, errno.ETIMEDOUT, errno.EHOSTDOWN, errno.EHOSTUNREACH, errno.ENOTCONN),
        "Is the server that has the folder there? Mount the folder again, then run again.",
    ),
}


def briefly_away(error: OSError, where: str) -> SourceError:
    """Return the error for a file or folder that may be back in a moment."""
    return SourceError(
        f"a file or folder cannot be accessed: {strerror(error)}",
        where=where,
        hint=_HINTS.get(error.errno or 0, _ANY_HINT),
    )


@contextmanager
def briefly_away_told(where: str) -> Iterator[None]:
    """Make what the machine cannot say now, in the block, the error of a collection: a ``SourceError``."""
    try:
        yield
    except OSError as error:
        if is_transient(error):
            raise briefly_away(error, where) from error
        raise


def is_there(path: Path) -> bool:
    """Return whether a name is taken, by whatever; raise ``SourceError`` where the machine cannot say now."""
    with suppress(OSError, ValueError), briefly_away_told(str(path)):
        path.lstat()
        return True
    return False


def real_path(path: str | Path) -> str:
    """Return a path with all links followed, as far as it is there.

    Raise ``OSError`` where the machine cannot say now: ``os.path.realpath`` would take a link for a folder.
    """
    try:
        return os.path.realpath(path, strict=True)
    except OSError as error:
        if is_transient(error):
            raise
        return os.path.realpath(path)


def is_empty_folder(folder: str) -> bool:
    """Return whether a folder is missing, may not be read, or holds nothing, as where a disk is not mounted.

    Raise ``SourceError`` where the machine cannot say now.
    """
    with suppress(OSError), briefly_away_told(folder), os.scandir(folder) as entries:
        return next(entries, None) is None
    return True


def strerror(error: OSError | ValueError) -> str:
    """Return the system's words for an error."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
