"""What a large site's words are looked up in, made by another process while this one makes the pages."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from artifacts.snapshot import Snapshot, read_manifest
from docsite.beside import Beside
from docsite.library import SnapshotTables
from docsite.previous import PreviousSite, previous_site
from docsite.search.files import Files, Half
from docsite.search.index import FOLDER, make_lookup
from docsite.search.manifest import Lookup
from docsite.staging import Filled, Stage
from pipeline.model import SnapshotId
from pipeline.search_settings import Search

# Below it a process takes longer to start than it saves.
LEAST_DOCUMENTS = 1_000


@dataclass(frozen=True, slots=True)
class SearchJob:
    """A verified snapshot by its folder, how its search ranks, the folders of the site before, if one counts, and of this,
    and where in it the files go."""

    snapshot: Path
    snapshot_id: SnapshotId
    ranking: Search
    before: Path | None
    staged: Path
    below: str


@dataclass(frozen=True, slots=True)
class Made:
    """The files of a lookup that are in the staged folder now, and what the manifest says of them."""

    filled: Filled
    lookup: Lookup


def begin_lookup(
    snapshot: SnapshotTables, ranking: Search, beside: Beside | None, stage: Stage, below: str = FOLDER
) -> Callable[[], Lookup] | None:
    """What words are looked up in, begun by another process; nothing where none is there, or the site not worth one."""
    if beside is None or not isinstance(snapshot, Snapshot):
        return None
    if snapshot.manifest.counts["documents"] < LEAST_DOCUMENTS:
        return None
    job = SearchJob(snapshot.path, snapshot.id, ranking, stage.previous.path, stage.folder, below)
    made = beside.start(fill_search, job)
    return lambda: _taken(stage, made())


def _taken(stage: Stage, made: Made) -> Lookup:
    stage.take(made.filled)
    return made.lookup


def fill_search(job: SearchJob) -> Made:
    """The files of the lookup, put into the staged folder; raises as ``make_lookup`` and ``Stage.add`` do."""
    manifest = read_manifest(job.snapshot, job.snapshot_id)
    with ExitStack() as open_now:
        snapshot = open_now.enter_context(Snapshot(job.snapshot, manifest, None))
        previous = open_now.enter_context(previous_site(job.before)) if job.before else PreviousSite()
        stage = Stage(job.staged, previous, replacing=True)
        files = open_now.enter_context(Files(job.below, previous, Half.LOOKUP))
        lookup = make_lookup(snapshot, job.ranking, files)
        for page in files.pages():
            stage.add(page)
        return Made(stage.filled(), lookup)
