"""What a large site's words are looked up in, made by another process while this one makes the pages.

It reads nothing but a snapshot, so it can be begun as soon as that is written, before there is a site to put it in.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, chdir, nullcontext
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from artifacts.manifest import Manifest
from artifacts.snapshot import Snapshot
from docsite.beside import Beside
from docsite.library import SnapshotTables
from docsite.pages_beside import planned
from docsite.plan import SitePage
from docsite.previous import PreviousSite, previous_site
from docsite.search.files import Files, Half
from docsite.search.index import FOLDER, make_lookup, shown_files
from docsite.search.manifest import Lookup
from docsite.staging import Filled, Stage
from pipeline.search_settings import Search
from pipeline.site_settings import Site

# Below it a process takes longer to start than it saves.
LEAST_DOCUMENTS = 1_000


@dataclass(frozen=True, slots=True)
class LookupJob:
    """A verified snapshot, how its search ranks, the folder of the site before, if one counts, and where in a site the files
    go."""

    snapshot: Path
    manifest: Manifest
    ranking: Search
    before: Path | None
    below: str = FOLDER


@dataclass(frozen=True, slots=True)
class SearchJob:
    """A lookup for what is in a staged folder; ``site`` are the settings of a site whose whole search is wanted."""

    lookup: LookupJob
    staged: Path
    site: Site | None = None


@dataclass(frozen=True, slots=True)
class Made:
    """The files of a lookup that are in the staged folder now, and what the manifest says of them."""

    filled: Filled
    lookup: Lookup


def begin_search(
    snapshot: SnapshotTables, ranking: Search, site: Site, beside: Beside | None, stage: Stage
) -> Callable[[], None] | None:
    """The search of a site, begun by another process: what is returned waits until its files are in the folder.

    Nothing where no process is there, or the site is not worth one.
    """
    job = _job(snapshot, ranking, stage, FOLDER)
    if beside is None or job is None:
        return None
    filled = beside.start(fill_site_search, replace(job, site=site))
    return lambda: stage.take(filled())


def begin_lookup(
    snapshot: SnapshotTables, ranking: Search, beside: Beside | None, stage: Stage, below: str = FOLDER
) -> Callable[[], Lookup] | None:
    """What words are looked up in and nothing else, begun by another process; nothing as for ``begin_search``."""
    job = _job(snapshot, ranking, stage, below)
    if beside is None or job is None:
        return None
    made = beside.start(fill_search, job)
    return lambda: _taken(stage, made())


def _job(snapshot: SnapshotTables, ranking: Search, stage: Stage, below: str) -> SearchJob | None:
    if not isinstance(snapshot, Snapshot) or not _is_large(snapshot.manifest):
        return None
    lookup = LookupJob(snapshot.path, snapshot.manifest, ranking, stage.previous.path, below)
    return SearchJob(lookup, stage.folder)


def begin_ahead(job: LookupJob, beside: Beside) -> None:
    """The lookup of a snapshot that is about to be published, for the site that the same process will be asked for."""
    if _is_large(job.manifest):
        beside.start(make_ahead, job)


def _is_large(manifest: Manifest) -> bool:
    return manifest.counts["documents"] >= LEAST_DOCUMENTS


def _taken(stage: Stage, made: Made) -> Lookup:
    stage.take(made.filled)
    return made.lookup


@dataclass(frozen=True, slots=True)
class _Lookup:
    """All files of a lookup with the manifest's part, and what they were made of and beside."""

    made_of: tuple[Any, ...]
    pages: tuple[SitePage, ...]
    lookup: Lookup


# Of one snapshot, made ahead by this process for the one site that follows.
_ahead: list[_Lookup] = []


def make_ahead(job: LookupJob) -> None:
    """The lookup is made and kept in this process; the snapshot's folder may get another name meanwhile."""
    _ahead.clear()
    with chdir(job.snapshot), _site_before(job.before) as previous:
        _ahead.append(_made(replace(job, snapshot=Path()), previous))


def fill_search(job: SearchJob) -> Made:
    """The files of the lookup, put into the staged folder; raises as ``make_lookup`` and ``Stage.add`` do."""
    with _site_before(job.lookup.before) as previous:
        known = _known(job.lookup, previous)
        return Made(_filled(job, previous, known.pages), known.lookup)


def fill_site_search(job: SearchJob) -> Filled:
    """All files of a site's search, put into the staged folder; raises as ``fill_search`` and ``plan_site`` do."""
    assert job.site is not None
    wanted = job.lookup
    with _site_before(wanted.before) as previous:
        known = _known(wanted, previous)
        plan = planned(wanted.snapshot, wanted.manifest.snapshot_id(), job.site)
        snapshot = Snapshot(wanted.snapshot, wanted.manifest, None)
        shown = shown_files(plan, snapshot, lambda: known.lookup, previous, wanted.below)
        return _filled(job, previous, chain(known.pages, shown))


def _filled(job: SearchJob, previous: PreviousSite, pages: Iterable[SitePage]) -> Filled:
    stage = Stage(job.staged, previous, replacing=True)
    for page in pages:
        stage.add(page)
    return stage.filled()


def _known(job: LookupJob, previous: PreviousSite) -> _Lookup:
    """The lookup that was made ahead, if that is the one that is wanted; else one made now."""
    known = _ahead.pop() if _ahead else None
    return known if known is not None and known.made_of == _made_of(job, previous) else _made(job, previous)


def _site_before(folder: Path | None) -> AbstractContextManager[PreviousSite]:
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
