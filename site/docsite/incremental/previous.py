"""The site as the last build left it: which files are still as written, and what they were made from.

Anything that cannot be trusted counts as absent: a damaged record, or a file changed after it was written. A
file's size and time are looked at always; its bytes wherever they are read, and whenever it is the file's
turn (``noctule.docsite.verify``).
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from ...artifacts.disk import locks
from ...pipeline.identity import canonical_json, sha256_hex
from ..content.render import Content
from ..outline.extent import Extent
from ..outline.plan import SitePage
from ..urls import MARKER, RECORD
from .folder_listing import Standing, is_as_written, standing_in

FORMAT = 4
# A record that grows beyond this when unpacked is not ours.
_MAX_BYTES = 2_000_000_000


class FileRecord(NamedTuple):  # which the record holds as it is, once for every file of a site
    """What a build knew about a file that it wrote."""

    path: str
    size: int
    digest: str
    fingerprint: str
    summary: str
    extent: Extent | None = None


def file_digest(content: bytes) -> str:
    """Return the first 16 bytes of a file's SHA-256, in hexadecimal.

    They find damage, of which 128 bits miss one in 10**38; they could not keep out a forger, who would write
    a record to match. The other half would only make the record larger, by 1.1 MB for MDN's site. It is
    SHA-256 because processors compute it and ``sha256sum`` prints it.
    """
    return sha256_hex(content)[:32]


class OldRecord(ValueError):
    """Raised if a record was written by another version."""


@dataclass(frozen=True, slots=True)
class SiteRecord:
    """What a build knew about its site; ``whole`` stands for everything that the site was made from.

    ``base`` is the snapshot whose term shards its search has kept.
    """

    whole: str
    pages: int
    files: tuple[FileRecord, ...]
    snapshot: str = ""
    base: str = ""


@dataclass(frozen=True, slots=True)
class PreviousSite:
    """The files of the previous site, in an open folder that is locked.

    The lock keeps another build's exchange from changing them. ``damaged`` are the paths of files that were
    found to be not as they were written.
    """

    folder: int | None = None
    path: Path | None = None
    record: SiteRecord = SiteRecord("", 0, ())
    written: int = 0
    by_path: Mapping[str, FileRecord] = field(default_factory=dict)
    standing: Standing | None = None
    damaged: frozenset[str] = frozenset()

    def looked_at(self) -> PreviousSite:
        """Return the same site with all its files examined in one walk instead of one by one."""
        if self.folder is None or self.standing is not None:
            return self
        try:
            return replace(self, standing=standing_in(self.folder))
        except OSError:  # it is going this moment
            return self

    @property
    def keeps_names_apart(self) -> bool:
        """Return whether names that differ only in case are different files where this site is."""
        return self.path is None or not (self.path / MARKER.upper()).exists()

    def has(self, path: str, fingerprint: str) -> bool:
        """Return whether this file was made from the same inputs and is as it was written."""
        known = self.by_path.get(path)
        return known is not None and fingerprint == known.fingerprint != "" and self.is_sound(known)

    def is_sound(self, known: FileRecord) -> bool:
        """Return whether the file is a plain one of the size that was written, older than its record, and
        not known to be damaged.
        """
        found = self._found(known.path)
        return (
            found is not None
            and known.path not in self.damaged
            and is_as_written(found, known.size, self.written)
        )

    def _found(self, path: str) -> os.stat_result | None:
        if self.standing is not None:
            return self.standing.files.get(path)
        try:
            return os.stat(path, dir_fd=self.folder, follow_symlinks=False)
        except OSError:
            return None

    def holds(self, path: str, content: bytes) -> bool:
        """Return whether the site had this very file."""
        known = self.by_path.get(path)
        return (
            known is not None
            and known.size == len(content)
            and self.is_sound(known)
            and self.read(known) == content
        )

    def content(self, path: str, fingerprint: str) -> Content | None:
        """Return the content of the document's page if it was made from the same inputs."""
        known = self.by_path.get(path)
        if known is None or known.extent is None or known.extent.fingerprint != fingerprint:
            return None
        page = self.read(known) if self.is_sound(known) else None
        # Or a damaged page would be copied into a new one, and the damage be written down as sound.
        if page is None or file_digest(page) != known.digest:
            return None
        return known.extent.content(page, known.summary)

    def proves(self, known: FileRecord) -> bool:
        """Return whether the file's bytes are those that were written; they are read."""
        content = self.read(known)
        return content is not None and file_digest(content) == known.digest

    def read(self, known: FileRecord) -> bytes | None:
        """Return the bytes of the file; nothing if it is of another size or cannot be read."""
        try:
            content = read_in(self.folder, known.path, known.size + 1)
        except OSError:
            return None
        return content if len(content) == known.size else None


