"""Lists a collection's files, without leaving its folder or blocking on a pipe."""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from pathspec import GitIgnoreSpec

from .assets.media import DOCUMENT_ENDINGS, media_type_of
from .assets.notebook_images import notebook_images
from .errors import MissingRoot, RejectedDocument, is_transient
from .includes.project import tools_of
from .model import Rejection
from .patterns import globs
from .printable import printable_path
from .python_packages import module_files
from .settings.collection import Collection
from .source_files import FoundFile, briefly_away, read_file, strerror, too_big

_PARTS = {
    "docusaurus": ("_*.md", "_*/"),
    "jekyll": ("_includes/", "_layouts/", "_sass/", "_data/", "_site/", "_plugins/"),
}
# Files of ``static_folders`` are as if they lay there.
_STATIC = "static/"
_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


@dataclass(frozen=True, slots=True)
class FileListing:
    """The files to read, sorted by path, and those that were left out, each with the reason.

    ``assets`` are images, media and attachments that documents may name; those too big are among them.
    """

    files: tuple[FoundFile, ...]
    rejections: tuple[Rejection, ...]
    assets: tuple[FoundFile, ...] = ()


@dataclass(slots=True)
class _Walk:
    """The state of one walk: what to look for and what has been found so far."""

    name: str
    collection: Collection
    include: GitIgnoreSpec
    exclude: GitIgnoreSpec
    assets: GitIgnoreSpec
    parts: GitIgnoreSpec
    files: list[FoundFile] = field(default_factory=list)
    found_assets: list[FoundFile] = field(default_factory=list)
    rejections: list[Rejection] = field(default_factory=list)

    def wanted(self, path: str) -> bool:
        return self.include.match_file(path) and not self.exclude.match_file(path)

    def is_asset(self, path: str) -> bool:
        return (
            media_type_of(path) is not None
            and self.assets.match_file(path)
            and not self.exclude.match_file(path)
        )

    def skip(self, path: str, reason: str) -> None:
        self.rejections.append(Rejection(self.name, path, "skipped", reason))

    def quarantine(self, path: str, reason: str) -> None:
        self.rejections.append(Rejection(self.name, path, "quarantined", reason))

    def require_lasting(self, error: OSError, place: str) -> None:
        """Raise ``SourceError`` for an error that may go away by itself.

        Otherwise everything below that place would drop out of the snapshot and be back tomorrow.
        """
        if is_transient(error):
            raise briefly_away(error, f"{place} (collection {self.name})") from error


def list_files(name: str, collection: Collection) -> FileListing:
    """Return the collection's files that match its globs, sorted by path, and what was left out and why.

    Links are never followed, pipes and devices never opened, and hidden names skipped silently. Raises
    ``MissingRoot`` when the collection's folder does not exist, is not a folder or cannot be read, and
    ``SourceError`` when something in it is temporarily unavailable.
    """
    _require_folder(name, Path(collection.root), "root")
    include, exclude, assets = map(globs, (collection.include, collection.exclude, collection.assets))
    walk = _Walk(name, collection, include, exclude, assets, globs(_parts(collection)))
    _look(walk, collection.root, "")
    _add_static(walk)
    _add_notebook_images(walk)
    _add_modules(walk)
    return FileListing(
        _in_order(walk.files),
        tuple(sorted(walk.rejections, key=lambda rejection: (rejection.path, rejection.reason))),
        _in_order(walk.found_assets),
    )


def _look(walk: _Walk, top: str, below: str) -> None:
    """Find what is in a folder; paths begin with ``below``."""
    pending = [(top, below)]
    while pending:
        folder, prefix = pending.pop()
        for entry in _entries(walk, folder, prefix):
            if _visit(walk, entry, prefix):
                pending.append((entry.path, f"{prefix}{_normal(entry.name)}/"))


def _add_static(walk: _Walk) -> None:
    """Add the assets of the folders that are as if they lay in the collection; what does lie there counts."""
    for folder in walk.collection.static_folders:
        _require_folder(walk.name, Path(folder), "static_folders")
        known = {file.path for file in walk.found_assets}
        inside = replace(walk, include=globs(()), found_assets=[])
        _look(inside, folder, _STATIC)
        walk.found_assets += [file for file in inside.found_assets if file.path not in known]


def _add_notebook_images(walk: _Walk) -> None:
    """Add the images within notebooks, as files of a folder of the notebook's name."""
    for file in [each for each in walk.files if each.path.lower().endswith(".ipynb")]:
        with suppress(RejectedDocument):  # whoever parses it says why
            for name, image in notebook_images(read_file(file, walk.collection).content).items():
                path = f"{file.path}/{name}"
                if walk.is_asset(path):
                    walk.found_assets.append(
                        FoundFile(walk.name, path, file.location, len(image), member=name)
                    )


