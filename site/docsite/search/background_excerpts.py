"""The part of a large site's index that hits are shown from, made in another process during rendering."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...artifacts.disk.manifest import Manifest
from ...artifacts.store.contents import unverified
from ..background import BackgroundProcess
from ..incremental.staging import StagingFolder
from ..library import SnapshotTables
from ..outline.plan import SitePlan
from .excerpts import Card, cards
from .facets import facets
from .files import Files, Half
from .index import FOLDER, make_shown
from .lookup_files import Made, on_disk_and_large, site_before, taken
from .manifest import Shown


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
    large = on_disk_and_large(snapshot)
    if background is None or large is None:
        return None
    job = ShownJob(
        large.path,
        large.manifest,
        cards(plan),
        facets(plan),
        stage.previous.path,
        stage.folder,
        below,
        stage.previous.damaged,
    )
    return taken(stage, background.start(fill_shown, job, waits=False))


def fill_shown(job: ShownJob) -> Made[Shown]:
    """Put the files into the staged folder; raise as ``make_shown`` and ``StagingFolder.add`` do."""
    snapshot = unverified(job.snapshot, job.manifest)
    with site_before(job.before, job.damaged) as previous, Files(job.below, previous, Half.SHOWN) as files:
        stage = StagingFolder(job.staged, previous, replacing=True)
        shown = make_shown(job.documents, job.filters, snapshot, files)
        for page in files.pages():
            stage.add(page)
        return Made(stage.filled(), shown)
