"""The contents of a folder: each file by its path, with what the system says of it, read in one walk."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field

from ...artifacts.disk.layout import is_held_open


@dataclass(frozen=True, slots=True)
class Standing:
    """Files by path, and folders by path without the folder itself; links are not followed."""

    files: Mapping[str, os.stat_result] = field(default_factory=dict)
    folders: frozenset[str] = frozenset()

    def plain(self) -> Standing:
        """Return the same without links, devices and pipes."""
        files = {name: found for name, found in self.files.items() if stat.S_ISREG(found.st_mode)}
        return Standing(files, self.folders)

    def is_the_same(self, path: str, other: Standing) -> bool:
        """Return whether the path names one and the same file here and there."""
        one, two = self.files.get(path), other.files.get(path)
        return one is not None and two is not None and os.path.samestat(one, two)


NOTHING = Standing()


def standing_in(folder: int) -> Standing:
    """Return the contents of an open folder; raise ``OSError`` if it cannot be read."""
    files: dict[str, os.stat_result] = {}
    folders: set[str] = set()
    _walk(folder, "", files, folders)
    return Standing(files, frozenset(folders))


def _walk(folder: int, above: str, files: dict[str, os.stat_result], folders: set[str]) -> None:
    below: list[str] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                below.append(entry.name)
            elif not is_held_open(entry.name):
                files[above + entry.name] = entry.stat(follow_symlinks=False)
    for name in below:
        folders.add(above + name)
        opened = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
        try:
            _walk(opened, f"{above}{name}/", files, folders)
        finally:
            os.close(opened)


def is_as_written(found: os.stat_result, size: int, latest: int) -> bool:
    """Return whether it is a plain file of this size, not written after ``latest`` (in nanoseconds)."""
    return stat.S_ISREG(found.st_mode) and found.st_size == size and found.st_mtime_ns <= latest
