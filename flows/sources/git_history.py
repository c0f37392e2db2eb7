"""Git metadata of a collection's files: when and by whom each was last changed, and which are ignored.

The repository is not trusted: it is only read, nothing named in its configuration is run, and no remote is
contacted.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from ...pipeline.discover import FileListing
from ...pipeline.errors import SourceError
from ...pipeline.settings.collection import Collection
from ...pipeline.source_files import FoundFile

_log = logging.getLogger("noctule")
# How git lists the checkout of another repository.
_GITLINK = b"160000 "
LIMIT_S = 300.0
_CHUNK_BYTES = 1 << 16
# Of a commit: a mark that no path can hold, its time, its author, and whether it has parents.
_FORMAT = "%x00%x01%at%x02%an%x02%P%x00"
_COMMIT = re.compile(r"\x01(-?\d+)\x02([^\x02]*)\x02([0-9a-f ]*)\Z", re.DOTALL)
# What a repository's own configuration could make git run or fetch, switched off where nothing overrides it.
_SAFE = {
    "core.fsmonitor": "false",
    "core.untrackedCache": "false",
    "core.hooksPath": os.devnull,
    "core.attributesFile": os.devnull,
    "core.excludesFile": os.devnull,
    "core.pager": "cat",
    "core.sshCommand": "false",
    "core.quotePath": "false",
    "diff.external": "",
    "gpg.program": "false",
    "log.showSignature": "false",
    "log.follow": "false",
    "protocol.allow": "never",
    "credential.helper": "",
    # A service reads repositories of other users.
    "safe.directory": "*",
}
_GIT = ("git", "--no-pager", *(part for name, value in _SAFE.items() for part in ("-c", f"{name}={value}")))


@dataclass(frozen=True, slots=True)
class LastChange:
    """The day (UTC) on which a file was last changed, and the author of that change."""

    day: str
    author: str


def with_history(listing: FileListing, name: str, collection: Collection) -> FileListing:
    """Return the listing with the git metadata that the collection asks for; raise ``SourceError``.

    A file that git does not track gets no date and no author.
    """
    uses_dates = "git" in (collection.modified_from, collection.author_from)
    if not (uses_dates or collection.git_ignored == "left-out") or not listing.files:
        return listing
    top = _top(name, collection)
    if collection.git_ignored == "left-out":
        ignored = _ignored(top, (*_inside(listing.files, top), *listing.assets), name)
        listing = replace(
            listing,
            files=tuple(f for f in listing.files if f.location not in ignored),
            assets=tuple(f for f in listing.assets if f.location not in ignored),
        )
    if not uses_dates:
        return listing
    changes = last_changes(top, [Path(file.location) for file in _inside(listing.files, top)], name)
    return replace(listing, files=tuple(_dated(file, changes, collection) for file in listing.files))


def _inside(files: Sequence[FoundFile], top: Path) -> list[FoundFile]:
    """Return the files of the repository: a Python module or a sidebar may be of another."""
    may_be_outside = ((file, file.module or file.category) for file in files)
    return [f for f, may in may_be_outside if not may or Path(f.location).resolve().is_relative_to(top)]


def _dated(file: FoundFile, changes: Mapping[str, LastChange], collection: Collection) -> FoundFile:
    place = Path(file.location)
    change = changes.get(os.path.realpath(place.parent) + os.sep + place.name)
    if change is None:
        return file
    return replace(
        file,
        modified=change.day if collection.modified_from == "git" else None,
        author=change.author if collection.author_from == "git" else "",
    )


def last_changes(top: Path, files: Sequence[Path], name: str) -> dict[str, LastChange]:
    """Return the last change of each file, by absolute path, in one pass from the newest commit.

    The pass ends once all are found. The first commit of a shallow clone is left out: there all look new.
    """
    wanted = {_in_repository(top, path) for path in files}
    is_shallow = _output(("rev-parse", "--is-shallow-repository"), top, name).strip() == b"true"
    found: dict[str, LastChange] = {}
    folders = sorted({str(Path(path).parent) for path in wanted})
    # A pathspec for each of thousands of folders would cost more than it spares.
    scope = [f":(top,literal){each}" for each in folders] if len(folders) <= 20 and "." not in folders else []
    command = (
        "log", "-z", "--no-renames", "--no-merges", "--no-ext-diff", "--no-textconv", "--no-show-signature",
        "--name-only", f"--format={_FORMAT}", "HEAD", "--", *scope,
    )  # fmt: skip
    for change, path in _changes(command, top, name, is_shallow=is_shallow):
        if path in wanted and path not in found:
            found[path] = change
            if len(found) == len(wanted):
                break
    if is_shallow and len(found) < len(wanted):
        _log.warning(
            "%s: a shallow clone, so %d files have no date: git fetch --unshallow",
            name,
            len(wanted) - len(found),
        )
    return {str(top / path): change for path, change in found.items()}


def _changes(
    command: Sequence[str], top: Path, name: str, *, is_shallow: bool
) -> Iterator[tuple[LastChange, str]]:
    """Yield each path of each commit, newest first, but for the first commit of a shallow clone."""
    current: LastChange | None = None
    for record in _records(command, top, name):
        match = _COMMIT.match(record)
        if match:
            is_edge = is_shallow and not match[3].strip()
            current = None if is_edge else LastChange(_day(int(match[1])), match[2].strip())
        elif record.strip("\n") and current is not None:
            yield current, record.strip("\n")


def _records(command: Sequence[str], top: Path, name: str) -> Iterator[str]:
    """Yield git's zero-separated output as it arrives; stop git when enough is read, or at the limit."""
    with subprocess.Popen(
        (*_GIT, *command), cwd=top, env=_environment(), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        timer = threading.Timer(LIMIT_S, process.kill)
        timer.start()
        enough = True
        try:
            rest = b""
            while chunk := process.stdout.read(_CHUNK_BYTES) if process.stdout else b"":
                *whole, rest = (rest + chunk).split(b"\0")
                yield from (each.decode("utf-8", "surrogateescape") for each in whole)
            enough = False
        finally:
            timer.cancel()
            if enough:
                process.kill()
        said = process.stderr.read() if process.stderr else b""
    if process.returncode:
        raise _refused(said, top, name)


def _top(name: str, collection: Collection) -> Path:
    """Return the root of the working tree of the collection's repository."""
    if shutil.which("git") is None:
        raise SourceError(
            "git is not on this machine",
            where=f"collections.{name}",
            hint='Install it, or take dates from elsewhere: modified_from = "front-matter"',
        )
    root = Path(collection.root)
    return Path(os.fsdecode(_output(("rev-parse", "--show-toplevel"), root, name).rstrip(b"\n")))


def _ignored(top: Path, files: Sequence[FoundFile], name: str) -> frozenset[str]:
    """Return the locations of files that the repository's .gitignore files exclude, unless they are tracked.

    A submodule is a repository of its own: git refuses queries about files in it, and none of them is left
    out.
    """
    inside = tuple(f"{each}{os.sep}" for each in _submodules(top, name))
    asked = [file for file in files if not _in_repository(top, Path(file.location)).startswith(inside)]
    if not asked:
        return frozenset()
    given = b"\0".join(os.fsencode(file.location) for file in asked) + b"\0"
    told = _output(("check-ignore", "-z", "--stdin"), top, name, given, fine=(0, 1))
    return frozenset(os.fsdecode(each) for each in told.split(b"\0") if each)


def _submodules(top: Path, name: str) -> list[str]:
    """Return the folders in which other repositories are checked out."""
    listed = _output(("ls-files", "-z", "--stage"), top, name).split(b"\0")
    links = (each.partition(b"\t")[2] for each in listed if each.startswith(_GITLINK))
    return [os.fsdecode(each) for each in links]


def commit_of(path: Path, name: str) -> str:
    """Return the last commit that changed a file, empty if git does not track it; raise ``SourceError``."""
    command = ("log", "-1", "--no-show-signature", "--format=%H", "HEAD", "--", f":(literal){path.name}")
    return _output(command, path.parent, name).decode("ascii", "replace").strip()


def _in_repository(top: Path, path: Path) -> str:
    real = Path(os.path.realpath(path.parent)) / path.name
    return os.path.relpath(real, top)


def _output(
    command: Sequence[str], folder: Path, name: str, given: bytes | None = None, fine: Sequence[int] = (0,)
) -> bytes:
    try:
        done = subprocess.run(
            (*_GIT, *command), cwd=folder, env=_environment(), input=given or b"", capture_output=True,
            check=False, timeout=LIMIT_S,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _refused(str(error).encode(), folder, name) from error
    if done.returncode not in fine:
        raise _refused(done.stderr, folder, name)
    return done.stdout


def _refused(said: bytes, folder: Path, name: str) -> SourceError:
    reason = (
        said.decode("utf-8", "replace").strip().split("\n")[0][:300] or "it was stopped, or took too long"
    )
    return SourceError(
        f"git cannot read the history of collection {name!r}: {reason}",
        where=str(folder),
        hint="If it is not a git repository, change modified_from, author_from and git_ignored of "
        f"collections.{name}.",
    )


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "LC_ALL": "C",
        "TZ": "UTC",
    }


def _day(seconds: int) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).date().isoformat()
    except (OverflowError, ValueError, OSError):
        return ""  # a commit dated outside the calendar
