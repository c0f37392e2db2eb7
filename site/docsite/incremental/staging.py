"""The new site's folder while it is filled: files are written, or taken over from the previous site.

If the site before that one was set aside, the folder starts out with its contents: most of those are the very
files that belong in it, and need neither be linked there again nor be removed elsewhere.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from ...artifacts.disk import durable, folders, locks
from ...pipeline.errors import WriteFailed
from ..outline.plan import SitePage
from ..urls import REPORT
from .folder_listing import NOTHING, Standing, standing_in
from .previous import FileRecord, PreviousSite, file_digest
from .staging_folders import abandon, new_stage

T = TypeVar("T")


class SiteGone(Exception):
    """Raised if the previous site was replaced or removed while its files were taken over.

    It is also raised if what was set aside is not ours.
    """


@dataclass(frozen=True, slots=True)
class Filled:
    """Files that are in the staged folder, how many of them are new, and which of these are not changed."""

    files: tuple[FileRecord, ...]
    written: int
    healed: frozenset[str]


class StagingFolder:
    """A folder being filled; a file taken over is a second name of the same bytes, so it must never be
    edited.
    """

    def __init__(
        self, folder: Path, previous: PreviousSite, aside: Path | None = None, *, replacing: bool = False
    ) -> None:
        """Prepare the folder, starting from ``aside`` if there is one.

        With ``replacing``, a process that died during this work may have left some of its files.
        """
        self.folder, self.previous, self._replacing, self._aside = folder, previous, replacing, aside
        self._standing, self._open = NOTHING, ExitStack()
        self._left: set[str] = set()
        self._made: set[str] = set()
        self.files: list[FileRecord] = []
        self.written = 0
        self.healed: set[str] = set()
        self.has_copies = False

    def look(self) -> None:
        """Examine all files of the previous site at once, and those that the folder starts out with.

        This takes seconds on a large site, so give another process its work before calling it.
        """
        self.previous = self.previous.looked_at()
        if self._aside is not None and self.previous.standing is not None:
            self._standing = _begun_with(self._aside, self.folder, self._open)
            self._left, self._made = set(self._standing.files), set(self._standing.folders)

    def close(self) -> None:
        """Release the folder that was started from."""
        self._open.close()

    def add(self, page: SitePage) -> None:
        """Put the file in the folder; raise ``WriteFailed`` if the disk refuses."""
        path = f"{self.folder}/{page.path}"
        known = self.previous.by_path[page.path] if page.kept else None
        size, digest = (known.size, known.digest) if known else (len(page.content), file_digest(page.content))
        try:
            if page.kept or self.previous.holds(page.path, page.content):
                if not self._stands(page.path):
                    self._make_room(page.path, path)
                    self._take_over(page.path, path)
            else:
                self._make_room(page.path, path)
                with open(path, "xb") as file:  # noqa: PTH123  # two pages of one name would be a fault of ours
                    file.write(page.content)
                self._count(page.path, digest)
        except OSError as error:
            raise WriteFailed(
                f"cannot write a page of the site: {error.strerror or error}",
                where=path,
                hint="Free some space or choose another folder, then build again; the old site is unchanged.",
            ) from error
        self._left.discard(page.path)
        self.files.append(FileRecord(page.path, size, digest, page.fingerprint, page.summary, page.extent))

    def _count(self, name: str, digest: str) -> None:
        """Count a new file; one that was to have these very bytes before had others, or another time."""
        self.written += 1
        known = self.previous.by_path.get(name)
        if known is not None and known.digest == digest and name != REPORT:
            self.healed.add(name)

    def _stands(self, name: str) -> bool:
        """Return whether the folder started out with this very file."""
        if self._replacing:
            return self._is_the_same(name)
        before = self.previous.standing
        return name in self._left and before is not None and self._standing.is_the_same(name, before)

    def _is_the_same(self, name: str) -> bool:
        """Return whether the folder has this very file, added by another process or there from the start."""
        try:
            there = os.stat(name, dir_fd=self.previous.folder, follow_symlinks=False)
            return os.path.samestat(there, os.lstat(f"{self.folder}/{name}"))
        except OSError:
            return False

    def _make_room(self, name: str, path: str) -> None:
        """Create the file's folder, and remove anything with the file's name."""
        if self._replacing and not self.folder.is_dir():  # given up meanwhile
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self.folder))
        self._make_folder(name.rpartition("/")[0])
        if self._replacing or name in self._left or name in self._standing.folders:
            _clear(path)

    def _make_folder(self, name: str) -> None:
        if name in self._made:
            return
        if name:
            self._make_folder(name.rpartition("/")[0])
        path = self.folder / name
        try:
            path.mkdir()
        except FileExistsError:
            # Another process that fills this folder may have created it; a file of that name is left over
            # from the earlier site.
            if not path.is_dir():
                _clear(str(path))
                path.mkdir(exist_ok=True)
        self._made.add(name)

    def sweep(self) -> None:
        """Remove everything that was not added or taken; raise ``WriteFailed`` if the disk refuses."""
        wanted = {each.path for each in self.files}
        needed = {name[:at] for name in wanted for at in _slashes(name)}
        for name in self._left - wanted - needed:
            durable.remove_file(self.folder / name)
        folders = self._standing.folders - wanted - needed
        for name in sorted(folders, reverse=True):  # what is below comes first
            durable.remove_directory(self.folder / name)

    def filled(self) -> Filled:
        """Return what this stage put into the folder, for another process's stage to take."""
        return Filled(tuple(self.files), self.written, frozenset(self.healed))

    def take(self, filled: Filled) -> None:
        """Record files that another process put into the folder."""
        self.files += filled.files
        self.written += filled.written
        self.healed |= filled.healed

    def _take_over(self, name: str, path: str) -> None:
        try:
            try:
                os.link(name, path, src_dir_fd=self.previous.folder, follow_symlinks=False)
            except FileNotFoundError:
                raise
            except FileExistsError:
                if not self._is_the_same(name):  # else a server did it, and its answer was lost
                    raise
            except OSError:  # a file system without links, or one that allows no more of them
                _copy(name, self.previous.folder, Path(path))
                self.has_copies = True
        except FileNotFoundError as error:
            raise SiteGone(name) from error


