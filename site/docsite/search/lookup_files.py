"""The half of a search index that words are looked up in, which needs a snapshot but no site.

So it can be made in another process while the snapshot is still being verified, before there is a site to put
it in.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, chdir, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from ...artifacts.disk.manifest import Manifest
from ...artifacts.store.contents import unverified
from ...artifacts.store.snapshot import Snapshot
from ...pipeline.identity import canonical_json
from ...pipeline.settings.search import Search
from ..incremental.previous import PreviousSite, previous_site
from ..incremental.staging import Filled, StagingFolder
from ..library import SnapshotTables
from ..outline.plan import SitePage
from .files import Files, Half
from .index import FOLDER, make_lookup
from .manifest import Lookup
from .spelling import glossary_of

T = TypeVar("T")
# Below this, a process takes longer to start than it saves.
LEAST_DOCUMENTS = 1_000


@dataclass(frozen=True, slots=True)
class LookupJob:
    """A snapshot, verified or from this very run, how its search ranks, and the previous site's folder, if
    usable.

    ``folders`` are where the snapshot is now, and where it may be moved before the work begins.
    """

    folders: tuple[Path, ...]
    manifest: Manifest
    ranking: Search
    before: Path | None


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
    with _within(job.folders), site_before(job.before) as previous:
        snapshot = unverified(Path(), job.manifest)
        with Files(FOLDER, previous, Half.LOOKUP) as files:
            lookup = make_lookup(snapshot, job.ranking, files)
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
class Made(Generic[T]):
    """Files of a half that another process put into the staged folder, and what the manifest says of them."""

    filled: Filled
    half: T


def on_disk_and_large(snapshot: SnapshotTables) -> Snapshot | None:
    """Return the snapshot if another process can read it and would save more time than it takes to start."""
    is_large = isinstance(snapshot, Snapshot) and snapshot.manifest.counts["documents"] >= LEAST_DOCUMENTS
    return snapshot if is_large and isinstance(snapshot, Snapshot) else None


def taken(stage: StagingFolder, begun: Callable[[], Made[T]]) -> Callable[[], T]:
    """Return the half of an index whose files become the stage's once it is called for."""

    def half() -> T:
        made = begun()
        stage.take(made.filled)
        return made.half

    return half


def site_before(
    folder: Path | None, damaged: frozenset[str] = frozenset()
) -> AbstractContextManager[PreviousSite]:
    """Return the previous site, if it is usable; ``damaged`` is what another process found in it."""
    return nullcontext(PreviousSite()) if folder is None else previous_site(folder, damaged)
