"""Renders the pages of documents, sharing the work with another process if there are many."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path

import pyarrow as pa

from ...artifacts.store.contents import unverified
from ...artifacts.store.snapshot import Snapshot, read_manifest
from ...pipeline.model import SnapshotId
from ...pipeline.settings.site import Site
from ..background import BackgroundProcess
from ..fingerprints.pages import PageFingerprint
from ..incremental.previous import PreviousSite, Reuse, previous_site
from ..incremental.staging import Filled, StagingFolder
from ..library import SnapshotTables
from ..outline.extent import extent_in
from ..outline.plan import SitePage, SitePlan, plan_site
from .documents import render_page
from .twins import twin_file

# This many at a time take about half a second. Fewer than LEAST_PAGES are not given away, because planning
# the site takes another process a second.
PAGES_AT_A_TIME, LEAST_PAGES = 64, 512


@dataclass(frozen=True, slots=True)
class Wanted:
    """A document's page by its path, and the fingerprints of what it is made from."""

    page: str
    fingerprint: PageFingerprint


@dataclass(frozen=True, slots=True)
class PagesJob:
    """Pages to render from a verified snapshot, with the folders of this site and of the previous one, if
    usable, and what is damaged in that.
    """

    snapshot: Path
    snapshot_id: SnapshotId
    settings: Site
    before: Path | None
    staged: Path
    spill: Path | None
    pages: tuple[Wanted, ...] = ()
    damaged: frozenset[str] = frozenset()


def add_pages(
    plan: SitePlan,
    wanted: Sequence[Wanted],
    snapshot: SnapshotTables,
    stage: StagingFolder,
    background: BackgroundProcess | None,
) -> None:
    """Add the pages, and the markdown beside them; raise ``WriteFailed`` if the disk refuses a write.

    This process takes pages from the front. If there are many, another process, if available, is given some
    from the back whenever it is idle.
    """
    parts = deque(tuple(wanted[at : at + PAGES_AT_A_TIME]) for at in range(0, len(wanted), PAGES_AT_A_TIME))
    give = _giving(plan, snapshot, stage, background) if len(wanted) >= LEAST_PAGES else None
    given: list[Callable[[], Filled]] = []
    while parts:
        for page in _rendered(plan, parts.popleft(), stage.previous):
            stage.add(page)
            if give is not None and parts and give.background.is_idle():
                given.append(give.away(parts.pop()))
    for begun in given:
        stage.take(begun())


@dataclass(frozen=True, slots=True)
class _Giving:
    """Pages for another process; if that dies, this one renders them with the plan it has."""

    plan: SitePlan
    job: PagesJob
    stage: StagingFolder
    background: BackgroundProcess

    def away(self, pages: tuple[Wanted, ...]) -> Callable[[], Filled]:
        again = StagingFolder(self.stage.folder, self.stage.previous, replacing=True)
        here = partial(_written, self.plan, pages, again)
        return self.background.start(write_pages, replace(self.job, pages=pages), here)


def _giving(
    plan: SitePlan, snapshot: SnapshotTables, stage: StagingFolder, background: BackgroundProcess | None
) -> _Giving | None:
    if background is None or not isinstance(snapshot, Snapshot):
        return None
    before = stage.previous
    job = PagesJob(
        snapshot.path,
        snapshot.id,
        plan.settings,
        before.path,
        stage.folder,
        snapshot.spill,
        damaged=before.damaged,
    )
    return _Giving(plan, job, stage, background)


def write_pages(job: PagesJob) -> Filled:
    """Write the job's pages to the staged folder; raise as ``plan_site`` and ``StagingFolder.add`` do."""
    plan = _planned(job.snapshot, job.snapshot_id, job.settings, job.spill)
    before = _before((job.before, job.staged), job.damaged)
    return _written(plan, job.pages, StagingFolder(job.staged, before, replacing=True))


def _written(plan: SitePlan, pages: Sequence[Wanted], stage: StagingFolder) -> Filled:
    for page in _rendered(plan, pages, stage.previous):
        stage.add(page)
    return stage.filled()


def _rendered(plan: SitePlan, wanted: Sequence[Wanted], previous: PreviousSite) -> Iterator[SitePage]:
    reuse = Reuse(previous)
    for each in wanted:
        entry, made_of = plan.by_page[each.page], each.fingerprint.content
        content = previous.content(each.page, made_of) or plan.renderer.render(entry)
        page = render_page(plan, entry, content)
        extent = extent_in(page.content, content, made_of)
        yield replace(page, fingerprint=each.fingerprint.page, extent=extent)
        if twin := plan.twins.get(each.page):
            yield reuse.page(twin, made_of, partial(twin_file, plan, entry))


# For one site only, but for all its parts.
_open_there = ExitStack()


@lru_cache(maxsize=1)
def _planned(snapshot: Path, snapshot_id: SnapshotId, settings: Site, spill: Path | None) -> SitePlan:
    found = unverified(snapshot, read_manifest(snapshot, snapshot_id))
    plan = plan_site(found.outside_memory(spill), settings)
    pa.default_memory_pool().release_unused()
    return plan


@lru_cache(maxsize=1)
def _before(build: tuple[Path | None, Path], damaged: frozenset[str]) -> PreviousSite:
    """Return the previous site for this staged folder's build; close what was open for another."""
    target, _ = build
    _open_there.close()
    return PreviousSite() if target is None else _open_there.enter_context(previous_site(target, damaged))
