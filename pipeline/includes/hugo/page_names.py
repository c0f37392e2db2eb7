"""The one page of a name anywhere in a folder, as references of Hugo may name it."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

_MAX_PAGES = 100_000
_INDEXES = ("/index", "/_index")


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder with the time at which an entry was last added to it or taken away."""

    path: str
    changed_ns: int


@dataclass(frozen=True, slots=True)
class _PageNames:
    """The paths of pages by their names, empty for a name that several have, as long as no folder changes."""

    folders: tuple[_Folder, ...]
    paths: Mapping[str, str]

    def holds(self) -> bool:
        """Return whether no page was added or taken away."""
        return all(_changed_ns(each.path) == each.changed_ns for each in self.folders)


@lru_cache(maxsize=8)
def _page_names(root: str) -> _PageNames:
    """Return the pages of a folder, which is walked as far as any site is large."""
    folders, paths = list[_Folder](), dict[str, str]()
    for folder, names in _walked(root, folders):
        for name in sorted(each for each in names if each.endswith(".md")):
            path = posixpath.normpath(f"{folder}/{name}")
            stem = path.removesuffix(".md").lower()
            key = posixpath.basename(next((stem[: -len(e)] for e in _INDEXES if stem.endswith(e)), stem))
            paths[key] = "" if key in paths else path
    return _PageNames(tuple(folders), paths)


def _walked(root: str, folders: list[_Folder]) -> Iterator[tuple[str, list[str]]]:
    looked = 0
    for folder, below, names in os.walk(root):
        below[:] = sorted(each for each in below if not each.startswith("."))
        folders.append(_Folder(folder, _changed_ns(folder)))
        yield os.path.relpath(folder, root).replace(os.sep, "/"), names
        looked += len(names)
        if looked > _MAX_PAGES:
            return


def _changed_ns(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns  # noqa: PTH116
    except OSError:
        return 0


class PageNames:
    """Finds pages of a folder by their names; for one document, it looks at the folder once."""

    def __init__(self, root: str) -> None:
        self._root = root

    def path_of(self, name: str) -> str:
        """Return the path below the folder of the one page of this name; empty if it is not one."""
        return self._paths.get(name.lower().removesuffix(".md"), "")

    @cached_property
    def _paths(self) -> Mapping[str, str]:
        known = _page_names(self._root)
        if not known.holds():
            _page_names.cache_clear()
            known = _page_names(self._root)
        return known.paths
