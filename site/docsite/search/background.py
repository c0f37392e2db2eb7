"""What a large site's words are looked up in, made by another process while this one makes the pages.

It reads nothing but a snapshot, so it can be begun as soon as that is written, before there is a site to put it in.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, chdir, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from ...artifacts.store.manifest import Manifest
from ...artifacts.store.snapshot import Snapshot
from ...pipeline.settings.search import Search
from ..background import Beside
from ..incremental.previous import PreviousSite, previous_site
from ..incremental.staging import Filled, Stage
from ..library import SnapshotTables
from ..plan import SitePage
from .files import Files, Half
from .index import FOLDER, make_lookup
from .manifest import Lookup

T = TypeVar("T")
# Below it a process takes longer to start than it saves.
LEAST_DOCUMENTS = 1_000


@dataclass(frozen=True, slots=True)
class LookupJob:
    """A snapshot, verified or of this very run, how its search ranks, the folder of the site before, if one counts, and where
    in a site the files go."""

    snapshot: Path
    manifest: Manifest
    ranking: Search
    before: Path | None
    below: str = FOLDER


@dataclass(frozen=True, slots=True)
class SearchJob:
    """A lookup for what is in a staged folder."""

    lookup: LookupJob
    staged: Path


@dataclass(frozen=True, slots=True)
class Made(Generic[T]):
    """Files of a half that are in the staged folder now, and what the manifest says of them."""

    filled: Filled
    half: T


def begin_ahead(job: LookupJob, beside: Beside) -> None:
    """The lookup of a snapshot that is written is begun, for the site that the same process will be asked for."""
    if _is_large(job.manifest):
        beside.start(make_ahead, job)


def prepare_lookup(snapshot: SnapshotTables, ranking: Search, beside: Beside | None, stage: Stage) -> None:
    """What ``begin_lookup`` will put into the folder is begun, unless it was; nothing is put there yet, so that the stage may
    still begin with another folder."""
    job = _job(snapshot, ranking, stage, FOLDER)
    if beside is not None and job is not None:
        begin_ahead(job, beside)


def begin_lookup(
    snapshot: SnapshotTables, ranking: Search, beside: Beside | None, stage: Stage, below: str = FOLDER
) -> Callable[[], Lookup] | None:
    """What words are looked up in, begun by another process; nothing where none is there, or the site not worth one."""
    job = _job(snapshot, ranking, stage, below)
    if beside is None or job is None:
        return None
    return taken(stage, beside.start(fill_search, SearchJob(job, stage.folder)))


def _job(snapshot: SnapshotTables, ranking: Search, stage: Stage, below: str) -> LookupJob | None:
    if (large := on_disk_and_large(snapshot)) is None:
        return None
    return LookupJob(large.path, large.manifest, ranking, stage.previous.path, below)


def on_disk_and_large(snapshot: SnapshotTables) -> Snapshot | None:
    """The snapshot, where another process can read it and saves more time than it takes to start."""
    return snapshot if isinstance(snapshot, Snapshot) and _is_large(snapshot.manifest) else None


def _is_large(manifest: Manifest) -> bool:
    return manifest.counts["documents"] >= LEAST_DOCUMENTS


def taken(stage: Stage, begun: Callable[[], Made[T]]) -> Callable[[], T]:
    """The half of an index, whose files are the stage's once it is called for."""

    def half() -> T:
        made = begun()
        stage.take(made.filled)
        return made.half

    return half


@dataclass(frozen=True, slots=True)
class _Lookup:
    """All files of a lookup with the manifest's part, and what they were made of and beside."""

    made_of: tuple[Any, ...]
    pages: tuple[SitePage, ...]
    lookup: Lookup

    def is_for(self, job: LookupJob, previous: PreviousSite) -> bool:
        """Whether the job would make this very lookup, and what is to be kept of the site before is still what it was."""
        kept = (page for page in self.pages if page.kept)
        return self.made_of == _made_of(job, previous) and all(
            previous.has(page.path, page.fingerprint) for page in kept
        )


# Of one snapshot, made ahead by this process for the one site that follows.
_ahead: list[_Lookup] = []


def make_ahead(job: LookupJob) -> None:
    """The lookup is made and kept in this process; the snapshot's folder may get another name meanwhile."""
    with chdir(job.snapshot), site_before(job.before) as previous:
        if _ahead and _ahead[0].is_for(job, previous):
            return
        _ahead.clear()
        _ahead.append(_made(replace(job, snapshot=Path()), previous))


def fill_search(job: SearchJob) -> Made[Lookup]:
    """The files of the lookup, put into the staged folder; raises as ``make_lookup`` and ``Stage.add`` do."""
    with site_before(job.lookup.before) as previous:
        known = _ahead.pop() if _ahead else None
        if known is None or not known.is_for(job.lookup, previous):
            known = _made(job.lookup, previous)
        stage = Stage(job.staged, previous, replacing=True)
        for page in known.pages:
            stage.add(page)
        return Made(stage.filled(), known.lookup)


def site_before(folder: Path | None) -> AbstractContextManager[PreviousSite]:
    """The site before, if one counts."""
    return nullcontext(PreviousSite()) if folder is None else previous_site(folder)


def _made(job: LookupJob, previous: PreviousSite) -> _Lookup:
    snapshot = Snapshot(job.snapshot, job.manifest, None)
    with Files(job.below, previous, Half.LOOKUP) as files:
        lookup = make_lookup(snapshot, job.ranking, files)
        return _Lookup(_made_of(job, previous), tuple(files.pages()), lookup)


def _made_of(job: LookupJob, previous: PreviousSite) -> tuple[Any, ...]:
    """What stands for the snapshot, the ranking and the very site that files were kept from."""
    site = None
    if previous.folder is not None:
        found = os.fstat(previous.folder)
        site = (found.st_dev, found.st_ino, previous.written)
    return (job.manifest.snapshot_id(), job.ranking, job.below, site)