def _add_modules(walk: _Walk) -> None:
    """Add the pages of Python modules, except where a file of the collection has the path of one."""
    written = {file.path for file in walk.files}
    for file in module_files(walk.name, walk.collection):
        if file.path in written:
            walk.skip(file.path, f"the page of {file.module}: a file of the collection stands there")
        else:
            walk.files.append(file)


def _in_order(files: list[FoundFile]) -> tuple[FoundFile, ...]:
    return tuple(sorted(files, key=lambda found: (found.path, found.location)))


def _parts(collection: Collection) -> tuple[str, ...]:
    """Return patterns of files that are parts of pages, as the tool says whose folder it is."""
    folders = [Path(folder) for folder in (collection.root, *collection.snippet_folders)]
    tools = tools_of(folders)
    drafts = ("_drafts/",) if "jekyll" in tools and not collection.drafts else ()
    return ("_*.mdx", *drafts, *(pattern for tool in sorted(tools) for pattern in _PARTS.get(tool, ())))


def _require_folder(name: str, root: Path, setting: str) -> None:
    where = f"{root} (collection {name})"
    hint = f"Is the disk mounted? Check collections.{name}.{setting} in the settings file."
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


def _entries(walk: _Walk, folder: str, prefix: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        walk.require_lasting(error, folder)
        walk.quarantine(prefix.rstrip("/") or ".", f"the folder cannot be read: {strerror(error)}")


def _visit(walk: _Walk, entry: os.DirEntry[str], prefix: str) -> bool:
    """Record a file, or the reason for leaving it out; return true for a folder to walk into."""
    if entry.name.startswith("."):
        return False
    path = prefix + _normal(entry.name)
    try:
        mode = entry.stat(follow_symlinks=False)
    except OSError as error:
        walk.require_lasting(error, entry.path)
        walk.quarantine(_escaped(path), f"cannot be looked at: {strerror(error)}")
        return False
    if stat.S_ISLNK(mode.st_mode):
        _skip_link(walk, entry, path)
        return False
    if stat.S_ISDIR(mode.st_mode):
        return _enters(walk, path)
    is_document = walk.wanted(_escaped(path))
    if is_document and walk.parts.match_file(path):
        walk.skip(
            _escaped(path), "a part of other pages, or a draft, by its name or folder: no page of its own"
        )
    elif is_document:
        _record(walk, entry, path, mode)
    if is_document and not path.lower().endswith(DOCUMENT_ENDINGS):
        return False
    if stat.S_ISREG(mode.st_mode) and walk.is_asset(path) and not _name_fault(path):
        walk.found_assets.append(FoundFile(walk.name, path, entry.path, mode.st_size))
    return False


def _enters(walk: _Walk, path: str) -> bool:
    if walk.exclude.match_file(f"{_escaped(path)}/"):
        return False
    if fault := _name_fault(path):
        walk.quarantine(_escaped(path), f"the folder's {fault}")
        return False
    return True


def _skip_link(walk: _Walk, entry: os.DirEntry[str], path: str) -> None:
    shown = _escaped(path)
    if walk.exclude.match_file(shown):
        return
    try:
        to_folder = entry.is_dir()
    except OSError:
        to_folder = True  # a loop: it may have been meant as a folder
    if to_folder or walk.include.match_file(shown):
        walk.skip(shown, "a symbolic link: links are not followed")


def _record(walk: _Walk, entry: os.DirEntry[str], path: str, status: os.stat_result) -> None:
    shown = _escaped(path)
    if not stat.S_ISREG(status.st_mode):
        walk.skip(
            shown, f"{_KINDS.get(stat.S_IFMT(status.st_mode), 'not a file')}: only regular files are read"
        )
    elif fault := _name_fault(path):
        walk.quarantine(shown, f"its {fault}")
    elif status.st_size > walk.collection.max_bytes:
        walk.quarantine(shown, too_big(status.st_size, walk.collection.max_bytes))
    else:
        walk.files.append(FoundFile(walk.name, path, entry.path, status.st_size))


def _normal(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _is_plain(path: str) -> bool:
    """Return whether the name needs no closer look, as nearly all do not."""
    return path.isascii() and path.isprintable()


def _name_fault(path: str) -> str:
    if _is_plain(path):
        return ""
    try:
        path.encode()
    except UnicodeEncodeError:
        return "name is not UTF-8: rename it"
    if any(unicodedata.category(char) == "Cc" for char in path):
        return "name holds a control character: rename it"
    return ""


def _escaped(path: str) -> str:
    """Return the path in printable form: bytes that are not UTF-8 and control characters become escapes."""
    if _is_plain(path):
        return path
    return "".join(
        repr(char)[1:-1] if unicodedata.category(char) == "Cc" else char for char in printable_path(path)
    )