def _copy(name: str, folder: int | None, path: Path) -> None:
    """Copy the file with its original time, which tells the next build that nobody changed it."""
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=folder)
    with os.fdopen(descriptor, "rb") as source, path.open("xb") as file:
        found = os.fstat(source.fileno())
        shutil.copyfileobj(source, file)
        file.flush()
        os.utime(file.fileno(), ns=(found.st_atime_ns, found.st_mtime_ns))


def exchanged(
    target: Path,
    previous: PreviousSite,
    fill: Callable[[StagingFolder], T],
    aside: Path | None = None,
    *,
    served: Path | None = None,
) -> T:
    """Let ``fill`` fill a new folder, put that in the old one's place at once, and return what ``fill``
    returns.

    The old folder is then at ``aside``, for the next build to start from. If the previous site is replaced in
    the meantime, nothing is taken over from it. After any error, it is as it was. ``served`` is the folder
    that the target is part of, beside which the new one is filled.
    """
    try:
        return _exchange(target, previous, fill, aside, served)
    except SiteGone:
        return _exchange(target, PreviousSite(), fill, None, served)


def _exchange(
    target: Path,
    previous: PreviousSite,
    fill: Callable[[StagingFolder], T],
    aside: Path | None,
    served: Path | None,
) -> T:
    staged = new_stage(target, served)
    aside = aside if previous.keeps_names_apart else None
    stage = StagingFolder(staged, previous, aside)
    try:
        result = fill(stage)
        stage.sweep()
    except BaseException:
        abandon(staged)
        raise
    finally:
        stage.close()
    # Copies have nothing in common with what comes after them.
    _put_in_place(staged, target, None if stage.has_copies else aside)
    return result


def _put_in_place(staged: Path, target: Path, aside: Path | None) -> None:
    with durable.refusals(staged, "look at"):
        made = staged.stat()
    try:
        folders.swap_directory(staged, target, aside)
    except BaseException:
        # Or it is the old site, and a power cut may put it back: the next build removes it when none can.
        with suppress(OSError):
            if os.path.samestat(made, staged.stat()):
                abandon(staged)
        raise


def _begun_with(aside: Path, staged: Path, until: ExitStack) -> Standing:
    """Return the contents of the staged folder, which was the one set aside; nothing if none can be had.

    Nobody else reads or changes it before ``until`` is closed.
    """
    try:
        folder = os.open(aside, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return NOTHING
    until.callback(os.close, folder)
    if not locks.directory(folder, alone=True) or not folders.moved(aside, staged):
        return NOTHING
    try:
        standing = standing_in(folder)
    except OSError as error:
        raise SiteGone(str(aside)) from error
    plain = standing.plain()
    # A link could lead anywhere; none of these is ours.
    for name in standing.files.keys() - plain.files.keys():
        durable.remove_file(staged / name)
    return plain


def _clear(path: str) -> None:
    """Remove whatever is there."""
    try:
        os.unlink(path)  # noqa: PTH108  # a Path of each file would take a third of the time
    except FileNotFoundError:
        pass
    except (IsADirectoryError, PermissionError):  # the one on Linux, the other on macOS
        folders.remove_tree(Path(path))


def _slashes(name: str) -> Iterator[int]:
    return (at for at, character in enumerate(name) if character == "/")
