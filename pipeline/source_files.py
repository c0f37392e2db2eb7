"""Reads one file of a collection, whole, and only if it lies in the collection's folder or at its address."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from .assets.embedded_images import embedded_images, image_place
from .errors import RejectedDocument, is_transient
from .filesystems.availability import briefly_away, is_empty_folder, strerror
from .filesystems.object_files import ObjectChanging, ObjectGone, ObjectState, changed_at, objects_at
from .filesystems.opening import is_address
from .identity import sha256_hex
from .model import Source
from .settings.collection import Collection

# A FIFO swapped in after the listing must neither block nor be followed.
_OPEN_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


_GONE = "the file is gone since it was listed"
# A page of memory that a program has mapped, and that is not on the disk yet, can be written without another
# time of change: for half a minute.
_UNSETTLED_S = 60.0
_CHANGED = "ctime="
# A change within this time may bear the time of the one before.
_UNSETTLED_AT_ADDRESS_S = 2.0


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A regular file of a collection.

    ``path`` is relative, NFC, with ``/``; ``location`` is the path on disk as the file system spells it, or
    the name below the collection's address. ``modified`` and ``author`` come from version control, where
    there is any; at an address ``modified`` is the store's. ``title`` is what a table of contents calls the
    page. A file with a ``module`` is Python, and its page describes that module; one with a ``category``
    describes a category of pages. A ``member`` is an image within a notebook. A file with a ``version`` has
    the same content as long as it is listed with that one; any other has to be read to know it.
    ``version_of`` says what it is in a folder.
    """

    collection: str
    path: str
    location: str
    size: int
    modified: str | None = None
    author: str = ""
    title: str = ""
    module: str = ""
    category: str = ""
    member: str = ""
    version: str = ""


def version_of(status: os.stat_result) -> str:
    """Return what becomes another with every change of a file, where its file system has times of change.

    Unlike the time of modification, no program can set that of a change; only an image of a file system can
    hold any, which mostly is mounted as another device.
    """
    known = (status.st_ctime_ns, status.st_mtime_ns, status.st_size, status.st_ino, status.st_dev)
    return _CHANGED + ":".join(map(str, known))


def is_in_folder(version: str) -> bool:
    """Return whether a version is that of a file in a folder, and not at an address."""
    return version.startswith(_CHANGED)


def is_unsettled(version: str, now_s: float) -> bool:
    """Return whether a file that has this version now may change once more without another."""
    if is_in_folder(version):
        changed_ns = int(version.removeprefix(_CHANGED).partition(":")[0])
        return changed_ns > (now_s - _UNSETTLED_S) * 1e9
    changed_s = changed_at(version)
    return changed_s is not None and changed_s > now_s - _UNSETTLED_AT_ADDRESS_S


def read_file(file: FoundFile, collection: Collection) -> Source:
    """Return the file's bytes and their SHA-256, provided that it did not change while it was read.

    Raises ``RejectedDocument`` when the file is gone, a link, not a regular file, outside the collection's
    folder, too big, unreadable, or changes twice while it is read; ``SourceError`` when the cause may be
    temporary.
    """
    reading = _read(file, collection, "max_bytes")
    by_file = collection.modified_from == "file-time" and reading.modified_s is not None
    modified = day_of(reading.modified_s or 0) if by_file else file.modified
    return source_of(file, reading.content, sha256_hex(reading.content), modified, reading.version)


def read_asset(file: FoundFile, collection: Collection) -> Source:
    """Return the bytes of an image, medium or attachment, and their hash; raises as ``read_file`` does."""
    if not file.member:
        reading = _read(file, collection, "max_asset_bytes")
        return source_of(file, reading.content, sha256_hex(reading.content), None, reading.version)
    document = read_file(file, collection)
    image = _images_of(document.content).get(file.member)
    if image is None:
        where = f"{file.collection}:{file.path}"
        raise RejectedDocument("the document no longer contains this image", where=where)
    if len(image) > (most := collection.max_asset_bytes):
        raise RejectedDocument(
            too_big(len(image), most, "max_asset_bytes"), where=f"{file.collection}:{file.path}"
        )
    return source_of(file, image, sha256_hex(image), None, document.version)


def files_by_path(files: Iterable[FoundFile]) -> dict[str, dict[str, FoundFile]]:
    """Return the files of each collection by their paths."""
    found: dict[str, dict[str, FoundFile]] = {}
    for file in files:
        found.setdefault(file.collection, {})[file.path] = file
    return found


def image_of_notebook(path: str, files: Mapping[str, FoundFile]) -> FoundFile | None:
    """Return the image at a path in one of the files, by path, if that is a notebook; none is opened.

    Its size is not known.
    """
    place = image_place(path)
    file = files.get(place.document) if place else None
    if place is None or file is None:
        return None
    return FoundFile(file.collection, path, file.location, 0, member=place.name, version=file.version)


def source_of(
    file: FoundFile, content: bytes, sha256: str, modified: str | None, version: str = ""
) -> Source:
    """Return a file with this content, and with what its listing says of it."""
    return Source(
        file.collection, file.path, content, sha256, modified, file.author, file.title, version=version
    )


