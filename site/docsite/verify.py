"""Proof that a site's files are the bytes that were written: some in every build, or all at once."""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import time_ns
from zlib import crc32

from ..artifacts.disk import locks
from ..pipeline.errors import ArtifactError, DamagedSite, SourceError, UnsupportedFormat
from ..pipeline.printable import printable_path
from . import urls
from .incremental.folder_listing import Standing, standing_in
from .incremental.previous import (
    FileRecord,
    OldRecord,
    PreviousSite,
    SiteRecord,
    file_digest,
    read_in,
    read_record,
)
from .incremental.staging import StagingFolder
from .pages.report import is_as_filled

_log = logging.getLogger("noctule")
_MOST_NAMED = 3
_DAY_NS = 86_400 * 10**9


def verified(previous: PreviousSite, nights: int, now_ns: int | None = None) -> PreviousSite:
    """Return the same site with the files that are not as they were written.

    Sizes and times of all files are looked at, and the bytes of those whose turn it is are read: of each file
    once in ``nights`` days, or of all files at once where no build took place for so long; with 0, of none.
    """
    previous = previous.looked_at()
    if previous.standing is None:
        return previous
    turns = _turns(previous, nights, time_ns() if now_ns is None else now_ns)
    damaged = (each.path for each in previous.record.files if not _is_well(previous, each, nights, turns))
    return replace(previous, damaged=frozenset(damaged))


def count_healed(stage: StagingFolder, target: Path) -> int:
    """Return how many damaged files were made anew, with a line in the log."""
    healed = stage.previous.damaged.intersection(each.path for each in stage.files) | stage.healed
    if healed:
        first = ", ".join(sorted(healed)[:_MOST_NAMED])
        _log.warning(
            "%d damaged files of the site were rebuilt: %s%s (%s)",
            len(healed), first, " and others" if len(healed) > _MOST_NAMED else "", target,
        )  # fmt: skip
    return len(healed)


