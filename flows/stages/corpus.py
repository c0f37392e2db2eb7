"""The corpus that goes into a snapshot: for each collection its files as they are now, or its last good
state.

Collections fail independently: the folder is missing, it is empty, most of its files cannot be used, or it
lost too many documents. The others are built anyway, and a failed one keeps the documents it has in the last
published snapshot.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from ...artifacts.cache.parse_cache import CollectionRecord, ParseCache
from ...artifacts.cache.parsed_corpus import ParsedCorpus, joined
from ...artifacts.store.store import Store
from ...pipeline.errors import ArtifactError, CollectionShrank, EmptyCollection, NoctuleError, SourceError
from ...pipeline.model import ReportEntry, SnapshotId
from ...pipeline.settings.settings import Settings
from ..run.context import RunContext
from ..run.versions import parse_fingerprints
from ..sources.published import documents_before, published_hashes
from .guards import CollectionSize, require_size
from .sources import HashedSources, Listing, ParsedSources, sound


@dataclass(frozen=True, slots=True)
class CorpusRecord:
    """A record of how a corpus was made: what was left out, how to record each collection, and which failed.

    ``failed`` maps a collection to the reason. ``parsed`` counts the files that a parser read in this run.
    ``as_hashed`` is true if the files read were the same as those hashed earlier; a file may change in
    between. ``sizes`` say what became of the files of each collection that was read. ``away`` are those that
    could be listed, but not read to the end.
    """

    rejections: tuple[ReportEntry, ...]
    published: Mapping[str, CollectionRecord]
    failed: Mapping[str, str]
    parsed: int = 0
    as_hashed: bool = False
    sizes: Mapping[str, CollectionSize] = field(default_factory=dict)
    away: Mapping[str, NoctuleError] = field(default_factory=dict)

    def with_assets(self, rejections: Sequence[ReportEntry], *, as_hashed: bool) -> CorpusRecord:
        """Return the record with assets that documents name and that cannot be used, each once.

        Where documents are taken from the current snapshot, it may hold these already.
        """
        published = {
            name: replace(
                each,
                rejections=_once((*each.rejections, *(r for r in rejections if r.collection == name))),
            )
            for name, each in self.published.items()
        }
        return replace(
            self,
            rejections=_once((*self.rejections, *rejections)),
            published=published,
            as_hashed=self.as_hashed and as_hashed,
        )


def _once(rejections: Iterable[ReportEntry]) -> tuple[ReportEntry, ...]:
    return tuple(dict.fromkeys(rejections))


def corpus_to_publish(
    parsed: ParsedSources,
    hashed: HashedSources,
    listing: Listing,
    cache: ParseCache,
    store: Store,
    run: RunContext,
) -> tuple[ParsedCorpus, CorpusRecord]:
    """Return the corpus to publish.

    Raise a collection's own error if all failed, or if a failed one has no earlier documents to keep.
    """
    settings, before = run.settings, documents_before(store)
    sizes = {
        name: _size(name, parsed, listing, cache, before.get(name, {}).keys())
        for name in sound(settings, listing.failures)
    }
    failures = {**listing.failures, **_refused(sizes, before, run)}
    if len(failures) == len(settings.collections):
        raise failures[min(failures)]
    kept = _kept(failures, hashed, cache, store)
    read = {
        name: CollectionRecord(parsed.keys.get(name, ()), hashed.fingerprints[name])
        for name in sound(settings, failures)
    }
    rejected = (*listing.rejections, *parsed.rejections)
    own = [each for each in rejected if each.collection not in failures]
    own += [each for before in kept.values() for each in before.rejections if each.is_left_out]
    own += [failure_note(name, error, kept=bool(kept[name].keys)) for name, error in sorted(failures.items())]
    published = _with_rejections(read | kept, own)
    corpus, record = _corpus(published, cache, failures)
    away = {**hashed.failures, **parsed.away}
    return corpus, replace(record, parsed=parsed.parsed, as_hashed=parsed.as_hashed, sizes=sizes, away=away)


def _refused(
    sizes: Mapping[str, CollectionSize], before: Mapping[str, Mapping[str, str]], run: RunContext
) -> dict[str, NoctuleError]:
    """Return the collections that hold too little or lost too much; of a shard, the set judges these."""
    found: dict[str, NoctuleError] = {}
    for name, size in sizes.items() if not run.shard else ():
        try:
            require_size(run.settings, name, size, len(before.get(name, {})), run.options)
        except (EmptyCollection, CollectionShrank) as error:
            found[name] = error
    return found


def _kept(
    failures: Mapping[str, NoctuleError], hashed: HashedSources, cache: ParseCache, store: Store
) -> dict[str, CollectionRecord]:
    """Return what each failed collection has in the current snapshot; raise its error if it has nothing."""
    known = cache.collections(store.current()) if failures else {}
    return {
        name: known.get(name) or _without_documents(name, store, hashed.fingerprints[name], error)
        for name, error in failures.items()
    }


def _with_rejections(
    published: Mapping[str, CollectionRecord], rejections: Iterable[ReportEntry]
) -> dict[str, CollectionRecord]:
    own: dict[str, list[ReportEntry]] = {name: [] for name in published}
    for each in rejections:
        own[each.collection].append(each)
    return {name: replace(each, rejections=tuple(own[name])) for name, each in published.items()}


def cached_corpus(
    cache: ParseCache, current: SnapshotId | None, settings: Settings
) -> tuple[ParsedCorpus, CorpusRecord]:
    """Return the corpus of the current snapshot without reading its sources; raise ``SourceError``."""
    return _corpus(require_cached(cache, current, settings), cache, {})


def require_cached(
    cache: ParseCache, current: SnapshotId | None, settings: Settings
) -> dict[str, CollectionRecord]:
    """Return the inputs of a run that does not read its sources; raise ``SourceError`` if one is missing."""
    known = cache.collections(current)
    missing = sorted(set(settings.collections) - set(known))
    if missing:
        raise SourceError(
            f"{', '.join(missing)}: not in the parse cache",
            where="--from",
            hint="Run the whole job once: noctule index",
        )
    chosen, fingerprints = {name: known[name] for name in settings.collections}, parse_fingerprints(settings)
    if others := sorted(name for name, each in chosen.items() if each.fingerprint != fingerprints[name]):
        raise SourceError(
            f"{', '.join(others)}: parsed with other settings or by another version",
            where="--from",
            hint="Begin with the files: noctule index --from parse",
        )
    return chosen


def _corpus(
    published: Mapping[str, CollectionRecord], cache: ParseCache, failures: Mapping[str, NoctuleError]
) -> tuple[ParsedCorpus, CorpusRecord]:
    # In the order of document ids, "name:path".
    names = sorted(published, key=lambda name: f"{name}:")
    whole = joined(cache.rows([key for name in names for key in published[name].keys]))
    rejections = [each for name in sorted(published) for each in published[name].rejections]
    failed = {name: str(error) for name, error in sorted(failures.items())}
    return whole, CorpusRecord((*rejections, *whole.rejections), dict(published), failed)


def _size(
    name: str, parsed: ParsedSources, listing: Listing, cache: ParseCache, before: Set[str]
) -> CollectionSize:
    rows = cache.rows(parsed.keys.get(name, ()))
    found = (each for chunk in rows["rejections"].chunks for each in chunk.flatten().to_pylist())
    reasons = [ReportEntry(**each) for each in found]
    reasons += [each for each in parsed.rejections if each.collection == name]
    drafts = {each.path for each in reasons if each.kind == "skipped"}
    return CollectionSize(
        files=sum(file.collection == name for file in listing.files),
        documents=sum(len(chunk.flatten()) for chunk in rows["documents"].chunks),
        drafts=len(drafts),
        unpublished=len(before & drafts),
        first_reason=first_reason(reasons),
    )


def first_reason(rejections: Iterable[ReportEntry]) -> str:
    """Return why the first of these documents was quarantined, if any was."""
    found = (f"{each.path}: {each.reason}" for each in rejections if each.kind == "quarantined")
    return next(found, "")


def _without_documents(name: str, store: Store, fingerprint: str, error: NoctuleError) -> CollectionRecord:
    """Return a failed collection without documents; raise its error if it may have published ones."""
    try:
        lost = bool(published_hashes(store).get(name))
    except ArtifactError:
        lost = True
    if lost:
        raise type(error)(
            f"{error.what}, and its documents in the current snapshot are not in the parse cache",
            where=error.where,
            hint=error.hint,
        ) from error
    return CollectionRecord((), fingerprint)


def failure_note(name: str, error: NoctuleError, *, kept: bool) -> ReportEntry:
    """Return the report's note on a failed collection."""
    what = "its documents are those of the snapshot before" if kept else "it has no documents yet"
    return ReportEntry(name, ".", "noted", f"the collection failed, {what}: {error.what}")