# The images of a document are read one after the other.
_images_of = lru_cache(maxsize=1)(embedded_images)


def _read(file: FoundFile, collection: Collection, limit: str) -> _Reading:
    """Return the file's content, of no more bytes than the setting ``limit`` allows."""
    where = f"{file.collection}:{file.path}"
    try:
        if is_address(collection.root):
            reading = _read_object(file, collection, limit)
        else:
            reading = _read_once(file, collection, limit) or _read_once(file, collection, limit)
    except OSError as error:
        if is_transient(error) or (error.errno == errno.ENOENT and is_empty_folder(collection.root)):
            raise briefly_away(error, where) from error
        raise RejectedDocument(
            _open_fault(error), where=where, hint="Run again once it can be read."
        ) from error
    if reading is None:
        raise RejectedDocument(
            "the file changes while it is read", where=where, hint="Run again when nothing writes to it."
        )
    return reading


@dataclass(frozen=True, slots=True)
class _Reading:
    content: bytes
    modified_s: float | None
    version: str = ""


def _read_object(file: FoundFile, collection: Collection, limit: str) -> _Reading | None:
    """Return the content of a file at an address, or none when it changed while it was read."""
    where, most = f"{file.collection}:{file.path}", int(getattr(collection, limit))
    listed = ObjectState(file.location, file.size, file.version, None)
    try:
        found = objects_at(collection.root).read(listed, most)
    except ObjectGone:
        raise RejectedDocument(_GONE, where=where, hint="Run again once it can be read.") from None
    except ObjectChanging:
        return None
    if len(found.content) > most:
        raise RejectedDocument(too_big(found.state.size, most, limit), where=where)
    return _Reading(found.content, found.state.modified_s, found.state.version)


def _read_once(file: FoundFile, collection: Collection, limit: str) -> _Reading | None:
    """Return the file's content, or none when it changed while it was read."""
    where, most = f"{file.collection}:{file.path}", int(getattr(collection, limit))
    descriptor = os.open(file.location, _OPEN_FLAGS)
    try:
        before = os.fstat(descriptor)
        if not stat.S_ISREG(before.st_mode):
            raise RejectedDocument("not a regular file any more", where=where, hint="Put the file back.")
        if not _lies_within(_opened(descriptor, file.location), file, collection):
            raise RejectedDocument(
                "the file is outside the collection's folder",
                where=where,
                hint="Links out of it are not followed.",
            )
        content = _content(descriptor, before.st_size, most + 1)
        after = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    if len(content) > most:
        raise RejectedDocument(too_big(after.st_size, most, limit), where=where)
    same = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
    version = version_of(after) if before.st_ctime_ns == after.st_ctime_ns else ""
    return _Reading(content, after.st_mtime, version) if same and len(content) == after.st_size else None


def _content(descriptor: int, expected: int, most: int) -> bytes:
    """Read up to ``most`` bytes, nearly always in one call."""
    pieces, left = [], most
    while left and (piece := os.read(descriptor, min(left, expected + 1))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def _lies_within(opened: str, file: FoundFile, collection: Collection) -> bool:
    """Return whether the real path of an open file is one that the collection may read.

    ``O_NOFOLLOW`` protects only the last component: a folder may have become a link since the listing. A link
    that may be followed was listed by the real path of its target, which lies outside of all.
    """
    folders = (collection.root, *collection.static_folders)
    if opened == file.location or opened.startswith(tuple(map(_below, folders))):
        return True
    _below.cache_clear()  # the root may be a link that leads elsewhere since, as to a newer release
    return opened.startswith(tuple(map(_below, folders)))


@lru_cache(maxsize=64)
def _below(root: str) -> str:
    """Return the prefix of the real paths of all files below this folder."""
    return os.path.join(os.path.realpath(root, strict=True), "")  # noqa: PTH118  # a Path drops the separator


def _opened(descriptor: int, location: str) -> str:
    """Return the real path of the open file.

    Linux reports it directly; elsewhere its folder's path is resolved.
    """
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115  # of every file of a collection
    except OSError:
        # Strictly: a folder that is away for a moment is not outside the collection.
        folder, name = os.path.split(location)
        return os.path.join(os.path.realpath(folder, strict=True), name)  # noqa: PTH118


def _open_fault(error: OSError) -> str:
    if error.errno == errno.ENOENT:
        return _GONE
    if error.errno == errno.ELOOP:
        return "a symbolic link: links are not followed"
    return f"the file cannot be read: {strerror(error)}"


def day_of(seconds: float) -> str | None:
    """Return the day (UTC) of a time in seconds of the epoch; none outside the calendar."""
    try:
        return datetime.fromtimestamp(seconds, UTC).date().isoformat()
    except (OverflowError, ValueError, OSError):
        return None


def too_big(size: int, limit: int, setting: str = "max_bytes") -> str:
    """Return why a file of this size is left out."""
    return f"{size:,} bytes, more than {setting} = {limit:,}: raise it in the settings, or exclude the file"
