"""Halves of a search index that are made in another process.

The half that words are looked up in needs a snapshot but no site: it can be made while the snapshot is still
being verified, before there is a site to put it in. The half that hits are shown from is made while pages are
rendered.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, chdir, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...artifacts.disk.manifest import Manifest
from ...artifacts.store.contents import unverified
from ...artifacts.store.snapshot import Snapshot
from ...pipeline.identity import canonical_json
from ...pipeline.settings.search import Search
from ..background import BackgroundProcess
from ..incremental.previous import PreviousSite, previous_site
from ..incremental.search_changes import kept_base
from ..incremental.staging import Filled, StagingFolder
from ..library import SnapshotTables
from ..outline.plan import SitePage, SitePlan
from .excerpts import Card, cards
from .facets import facets
from .files import Files, Half
from .index import FOLDER, make_lookup, make_shown
from .manifest import Lookup, Shown
from .spelling import glossary_of

# Below this, a process takes longer to start than it saves.
LEAST_DOCUMENTS = 1_000


@dataclass(frozen=True, slots=True)
class LookupJob:
    """A snapshot, verified or from this very run, how its search ranks, and the previous site's folder, if
    usable.

    ``folders`` are where the snapshot is now, and where it may be moved before the work begins; ``store`` has
    those before it.
    """

    folders: tuple[Path, ...]
    manifest: Manifest
    ranking: Search
    before: Path | None
    store: Path | None = None


@dataclass(frozen=True, slots=True)
class LookupFiles:
    """All files of a lookup with the manifest's part, what they were made from, and the site they go with."""

    made_of: tuple[Any, ...]
    pages: tuple[SitePage, ...]
    lookup: Lookup

    def ready(self) -> Lookup:
        """Return the manifest's part."""
        return self.lookup

    def is_for(self, snapshot: SnapshotTables, ranking: Search, previous: PreviousSite) -> bool:
        """Return whether this site would get these files, and what was kept of the previous site is
        unchanged.
        """
        kept = (page for page in self.pages if page.kept)
        return self.made_of == _made_of(snapshot.id, ranking, previous) and all(
            previous.has(page.path, page.fingerprint) for page in kept
        )


def make_lookup_files(job: LookupJob) -> LookupFiles:
    """Return the files of the lookup; raise as ``make_lookup`` does.

    The snapshot's folder may be moved in the meantime.
    """
    store = job.store and job.store.absolute()  # before another folder is entered
    with _within(job.folders), _site_before(job.before) as previous:
        snapshot = unverified(Path(), job.manifest).outside_memory(store)
        with (
            kept_base(store, previous, snapshot) as base,
            Files(FOLDER, previous, Half.LOOKUP, snapshot.spill) as files,
        ):
            lookup = make_lookup(snapshot, job.ranking, files, base)
            made_of = _made_of(job.manifest.snapshot_id(), job.ranking, previous)
            return LookupFiles(made_of, tuple(files.pages()), lookup)


def _within(folders: tuple[Path, ...]) -> AbstractContextManager[None]:
    """Enter the first of the folders that exists."""
    for folder in folders[:-1]:
        if folder.is_dir():
            return chdir(folder)
    return chdir(folders[-1])


def _made_of(snapshot_id: str, ranking: Search, previous: PreviousSite) -> tuple[Any, ...]:
    """Return what stands for the snapshot, the ranking, its glossary, and the site files were kept from."""
    site = None
    if previous.folder is not None:
        found = os.fstat(previous.folder)
        site = (found.st_dev, found.st_ino, previous.written)
    return (snapshot_id, ranking, canonical_json(glossary_of(ranking)), site)


@dataclass(frozen=True, slots=True)
class ShownJob:
    """A verified snapshot, what a site's plan says of its documents, and the folders of this and the previous
    site.
    """

    snapshot: Path
    manifest: Manifest
    documents: Sequence[Card]
    filters: Sequence[bytes]
    before: Path | None
    staged: Path
    spill: Path | None
    below: str
    damaged: frozenset[str] = frozenset()


def begin_shown(
    plan: SitePlan,
    snapshot: SnapshotTables,
    background: BackgroundProcess | None,
    stage: StagingFolder,
    below: str = FOLDER,
) -> Callable[[], Shown] | None:
    """Start making what hits are shown from in another process, if available and worthwhile."""
    if background is None or not isinstance(snapshot, Snapshot) or not _is_large(snapshot):
        return None
    job = ShownJob(
        snapshot.path,
        snapshot.manifest,
        cards(plan),
        facets(plan),
        stage.previous.path,
        stage.folder,
        snapshot.spill,
        below,
        stage.previous.damaged,
    )
    made = background.start(fill_shown, job, waits=False)

    def shown() -> Shown:
        filled, half = made()
        stage.take(filled)
        return half

    return shown


def _is_large(snapshot: Snapshot) -> bool:
    return snapshot.manifest.counts["documents"] >= LEAST_DOCUMENTS


def fill_shown(job: ShownJob) -> tuple[Filled, Shown]:
    """Put the files into the staged folder; raise as ``make_shown`` and ``StagingFolder.add`` do."""
    snapshot = unverified(job.snapshot, job.manifest).outside_memory(job.spill)
    with (
        _site_before(job.before, job.damaged) as previous,
        Files(job.below, previous, Half.SHOWN, snapshot.spill) as files,
    ):
        stage = StagingFolder(job.staged, previous, replacing=True)
        shown = make_shown(job.documents, job.filters, snapshot, files)
        for page in files.pages():
            stage.add(page)
        return stage.filled(), shown


def _site_before(
    folder: Path | None, damaged: frozenset[str] = frozenset()
) -> AbstractContextManager[PreviousSite]:
    """Return the previous site, if it is usable; ``damaged`` is what another process found in it."""
    return nullcontext(PreviousSite()) if folder is None else previous_site(folder, damaged)