@dataclass(frozen=True, slots=True)
class Reuse:
    """How files are kept; ``shared`` stands for everything that every page of the new site is made with."""

    previous: PreviousSite = PreviousSite()
    shared: bytes = b""

    def kept(self, path: str, fingerprint: str) -> SitePage | None:
        """Return the previous site's page if it was made from the same inputs."""
        if self.previous.has(path, fingerprint):
            known = self.previous.by_path[path]
            return SitePage(path, b"", known.summary, fingerprint, kept=True, extent=known.extent)
        return None

    def page(self, path: str, fingerprint: str, make: Callable[[], SitePage]) -> SitePage:
        """Return the previous site's page if it was made from the same inputs, or make it now."""
        return self.kept(path, fingerprint) or replace(make(), fingerprint=fingerprint)


@contextmanager
def previous_site(target: Path, damaged: frozenset[str] = frozenset()) -> Iterator[PreviousSite]:
    """Yield the site in this folder; an empty one if there is none, or none with a sound record.

    ``damaged`` are files that are known not to be as they were written.
    """
    try:
        folder = os.open(target, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        yield PreviousSite()
        return
    try:
        # If it has been set aside already, another build is reusing it.
        yield replace(_read(folder, target), damaged=damaged) if locks.directory(folder) else PreviousSite()
    finally:
        os.close(folder)


def _read(folder: int, target: Path) -> PreviousSite:
    try:
        record = read_record(folder)
        written = os.stat(RECORD, dir_fd=folder, follow_symlinks=False).st_mtime_ns
    except (OSError, ValueError):
        return PreviousSite()
    return PreviousSite(folder, target, record, written, {each.path: each for each in record.files})


def read_record(folder: int) -> SiteRecord:
    """Return the record of the site in an open folder, proved by the marker, and the marker by the record.

    Raises ``OSError`` if one of the two cannot be read, ``OldRecord`` if another version wrote them,
    ``ValueError`` if they are not as they were written.
    """
    marker, packed = read_in(folder, MARKER), read_in(folder, RECORD)
    try:
        if json.loads(marker)["record"] != sha256_hex(packed):
            raise ValueError("the marker names another record")
        record = _unpacked(packed)
    except (TypeError, KeyError, RecursionError, zlib.error) as error:
        raise ValueError("not a record") from error
    if marker != _marker(packed, record.snapshot):
        raise ValueError("the marker names another snapshot")
    return record


def read_in(folder: int | None, name: str, most: int = -1) -> bytes:
    """Return the first bytes of a file in an open folder, or all of them; no link is followed."""
    # A pipe that took a file's place would be waited for.
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    with os.fdopen(descriptor, "rb") as file:
        return file.read(most)


@lru_cache(maxsize=1)  # what is made ahead reads it, and whoever puts that into the site
def _unpacked(packed: bytes) -> SiteRecord:
    unpacker = zlib.decompressobj()
    given = json.loads(unpacker.decompress(packed, _MAX_BYTES))
    if given["format"] != FORMAT:
        raise OldRecord("a record of another version")
    files = tuple(
        FileRecord(path, size, digest, fingerprint, summary, extent and Extent(*extent))
        for path, size, digest, fingerprint, summary, extent in given["files"]
    )
    return SiteRecord(given["whole"], given["pages"], files, given["snapshot"], given["base"])


def record_files(record: SiteRecord) -> Iterator[SitePage]:
    """Yield the record and the marker that vouches for it.

    They are the last files of a site, because files changed after them are not trusted.
    """
    packed = packed_record(record)
    yield SitePage(MARKER, _marker(packed, record.snapshot))
    yield SitePage(RECORD, packed)


def _marker(packed: bytes, snapshot_id: str) -> bytes:
    stated = json.dumps({"record": sha256_hex(packed), "snapshot": snapshot_id}, sort_keys=True)
    return f"{stated}\n".encode()


def packed_record(record: SiteRecord) -> bytes:
    """Return the record as bytes; equal records give equal bytes."""
    files = sorted(record.files, key=attrgetter("path"))
    given = {
        "format": FORMAT,
        "snapshot": record.snapshot,
        "base": record.base,
        "whole": record.whole,
        "pages": record.pages,
        "files": files,
    }
    return zlib.compress(canonical_json(given).encode("utf-8", "surrogatepass"), 3)
