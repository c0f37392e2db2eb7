"""The site as the last build left it: which files are still as written, and what they were made from.

Anything that cannot be trusted counts as absent: a damaged record, or a file changed after it was written.
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

FORMAT = 2
# A record that grows beyond this when unpacked is not ours.
_MAX_BYTES = 2_000_000_000


class FileRecord(NamedTuple):  # which the record holds as it is, once for every file of a site
    """What a build knew about a file that it wrote."""

    path: str
    size: int
    fingerprint: str
    summary: str
    extent: Extent | None = None


@dataclass(frozen=True, slots=True)
class SiteRecord:
    """What a build knew about its site; ``whole`` stands for everything that the site was made from."""

    whole: str
    pages: int
    files: tuple[FileRecord, ...]


@dataclass(frozen=True, slots=True)
class PreviousSite:
    """The files of the previous site, in an open folder that is locked.

    The lock keeps another build's exchange from changing them.
    """

    folder: int | None = None
    path: Path | None = None
    record: SiteRecord = SiteRecord("", 0, ())
    written: int = 0
    by_path: Mapping[str, FileRecord] = field(default_factory=dict)
    standing: Standing | None = None

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
        """Return whether the file is a plain one of the size that was written, and older than its record."""
        found = self._found(known.path)
        return found is not None and is_as_written(found, known.size, self.written)

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
        return known is not None and known.size == len(content) and self._bytes(known) == content

    def content(self, path: str, fingerprint: str) -> Content | None:
        """Return the content of the document's page if it was made from the same inputs."""
        known = self.by_path.get(path)
        if known is None or known.extent is None or known.extent.fingerprint != fingerprint:
            return None
        page = self._bytes(known)
        return known.extent.content(page, known.summary) if page is not None else None

    def _bytes(self, known: FileRecord) -> bytes | None:
        """Return the file's bytes, or nothing if they are not those that were written."""
        if not self.is_sound(known):
            return None
        try:
            descriptor = os.open(known.path, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=self.folder)
        except OSError:
            return None
        with os.fdopen(descriptor, "rb") as file:
            content = file.read(known.size + 1)
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
def previous_site(target: Path) -> Iterator[PreviousSite]:
    """Yield the site in this folder; an empty one if there is none, or none with a sound record."""
    try:
        folder = os.open(target, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        yield PreviousSite()
        return
    try:
        # If it has been set aside already, another build is reusing it.
        yield _read(folder, target) if locks.directory(folder) else PreviousSite()
    finally:
        os.close(folder)


def _read(folder: int, target: Path) -> PreviousSite:
    try:
        marker = json.loads(_content(folder, MARKER))
        packed = _content(folder, RECORD)
        if not isinstance(marker, dict) or marker.get("record") != sha256_hex(packed):
            return PreviousSite()
        record = _unpacked(packed)
        written = os.stat(RECORD, dir_fd=folder, follow_symlinks=False).st_mtime_ns
    except (OSError, ValueError, TypeError, KeyError, RecursionError, zlib.error):
        return PreviousSite()
    return PreviousSite(folder, target, record, written, {each.path: each for each in record.files})


def _content(folder: int, name: str) -> bytes:
    with os.fdopen(os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=folder), "rb") as file:
        return file.read()


@lru_cache(maxsize=1)  # what is made ahead reads it, and whoever puts that into the site
def _unpacked(packed: bytes) -> SiteRecord:
    unpacker = zlib.decompressobj()
    given = json.loads(unpacker.decompress(packed, _MAX_BYTES))
    if given["format"] != FORMAT:
        raise ValueError("a record of another version")
    files = tuple(
        FileRecord(path, size, fingerprint, summary, extent and Extent(*extent))
        for path, size, fingerprint, summary, extent in given["files"]
    )
    return SiteRecord(given["whole"], given["pages"], files)


def record_files(record: SiteRecord, snapshot_id: str) -> Iterator[SitePage]:
    """Yield the record and the marker that vouches for it.

    They are the last files of a site, because files changed after them are not trusted.
    """
    packed = packed_record(record)
    marker = json.dumps({"record": sha256_hex(packed), "snapshot": snapshot_id}, sort_keys=True)
    yield SitePage(MARKER, f"{marker}\n".encode())
    yield SitePage(RECORD, packed)


def packed_record(record: SiteRecord) -> bytes:
    """Return the record as bytes; equal records give equal bytes."""
    files = sorted(record.files, key=attrgetter("path"))
    given = {"format": FORMAT, "whole": record.whole, "pages": record.pages, "files": files}
    return zlib.compress(canonical_json(given).encode("utf-8", "surrogatepass"), 3)
