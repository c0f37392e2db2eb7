"""The search index of a large site, made by another process while this one makes the pages."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from artifacts.snapshot import Snapshot, read_manifest
from docsite.plan import plan_site
from docsite.previous import FileRecord, PreviousSite, previous_site
from docsite.search.index import search_files
from docsite.staging import Stage
from pipeline.model import SnapshotId
from pipeline.search_settings import Search
from pipeline.site_settings import Site

A = TypeVar("A")
T = TypeVar("T")
# Below it a process takes longer to start than it saves.
LEAST_DOCUMENTS = 1_000


class Beside(Protocol):
    """Whoever has work done by another process."""

    def start(self, stage: Callable[[A], T], given: A) -> Callable[[], T]:
        """``stage(given)`` begins; what is returned waits for its result, and raises what it raised."""


@dataclass(frozen=True, slots=True)
class SearchJob:
    """A verified snapshot by its folder, how its site is set, and the folders of the site before, if one counts, and of this."""

    snapshot: Path
    snapshot_id: SnapshotId
    settings: Site
    ranking: Search
    before: Path | None
    staged: Path


@dataclass(frozen=True, slots=True)
class Filled:
    """Files that are in the staged folder now, and how many of them are new."""

    files: tuple[FileRecord, ...]
    written: int


def fill_search(job: SearchJob) -> Filled:
    """Every file below ``_search/``, put into the staged folder; raises as ``search_files`` and ``Stage.add`` do."""
    manifest = read_manifest(job.snapshot, job.snapshot_id)
    with ExitStack() as open_now:
        snapshot = open_now.enter_context(Snapshot(job.snapshot, manifest, None))
        previous = open_now.enter_context(previous_site(job.before)) if job.before else PreviousSite()
        stage = Stage(job.staged, previous)
        plan = plan_site(snapshot, job.settings)
        for page in search_files(plan, snapshot, job.ranking, previous):
            stage.add(page)
        return Filled(tuple(stage.files), stage.written)
