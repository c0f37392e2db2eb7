"""The new site's folder while it is filled: files are written, or taken over from the site before."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TypeVar

from artifacts import durable
from docsite.plan import SitePage
from docsite.previous import FileRecord, PreviousSite
from pipeline.errors import WriteFailed

T = TypeVar("T")
_attempts = count(1)


class SiteGone(Exception):
    """The site before was replaced or removed while its files were taken over."""


@dataclass(frozen=True, slots=True)
class Filled:
    """Files that are in the staged folder, and how many of them are new."""

    files: tuple[FileRecord, ...]
    written: int


class Stage:
    """Fills a folder; a file that is taken over is another name of the same bytes, so it must never be edited."""

    def __init__(self, folder: Path, previous: PreviousSite, *, replacing: bool = False) -> None:
        """``replacing``: a process that died in the middle of this work may have left some of its files."""
        self.folder, self.previous, self._replacing = folder, previous, replacing
        self._made: set[Path] = set()
        self.files: list[FileRecord] = []
        self.written = 0

    def add(self, page: SitePage) -> None:
        """The file is in the folder; raises ``WriteFailed`` where the disk refuses."""
        path = self.folder / page.path
        size = self.previous.by_path[page.path].size if page.kept else len(page.content)
        try:
            if self._replacing and not self.folder.is_dir():  # given up meanwhile
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self.folder))
            if path.parent not in self._made:
                path.parent.mkdir(parents=True, exist_ok=True)
                self._made.add(path.parent)
            if self._replacing:
                path.unlink(missing_ok=True)
            if page.kept or self.previous.holds(page.path, page.content):
                self._take_over(page.path, path)
            else:
                with path.open("xb") as file:  # two pages of one name would be a fault of ours
                    file.write(page.content)
                self.written += 1
        except OSError as error:
            raise WriteFailed(
                f"cannot write a page of the site: {error.strerror or error}",
                where=str(path),
                hint="Make room or choose another folder, then build it again; the old site still stands.",
            ) from error
        self.files.append(FileRecord(page.path, size, page.fingerprint, page.summary))

    def filled(self) -> Filled:
        """What this stage put into the folder, for the stage of another process to take."""
        return Filled(tuple(self.files), self.written)

    def take(self, filled: Filled) -> None:
        """Files that another process put into the folder are in its record."""
        self.files += filled.files
        self.written += filled.written

    def _take_over(self, name: str, path: Path) -> None:
        try:
            try:
                os.link(name, path, src_dir_fd=self.previous.folder, follow_symlinks=False)
            except (FileNotFoundError, FileExistsError):
                raise
            except OSError:  # a file system without links, or one that allows no more of them
                _copy(name, self.previous.folder, path)
        except FileNotFoundError as error:
            raise SiteGone(name) from error


def _copy(name: str, folder: int | None, path: Path) -> None:
    """A copy with the time of the original, by which the next build knows that nobody changed it."""
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=folder)
    with os.fdopen(descriptor, "rb") as source, path.open("xb") as file:
        found = os.fstat(source.fileno())
        shutil.copyfileobj(source, file)
        file.flush()
        os.utime(file.fileno(), ns=(found.st_atime_ns, found.st_mtime_ns))


def exchanged(target: Path, previous: PreviousSite, fill: Callable[[Stage], T]) -> T:
    """The folder is what ``fill`` puts into a new one, which takes its place at once; returns what ``fill`` does.

    Where the site before is replaced meanwhile, nothing is taken over from it. After any error it stands as it was.
    """
    try:
        return _exchange(target, previous, fill)
    except SiteGone:
        return _exchange(target, PreviousSite(), fill)


def _exchange(target: Path, previous: PreviousSite, fill: Callable[[Stage], T]) -> T:
    staged = new_stage(target)
    try:
        result = fill(Stage(staged, previous))
        durable.swap_directory(staged, target)
    except BaseException:
        abandon(staged)
        raise
    return result


def new_stage(target: Path) -> Path:
    """A new folder beside the target, named by this process; those of processes that died are swept.

    Each attempt has a name of its own: another process may still be writing into the one before.
    """
    durable.make_directory(target.parent)
    prefix = f".{target.name}-staging-"
    for left in sorted(target.parent.glob(f"{_literal(prefix)}*")):
        owner = left.name.removeprefix(prefix).partition("-")[0]
        if owner.isdecimal() and (int(owner) == os.getpid() or not _is_alive(int(owner))):
            durable.remove_tree(left)
    staged = target.parent / f"{prefix}{os.getpid()}-{next(_attempts)}"
    durable.make_directory(staged)
    return staged


def abandon(staged: Path) -> None:
    """What was staged is gone, as far as the disk allows; the error that led here is the one to report."""
    shutil.rmtree(staged, ignore_errors=True)


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
