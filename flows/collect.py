"""From folders to understood batches: what is there, what it says, and what had to be left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from flows.engines import Caller, Engine
from flows.steps import Progress, Steps
from flows.understand import FileBatch, Understood, understand
from flows.workers import WorkerFailed
from pipeline.discover import FoundFile, list_files
from pipeline.identity import doc_id
from pipeline.model import Rejection
from pipeline.settings import Settings

_MIN_BATCH = 32
_MAX_BATCHES = 96
# A whole batch may take the time of one document, and a little for each of the others.
_SECONDS_PER_FILE = 0.5


@dataclass(frozen=True, slots=True)
class Listing:
    """Every file to index, in order of document id, and every file that was left out."""

    files: tuple[FoundFile, ...]
    rejections: tuple[Rejection, ...]


@dataclass(frozen=True, slots=True)
class Understanding:
    """All batches, in order of document id; no two documents of a collection share an address."""

    batches: tuple[Understood, ...]
    rejections: tuple[Rejection, ...]


def list_sources(settings: Settings) -> Listing:
    """The files of every collection; raises ``MissingRoot``."""
    listings = [list_files(name, collection) for name, collection in sorted(settings.collections.items())]
    named: dict[str, FoundFile] = {}
    rejections = [rejection for listing in listings for rejection in listing.rejections]
    for file in (file for listing in listings for file in listing.files):
        if named.setdefault(_doc_id(file), file) is not file:
            reason = "has the same name as another file once Unicode is normalised"
            rejections.append(Rejection(file.collection, file.path, "quarantined", reason))
    return Listing(tuple(named[name] for name in sorted(named)), tuple(rejections))


def _doc_id(file: FoundFile) -> str:
    return doc_id(file.collection, file.path)


def understand_all(
    listing: Listing, settings: Settings, steps: Steps, progress: Progress, engine: Engine
) -> Understanding:
    """Every file read, parsed, chunked and counted by the engine's workers, a batch a task."""
    batches = _batches(listing.files, settings)
    progress.begin("parse", len(listing.files), "documents")
    try:
        with engine.workers(len(batches)) as workers:

            def one(batch: FileBatch) -> list[Understood]:
                parts = _understand_isolated(workers, batch)
                progress.advance(len(batch.files))
                return parts

            parts = steps.map("parse", one, batches, workers.count)
            found, conflicts = _without_conflicts(parts, batches, workers)
    finally:
        progress.end()
    rejections = (*listing.rejections, *(r for batch in found for r in batch.rejections), *conflicts)
    return Understanding(tuple(found), rejections)


def _batches(files: Sequence[FoundFile], settings: Settings) -> list[FileBatch]:
    size = max(_MIN_BATCH, -(-len(files) // _MAX_BATCHES))
    return [FileBatch(tuple(files[at : at + size]), settings) for at in range(0, len(files), size)]


def _understand_isolated(workers: Caller, batch: FileBatch) -> list[Understood]:
    """The batch, understood, in one part or more; a file that hangs or crashes the parser is quarantined."""
    limit = batch.settings.limits.parse_timeout_s
    if not batch.files:
        return []
    try:
        return [workers.call(understand, batch, limit + _SECONDS_PER_FILE * (len(batch.files) - 1))]
    except WorkerFailed as failure:
        if len(batch.files) > 1:
            return [part for half in _halves(batch) for part in _understand_isolated(workers, half)]
        culprit = batch.files[0]
        rejection = Rejection(culprit.collection, culprit.path, "quarantined", str(failure))
        return [replace(understand(replace(batch, files=())), rejections=(rejection,))]


def _halves(batch: FileBatch) -> list[FileBatch]:
    middle = len(batch.files) // 2
    return [replace(batch, files=batch.files[:middle]), replace(batch, files=batch.files[middle:])]


def _without_conflicts(
    found: Sequence[Sequence[Understood]], batches: Sequence[FileBatch], workers: Caller
) -> tuple[list[Understood], list[Rejection]]:
    """The first document at an address keeps it; later ones are quarantined, naming the first."""
    owners: dict[tuple[str, str], str] = {}
    kept: list[Understood] = []
    conflicts: list[Rejection] = []
    for parts, batch in zip(found, batches, strict=True):
        losers = [loser for part in parts for loser in _losers(part, owners)]
        lost = {(r.collection, r.path) for r in losers}
        files = tuple(f for f in batch.files if (f.collection, f.path) not in lost)
        kept.extend(_understand_isolated(workers, replace(batch, files=files)) if losers else parts)
        conflicts.extend(losers)
    return kept, conflicts


def _losers(understood: Understood, owners: dict[tuple[str, str], str]) -> list[Rejection]:
    losers = []
    for document in understood.linking:
        owner = owners.setdefault((document.collection, document.url), document.path)
        if owner != document.path:
            reason = f"has the same address as {owner}: {document.url}"
            losers.append(Rejection(document.collection, document.path, "quarantined", reason))
    return losers
