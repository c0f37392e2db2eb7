"""Folders where files wait before they are put into a site that is being served: beside it, never in it.

A process that is killed leaves its folder behind; the next one that needs such a folder removes it.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from uuid import uuid4

from ...artifacts.disk import durable
from ...pipeline.errors import WriteFailed

_attempts = count(1)


def new_stage(target: Path, served: Path | None = None) -> Path:
    """Create a folder for what will be put in the target's place, named after this process.

    It is beside the target, or beside ``served``, the folder of pages that the target is in, if possible.
    Those of processes that died are removed; each attempt has its own name, because another process may still
    be writing into the one before.
    """
    name = (served or target).name
    place = _place(served) if served else target.parent
    durable.make_directory(place)
    for folder, left in {(place, name), (target.parent, target.name)}:
        _sweep(folder, left)
    staged = place / f"{_prefix(name)}{os.getpid()}-{next(_attempts)}"
    durable.make_directory(staged)
    return staged


@contextmanager
def replacing(served: Path) -> Iterator[Callable[[Path, bytes], None]]:
    """Yield a function that replaces a file below the served folder; it holds the old content or the new.

    It raises ``WriteFailed``. Until then the new content is where no server looks.
    """
    staged = new_stage(served, served)
    waiting = staged / "file"

    def put(path: Path, content: bytes) -> None:
        durable.write_file(waiting, content)
        durable.replace(waiting, path)
        durable.sync_directory(path.parent)

    try:
        yield put
    finally:
        abandon(staged)


def abandon(staged: Path) -> None:
    """Remove what was staged, as far as the disk allows; the error that led here is the one to report."""
    shutil.rmtree(staged, ignore_errors=True)


def _place(served: Path) -> Path:
    """Return the folder above; the served folder itself if the one above cannot be used.

    So it is in a container that was given nothing but the served folder. The name that is renamed does not
    exist: before it looks for that, the system says whether both folders are on one mounted file system.
    """
    absent = f".{uuid4().hex}"
    try:
        durable.rename(served.parent / absent, served / absent)
    except WriteFailed as refused:
        if isinstance(refused.__cause__, OSError) and refused.__cause__.errno == errno.EXDEV:
            return served
    return served.parent if os.access(served.parent, os.W_OK) else served


def _prefix(name: str) -> str:
    return f".{name}-staging-"


def _sweep(folder: Path, name: str) -> None:
    """Remove the staged folders of processes that died."""
    for left in sorted(folder.glob(f"{_literal(_prefix(name))}*")):
        owner = left.name.removeprefix(_prefix(name)).partition("-")[0]
        if owner.isdecimal() and (int(owner) == os.getpid() or not _is_alive(int(owner))):
            # It may be the old site, whose exchange with the new one nobody has waited for.
            durable.sync_directory(folder)
            abandon(left)  # another process may be writing its last file there: the next build sweeps it


def _literal(name: str) -> str:
    return re.sub(r"([*?[])", r"[\1]", name)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
