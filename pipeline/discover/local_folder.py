"""Lists what is in a folder of this machine, without leaving it or blocking on a pipe."""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from ..assets.media import DOCUMENT_ENDINGS
from ..errors import MissingRoot, is_transient
from ..filesystems.availability import briefly_away, strerror
from ..filesystems.mounts import has_change_times
from ..includes.sphinx.folder_versions import SETTINGS_OF_FOLDERS, FolderVersions
from ..includes.tool_folders import settings_folders, tools_of, written_and_real
from ..navigation.categories import CATEGORY_FILES
from ..patterns import globs
from ..settings.collection import Collection
from ..source_files import FoundFile, day_of, version_of
from .selection import PARTS_OF_PAGES, Selection, escaped, name_fault, normal

_PARTS = {
    "docusaurus": ("_*.md", "_*/"),
    "jekyll": ("_includes/", "_layouts/", "_sass/", "_data/", "_site/", "_plugins/"),
    "logseq": ("/logseq/",),
}
# Files of ``static_folders`` are as if they lay there.
_STATIC = "static/"
_NOT_FOLLOWED = (
    "a symbolic link that is not followed: it leads out of the folder and of snippet_folders, to a folder "
    "around it, to what is hidden or left out, or nowhere, or it lies in a linked folder"
)
_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def look_in_folder(name: str, collection: Collection) -> Selection:
    """Return what a collection's folder holds; raises as ``noctule.pipeline.discover.list_files`` does."""
    _require_folder(name, Path(collection.root), "root")
    include, exclude, assets = map(globs, (collection.include, collection.exclude, collection.assets))
    walk = Selection(name, collection, include, exclude, assets, globs(_parts(collection)))
    _look(walk, collection.root, "")
    _add_static(walk)
    return walk


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder to look into, the beginning of the paths of what is in it, and the real path of the root.

    One that a link led to ``is_linked``: no link in it is followed. Files have versions on the ``device``
    alone, to which those of documents add the ``folder_version``.
    """

    place: str
    prefix: str
    root: str
    device: int | None
    folder_version: str
    is_linked: bool = False

    def version_of(self, status: os.stat_result) -> str:
        """Return the version of a file in this folder, empty if it has none."""
        return version_of(status) if status.st_dev == self.device and not self.is_linked else ""


def _look(walk: Selection, top: str, below: str) -> None:
    """Find what is in a folder; paths begin with ``below``. Links to something else in it are followed."""
    versions = FolderVersions(walk.collection)
    pending = [_Folder(top, below, os.path.realpath(top), _device(top), versions.of(Path(top)))]
    while pending:
        folder = pending.pop()
        entries = list(_entries(walk, folder.place, folder.prefix))
        if any(entry.name in SETTINGS_OF_FOLDERS for entry in entries):
            folder = replace(folder, folder_version=versions.of(Path(folder.place)))
        for entry in entries:
            if into := _visit(walk, entry, folder):
                is_linked = folder.is_linked or into != entry.path
                prefix = f"{folder.prefix}{normal(entry.name)}/"
                pending.append(
                    _Folder(into, prefix, folder.root, folder.device, folder.folder_version, is_linked)
                )


def _device(top: str) -> int | None:
    """Return the number of a file system whose files say when they change, else ``None``."""
    with suppress(OSError):  # whoever opens the folder says why
        return os.stat(top).st_dev if has_change_times(Path(top)) else None  # noqa: PTH116
    return None


def _add_static(walk: Selection) -> None:
    """Add the assets of the folders that are as if they lay in the collection; what does lie there counts."""
    for folder in walk.collection.static_folders:
        _require_folder(walk.name, Path(folder), "static_folders")
        known = {file.path for file in walk.found_assets}
        inside = replace(walk, include=globs(()), found_assets=[], categories=[])
        _look(inside, folder, _STATIC)
        walk.found_assets += [file for file in inside.found_assets if file.path not in known]


def _parts(collection: Collection) -> tuple[str, ...]:
    """Return patterns of files that are parts of pages, as the tool says whose folder it is."""
    folders = [Path(folder) for folder in (collection.root, *collection.snippet_folders)]
    tools = tools_of(folders)
    drafts = ("_drafts/",) if _is_of_jekyll(collection) and not collection.drafts else ()
    of_tools = (pattern for tool in sorted(tools) for pattern in _PARTS.get(tool, ()))
    return (*PARTS_OF_PAGES, *drafts, *of_tools)


def _is_of_jekyll(collection: Collection) -> bool:
    """Return whether settings of Jekyll stand in the folder or, as with ``collections_dir``, above it."""
    return any("jekyll" in tools_of(settings_folders(each)) for each in written_and_real(collection))


def _require_folder(name: str, root: Path, setting: str) -> None:
    where = f"{root} (collection {name})"
    hint = (
        "Is the disk mounted? Check the path: the folder that was given, "
        f"or collections.{name}.{setting} in the settings file."
    )
    try:
        if not stat.S_ISDIR(root.stat().st_mode):
            raise MissingRoot(f"the collection's {setting} is not a folder", where=where, hint=hint)
        with os.scandir(root):
            return
    except FileNotFoundError:
        raise MissingRoot("the collection's folder does not exist", where=where, hint=hint) from None
    except (OSError, ValueError) as error:
        raise MissingRoot(
            f"the collection's folder cannot be read: {strerror(error)}", where=where, hint=hint
        ) from error


def _entries(walk: Selection, folder: str, prefix: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        _require_lasting(walk, error, folder)
        walk.quarantine(prefix.rstrip("/") or ".", f"the folder cannot be read: {strerror(error)}")


def _visit(walk: Selection, entry: os.DirEntry[str], folder: _Folder) -> str:
    """Record a file, or the reason for leaving it out; return the place of a folder to walk into."""
    if entry.name.startswith((".", "~$")) or (
        folder.is_linked and _is_left_out(walk, folder.root, entry.path)
    ):
        return ""
    path, location = folder.prefix + normal(entry.name), entry.path
    try:
        mode = entry.stat(follow_symlinks=False)
        if stat.S_ISLNK(mode.st_mode):
            location = _target(walk, entry.path, folder)
            mode = os.stat(location) if location else mode  # noqa: PTH116
    except OSError as error:
        _require_lasting(walk, error, entry.path)
        walk.quarantine(escaped(path), f"cannot be looked at: {strerror(error)}")
        return ""
    if not location:
        _skip_link(walk, entry, path)
    elif stat.S_ISDIR(mode.st_mode):
        return location if walk.enters(path) else ""
    else:
        version = folder.version_of(mode) if location == entry.path else ""
        file = FoundFile(walk.name, path, location, mode.st_size, version=version)
        _add(walk, file, mode, folder.folder_version)
    return ""


def _add(walk: Selection, file: FoundFile, mode: os.stat_result, folder_version: str) -> None:
    """Record a file as a document, an asset, or both, or as what describes its folder."""
    path = file.path
    if posixpath.basename(path) in CATEGORY_FILES and _describes_pages(walk, path):
        walk.categories.append(replace(file, version=""))
    is_document = walk.wanted(escaped(path))
    if is_document and not walk.is_part(path):
        _record(walk, _as_document(walk.collection, file, mode, folder_version), mode)
    if is_document and not path.lower().endswith(DOCUMENT_ENDINGS):
        return
    if stat.S_ISREG(mode.st_mode) and walk.is_asset(path) and not name_fault(path):
        walk.found_assets.append(file)


def _as_document(
    collection: Collection, file: FoundFile, mode: os.stat_result, folder_version: str
) -> FoundFile:
    """Return the file with its date, and a version that also says what else decides how it is read."""
    modified = day_of(mode.st_mtime) if collection.modified_from == "file-time" else None
    version = f"{file.version}{folder_version}" if file.version else ""
    is_same = modified is None and version == file.version
    return file if is_same else replace(file, modified=modified, version=version)


def _describes_pages(walk: Selection, path: str) -> bool:
    """Return whether the file describes a folder whose index would be a document."""
    indexes = [escaped(posixpath.join(posixpath.dirname(path), f"index{each}")) for each in (".md", ".mdx")]
    is_document = any(walk.wanted(each) and not walk.parts.match_file(each) for each in indexes)
    return is_document and not walk.exclude.match_file(escaped(path))


def _target(walk: Selection, link: str, folder: _Folder) -> str:
    """Return where a link leads, empty if it may not be followed; raise ``OSError`` if that is to be seen.

    It may not lead to a folder around itself, to what is hidden or excluded, nowhere, or out of the root
    but for a file that documents may include.
    """
    place, beside = os.path.realpath(link), os.path.realpath(os.path.dirname(link))  # noqa: PTH120
    is_around = f"{beside}{os.sep}".startswith(f"{place}{os.sep}")
    is_inside = place.startswith(f"{folder.root}{os.sep}")
    if folder.is_linked or is_around or not (is_inside or _may_be_included(walk, place)):
        return ""
    try:
        mode = os.stat(place).st_mode  # noqa: PTH116
    except OSError as error:
        if is_transient(error):
            raise
        return ""
    if not is_inside:
        return place if stat.S_ISREG(mode) else ""
    return "" if _is_left_out(walk, folder.root, place) else place


def _may_be_included(walk: Selection, place: str) -> bool:
    """Return whether this real path is in a folder of snippets, and not hidden there."""
    tops = [f"{os.path.realpath(each)}{os.sep}" for each in walk.collection.snippet_folders]
    inside = (place.removeprefix(top) for top in tops if place.startswith(top))
    return any(not each.startswith(".") and f"{os.sep}." not in each for each in inside)


def _is_left_out(walk: Selection, root: str, place: str) -> bool:
    """Return whether what lies at this real path is hidden or excluded there."""
    inside = escaped(normal(os.path.relpath(place, root).replace(os.sep, "/")))
    hidden = any(part.startswith(".") for part in inside.split("/"))
    return hidden or walk.exclude.match_file(inside) or walk.exclude.match_file(f"{inside}/")


def _skip_link(walk: Selection, entry: os.DirEntry[str], path: str) -> None:
    shown = escaped(path)
    if walk.exclude.match_file(shown):
        return
    try:
        to_folder = entry.is_dir()
    except OSError:
        to_folder = True  # a loop: it may have been meant as a folder
    if to_folder or walk.include.match_file(shown):
        walk.skip(shown, _NOT_FOLLOWED)


def _record(walk: Selection, file: FoundFile, status: os.stat_result) -> None:
    if stat.S_ISREG(status.st_mode):
        walk.add(file)
        return
    kind = _KINDS.get(stat.S_IFMT(status.st_mode), "not a file")
    walk.skip(escaped(file.path), f"{kind}: only regular files are read")


def _require_lasting(walk: Selection, error: OSError, place: str) -> None:
    """Raise ``SourceError`` for an error that may go away by itself.

    Otherwise everything below that place would drop out of the snapshot and be back tomorrow.
    """
    if is_transient(error):
        raise briefly_away(error, f"{place} (collection {walk.name})") from error