def _turns(previous: PreviousSite, nights: int, now_ns: int) -> frozenset[int]:
    """Return the remainders of the days since files were last read, of today's at least.

    Days are counted and not builds, so that a site which is built ten times a day reads no file ten times as
    often, and one which is built once a week leaves none out. The marker's time is that of the last reading.
    """
    if not nights:
        return frozenset()
    try:
        before = os.stat(urls.MARKER, dir_fd=previous.folder, follow_symlinks=False).st_mtime_ns
    except OSError:
        before = 0
    today = now_ns // _DAY_NS
    missed = min(max(today - before // _DAY_NS, 1), nights)
    return frozenset((today - back) % nights for back in range(missed))


def _is_well(previous: PreviousSite, known: FileRecord, nights: int, turns: frozenset[int]) -> bool:
    if known.path == urls.REPORT:  # it changes after the record was written, and is small
        return previous.folder is not None and not _fault_of_report(previous.folder, known)
    if not previous.is_sound(known):
        return False
    return (
        not turns
        or crc32(known.path.encode("utf-8", "surrogatepass")) % nights not in turns
        or previous.proves(known)
    )


@dataclass(frozen=True, slots=True)
class SiteCheck:
    """What a check found: files by path with what is wrong with each.

    ``strange`` are files that noctule did not write in places where nobody else writes; ``foreign`` are other
    files that it did not write, which may be the owner's.
    """

    folder: Path
    snapshot: str
    files: int
    bytes: int
    damaged: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    strange: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()

    @property
    def faults(self) -> int:
        """Return how many files are not as they should be."""
        return len(self.damaged) + len(self.missing) + len(self.strange)

    def kinds(self) -> Mapping[str, Mapping[str, str]]:
        """Return files by what is the matter with them, each with the reason if there is more to say."""
        return {
            "damaged": self.damaged,
            "missing": dict.fromkeys(self.missing, ""),
            "not the site's": dict.fromkeys(self.strange, "only noctule writes here"),
            "foreign": dict.fromkeys(
                self.foreign, "noctule did not write it, the next new site is without it"
            ),
        }

    def as_dict(self) -> dict[str, object]:
        """Return all of it in the shape that ``--json`` prints."""
        return {
            "site": str(self.folder),
            "snapshot": self.snapshot,
            "sound": not self.faults,
            "files": self.files,
            "bytes": self.bytes,
            "damaged": dict(self.damaged),
            "missing": list(self.missing),
            "strange": list(self.strange),
            "foreign": list(self.foreign),
        }


def check_site(folder: Path, begin: Callable[[int], object] = int) -> SiteCheck:
    """Read every file of a site and compare it with the record; ``begin`` is told how many files there are.

    Times do not matter, nor what a server or a copy did to them. Raises ``SourceError`` if there is no site,
    ``DamagedSite`` if its record is damaged, so that nothing can be compared, ``UnsupportedFormat`` if
    another version of noctule wrote it, ``ArtifactError`` if a folder in it cannot be read.
    """
    folder = folder.resolve()
    if not (folder / urls.MARKER).exists() and (folder / urls.SEARCH_ONLY / urls.MARKER).is_file():
        folder /= urls.SEARCH_ONLY
    while True:
        with _opened(folder) as opened:
            record = _record(folder, opened)
            begin(len(record.files))
            found = _compared(folder, opened, record)
            if not found.faults or _is_still(folder, opened):
                return found  # or a build replaced it meanwhile


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    try:
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise SourceError(
            f"cannot open the site: {error.strerror}", where=str(folder), hint="Name the folder of a site."
        ) from error
    try:
        locks.directory(opened)  # so that no build fills this very folder anew
        yield opened
    finally:
        os.close(opened)


def _is_still(folder: Path, opened: int) -> bool:
    try:
        return os.path.samestat(folder.stat(), os.fstat(opened))
    except OSError:
        return False


def _record(folder: Path, opened: int) -> SiteRecord:
    try:
        return read_record(opened)
    except OldRecord as error:
        raise UnsupportedFormat(
            "the site was built by another version of noctule, whose record cannot be compared with",
            where=str(folder / urls.RECORD),
            hint=_rebuild(folder),
        ) from error
    except (OSError, ValueError) as error:
        if not any((folder / name).exists() for name in (urls.MARKER, urls.RECORD)):
            raise SourceError(
                "this folder holds no site that noctule built",
                where=str(folder),
                hint="Name the folder that was given to noctule site --out, or that of a version below it.",
            ) from error
        reason = error.strerror if isinstance(error, OSError) else error
        raise DamagedSite(
            f"the site's record cannot be trusted, so no file can be compared with it: {reason}",
            where=str(folder / urls.RECORD),
            hint=_rebuild(folder),
        ) from error


def _rebuild(folder: Path) -> str:
    if folder.name == urls.SEARCH_ONLY:
        return f"Make it anew: noctule site --search-only --out {folder.parent}"
    return f"Rebuild every file: noctule site --full --out {folder}"


def require_sound(found: SiteCheck) -> None:
    """Raise ``DamagedSite`` if a file is not as it was written."""
    if found.faults:
        counts = {"damaged": found.damaged, "missing": found.missing, "not the site's": found.strange}
        said = ", ".join(f"{len(names):,} {what}" for what, names in counts.items() if names)
        raise DamagedSite(
            f"of {found.files:,} files: {said}", where=str(found.folder), hint=_rebuild(found.folder)
        )


def _compared(folder: Path, opened: int, record: SiteRecord) -> SiteCheck:
    try:
        standing = standing_in(opened)
    except OSError as error:
        raise ArtifactError(
            f"cannot read the site: {error.strerror}",
            where=str(folder),
            hint="Make it readable for this user, then check it again.",
        ) from error
    faults = {each.path: _fault(opened, each, standing) for each in record.files}
    extra = standing.files.keys() - faults.keys() - {urls.MARKER, urls.RECORD}
    strange = {name for name in extra if not record.whole or name.split("/")[0] in urls.RESERVED}
    return SiteCheck(
        folder,
        record.snapshot,
        len(record.files) + 2,
        sum(found.st_size for name, found in standing.files.items() if name not in extra),
        {path: fault for path, fault in faults.items() if fault and path in standing.files},
        tuple(path for path in faults if path not in standing.files),
        tuple(map(printable_path, sorted(strange))),
        tuple(map(printable_path, sorted(extra - strange))),
    )


def _fault(opened: int, known: FileRecord, standing: Standing) -> str:
    """Return what is wrong with a file; nothing if it holds what was written."""
    found = standing.files.get(known.path)
    if found is None:
        return "missing"
    if not stat.S_ISREG(found.st_mode):
        return "not a plain file"
    if known.path == urls.REPORT:
        return _fault_of_report(opened, known)
    if found.st_size != known.size:
        return f"expected {known.size:,} bytes, found {found.st_size:,}"
    return _fault_of_bytes(opened, known)


def _fault_of_bytes(opened: int, known: FileRecord) -> str:
    try:
        digest = file_digest(read_in(opened, known.path, known.size + 1))
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return "" if digest == known.digest else f"expected SHA-256 {known.digest}…, found {digest}…"


def _fault_of_report(opened: int, known: FileRecord) -> str:
    """Return what is wrong with the report's page, which is the one in the record or filled with a report."""
    try:
        page, marker = read_in(opened, known.path), read_in(opened, urls.MARKER)
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    if file_digest(page) == known.digest or is_as_filled(page, marker):
        return ""
    return "neither the page that was written nor one with a night's report"
