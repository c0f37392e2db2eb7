"""A dry run: sources and the current snapshot are read to say what a run would do; nothing is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from ...artifacts.cache.parse_cache import ParseCache
from ...artifacts.cache.source_hashes import SourceHashes
from ...artifacts.store.run_records import read_runs
from ...artifacts.store.store import Store
from ...pipeline.errors import ArtifactError, CollectionShrank
from ...pipeline.model import ReportEntry
from ...pipeline.settings.settings import Settings
from ...pipeline.source_files import FoundFile
from ..incremental.rebuild_reasons import Rebuild, rebuilds
from ..run.context import BuildOptions, RunContext
from ..run.versions import parse_fingerprints
from ..sources.file_hashes import FileHash, FileHasher
from ..sources.published import documents_before, published_hashes
from ..sources.publishing_rules import rules_of
from ..stages.corpus import require_cached
from ..stages.embedding.encode import EMBED_STAGE
from ..stages.guards import require_unshrunk
from ..stages.parse import PARSE_STAGE
from ..stages.sources import Listing, list_sources, read_in_full
from .history import Estimate, Kind, estimate, past_runs


@dataclass(frozen=True, slots=True)
class CollectionChanges:
    """A collection's files compared with the current snapshot; ``moved`` are unchanged files at another path.

    ``refused`` were quarantined when the current snapshot was made, and are tried again.
    """

    collection: str
    files: int
    new: tuple[str, ...]
    changed: tuple[str, ...]
    moved: tuple[str, ...]
    removed: tuple[str, ...]
    refused: int
    unchanged: int


@dataclass(frozen=True, slots=True)
class DryRun:
    """What a run would read and do.

    ``stopped`` says why a collection would fail, ``reads`` whether source files are read.
    """

    collections: tuple[CollectionChanges, ...]
    bytes: int
    rejections: tuple[ReportEntry, ...]
    rebuilt: tuple[Rebuild, ...]
    texts: int
    time: Estimate | None
    stopped: Mapping[str, str]
    stops: bool = False
    reads: bool = True

    def as_dict(self) -> dict[str, object]:
        """Return it as a JSON object."""
        return asdict(self) | {
            "files": {each.collection: each.files for each in self.collections},
            "rejected": [asdict(each) for each in self.rejections],
            "rebuilt": [str(each) for each in self.rebuilt],
        }


@dataclass(frozen=True, slots=True)
class _Before:
    """The current snapshot: the source hash of each document by its path, and the files it left out."""

    hashes: Mapping[str, Mapping[str, str]]
    refused: Mapping[str, set[str]]
    texts: int
    documents: int


def dry_run(run: RunContext, store: Store) -> DryRun:
    """Return what a run would do; raise ``MissingRoot``, or ``SourceError`` if it cannot begin."""
    settings, options = run.settings, run.options
    if not run.reads_sources:
        return _without_reading(settings, store, options)
    listing = list_sources(settings, rules_of(settings))
    before = _before(store)
    hasher = _hasher(settings, store, options)
    hashes = hasher.hashes(listing.files, lambda file: read_in_full(file, settings))
    listing = listing.without(hasher.failures)
    changes = tuple(
        _changes(name, [file for file in listing.files if file.collection == name], before, hashes)
        for name in sorted(settings.collections)
        if name not in listing.failures
    )
    rebuilt = rebuilds(store, settings)
    texts = _texts(changes, rebuilt, before)
    documents = sum(each.files for each in changes)
    runs = past_runs(read_runs(store.root))
    kind: Kind = "full" if options.start == PARSE_STAGE else _kind(changes, rebuilt, before)
    stopped = _stopped(settings, listing, store, changes, options)
    return DryRun(
        collections=changes,
        bytes=hasher.read_bytes,
        rejections=listing.rejections,
        rebuilt=rebuilt,
        texts=texts,
        time=estimate(runs, kind, documents, texts),
        stopped=stopped,
        stops=len(stopped) == len(settings.collections),
    )


def _hasher(settings: Settings, store: Store, options: BuildOptions) -> FileHasher:
    """Return a hasher that leaves nothing in the store."""
    known, refresh = SourceHashes(store.root), options.start is not None
    return FileHasher(settings, parse_fingerprints(settings), known, refresh, remembers=False)


def _without_reading(settings: Settings, store: Store, options: BuildOptions) -> DryRun:
    """Return what a run that reads no files would do; raise ``SourceError`` if there can be none."""
    require_cached(ParseCache(store.root), store.current(), settings)
    before, runs, refresh = _before(store), past_runs(read_runs(store.root)), options.start == EMBED_STAGE
    texts = before.texts if refresh else 0
    time = estimate(runs, "full" if refresh else "incremental", before.documents, texts)
    return DryRun((), 0, (), rebuilds(store, settings), texts, time, {}, reads=False)


def _before(store: Store) -> _Before:
    try:
        current = store.current()
        if current is None:
            return _Before({}, {}, 0, 0)
        snapshot = store.read_unverified(current)
        refused: dict[str, set[str]] = {}
        for row in snapshot.table("report", ["collection", "path"]).to_pylist():
            refused.setdefault(row["collection"], set()).add(row["path"])
        counts = snapshot.manifest.counts
        return _Before(published_hashes(store), refused, counts.get("vectors", 0), counts.get("documents", 0))
    except ArtifactError:
        return _Before({}, {}, 0, 0)  # what it is that cannot be read is among the reasons to rebuild


def _changes(
    name: str,
    files: Sequence[FoundFile],
    before: _Before,
    hashes: Mapping[FoundFile, FileHash],
) -> CollectionChanges:
    known, refused = before.hashes.get(name, {}), before.refused.get(name, set())
    # One that cannot be read is a change.
    now = {file.path: hashes[file].sha256 for file in files}
    removed = sorted(known.keys() - now.keys())
    gone = {known[path] for path in removed}
    unknown = sorted(path for path in now.keys() - known.keys() if path not in refused)
    moved = [path for path in unknown if now[path] in gone]
    changed = sorted(path for path in now.keys() & known.keys() if now[path] != known[path])
    return CollectionChanges(
        collection=name,
        files=len(files),
        new=tuple(path for path in unknown if now[path] not in gone),
        changed=tuple(changed),
        moved=tuple(moved),
        removed=tuple(path for path in removed if known[path] not in {now[other] for other in moved}),
        refused=len((now.keys() - known.keys()) & refused),
        unchanged=len(now.keys() & known.keys()) - len(changed),
    )


def _texts(changes: Sequence[CollectionChanges], rebuilt: Sequence[Rebuild], before: _Before) -> int:
    """Return an upper bound on the passages to encode: those of documents whose files changed, or all."""
    refresh = any(
        "embed" in each.stages and each.what.startswith(("embed", "model", "chunk")) for each in rebuilt
    )
    documents = sum(each.files if refresh else len(each.new) + len(each.changed) for each in changes)
    per_document = before.texts / before.documents if before.documents else 1.0
    return round(documents * per_document)


def _kind(changes: Sequence[CollectionChanges], rebuilt: Sequence[Rebuild], before: _Before) -> Kind:
    if not before.documents or any("parse" in each.stages or "embed" in each.stages for each in rebuilt):
        return "full"
    quiet = not rebuilt and not any(c.new or c.changed or c.moved or c.removed for c in changes)
    return "unchanged" if quiet else "incremental"


def _stopped(
    settings: Settings,
    listing: Listing,
    store: Store,
    changes: Sequence[CollectionChanges],
    options: BuildOptions,
) -> dict[str, str]:
    """Return for each collection that would fail the reason, as far as it shows without parsing."""
    before = documents_before(store)
    found: dict[str, str] = {name: error.what for name, error in listing.failures.items()}
    for each in changes:
        if not each.files and not options.allow_empty:
            found[each.collection] = "it holds no file that is to be indexed (--allow-empty)"
            continue
        try:
            have, count = len(before.get(each.collection, ())), each.files - each.refused
            require_unshrunk(settings, each.collection, have, count, accept=options.accept_shrink)
        except CollectionShrank as error:
            found[each.collection] = f"{error.what} (--accept-shrink)"
    return dict(sorted(found.items()))
