"""The sources of a build: the files found, the hash of each, and the files that had to be left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial

from ...artifacts.cache.source_hashes import SourceHashes
from ...artifacts.store.store import Store
from ...pipeline.assets.embedded_images import image_place
from ...pipeline.discover import list_files
from ...pipeline.discover.selection import still_selected
from ...pipeline.errors import (
    CollectionShrank,
    NoctuleError,
    RejectedDocument,
    SourceError,
    SourceUnavailable,
)
from ...pipeline.filesystems.opening import is_address
from ...pipeline.identity import doc_id
from ...pipeline.includes.source import read_source
from ...pipeline.model import ReportEntry, Source
from ...pipeline.settings.settings import Settings
from ...pipeline.source_files import FoundFile, read_asset
from ..run.context import RunContext
from ..run.retry import with_retries
from ..run.versions import parse_fingerprints
from ..sources.file_hashes import FileHash, FileHasher, require_complete
from ..sources.git_history import with_history
from ..sources.page_titles import with_titles
from ..sources.published import document_counts, documents_before, published_assets
from ..sources.publishing_rules import Rules, rules_of
from .groups import Group, group_key, grouped
from .guards import require_unshrunk

# A shard whose passages are encoded again hashes its files too, and need not read those that it knows.
_READING = frozenset({"discover", "hash", "parse"})


@dataclass(frozen=True, slots=True)
class Listing:
    """The files to index in order of document id, the files left out, and collections not to be listed.

    ``assets`` are the images, media and attachments that documents may name, in order of collection and path.
    ``rules`` are what other tools' settings say of publishing: read once, as the files may change in a run.
    """

    files: tuple[FoundFile, ...]
    rejections: tuple[ReportEntry, ...]
    failures: Mapping[str, NoctuleError]
    rules: Rules
    assets: tuple[FoundFile, ...] = ()

    def without(self, failures: Mapping[str, NoctuleError]) -> Listing:
        """Return the listing without the collections that failed for other reasons."""
        return Listing(
            tuple(file for file in self.files if file.collection not in failures),
            tuple(each for each in self.rejections if each.collection not in failures),
            {**self.failures, **failures},
            self.rules,
            tuple(file for file in self.assets if file.collection not in failures),
        )


@dataclass(frozen=True, slots=True)
class ParsedSources:
    """The keys of each collection's groups in the parse cache, in order, and the files rejected along the
    way.

    ``away`` are the collections whose rules of publishing cannot be read any more. ``parsed`` counts the
    files that a parser read in this run: the others were in the cache. ``as_hashed`` is true if the files
    parsed were the same as those hashed, and none is away.
    """

    keys: Mapping[str, tuple[str, ...]]
    rejections: tuple[ReportEntry, ...]
    away: Mapping[str, NoctuleError]
    parsed: int
    as_hashed: bool


def discover(run: RunContext, store: Store) -> Listing | None:
    """List the files of every collection except those that are doubtful.

    These shrank too much, were not listed to the end, or have rules of publishing that cannot be read for the
    moment. List nothing where the run does not read its sources. Raise ``MissingRoot`` or ``SourceError`` if
    no collection can be listed.
    """
    return discover_under(rules_of(run.settings), run, store) if run.reads_sources else None


def discover_under(rules: Rules, run: RunContext, store: Store) -> Listing:
    """Return the same for rules of publishing that were read before."""
    return _without_doubtful(list_sources(run.settings, rules), run, store)


def hash_sources(run: RunContext, listing: Listing | None, store: Store) -> HashedSources | None:
    """Read and hash every listed file, unless the content of its version is known; parse none.

    A run that begins at a stage which reads files reads everything.
    """
    if listing is None:
        return None
    refresh = run.options.start in _READING
    hasher = FileHasher(run.settings, parse_fingerprints(run.settings), SourceHashes(store.root), refresh)
    hashed = hash_files(listing.files, run.settings, hasher)
    hashed = _with_assets(hashed, listing.assets, run.settings, hasher)
    hasher.tidy()
    return replace(hashed, is_proved=not hasher.unproved)


def _without_doubtful(listing: Listing, run: RunContext, store: Store) -> Listing:
    """Return the listing without collections that lost so many files that there is no need to read them.

    What an address does not list any more is asked for by name: it may not have listed everything.
    """
    paths: dict[str, set[str]] = {name: set() for name in run.settings.collections}
    for file in listing.files:
        paths[file.collection].add(file.path)
    counts, failures = document_counts(store), dict[str, NoctuleError]()
    collections = {name: run.settings.collections[name] for name in sound(run.settings, listing.failures)}
    remote = any(is_address(each.root) for each in collections.values())
    before = documents_before(store) if remote else {}
    for name, own in collections.items():
        try:
            if not run.options.accept_shrink:
                require_unshrunk(run.settings, name, counts[name], len(paths[name]), accept=False)
            if is_address(own.root):
                gone = _gone(name, listing, before.get(name, {}).keys() - paths[name], store)
                with_retries(partial(require_complete, own.root, still_selected(own, *gone)))
        except (CollectionShrank, SourceError) as error:
            failures[name] = error
    return listing.without(failures)


def _gone(name: str, listing: Listing, documents: Set[str], store: Store) -> tuple[set[str], set[str]]:
    """Return which of the documents, and which assets, were published and are neither listed nor left out."""
    left_out = {each.path for each in listing.rejections if each.collection == name}
    listed = {file.path for file in listing.assets if file.collection == name}
    gone = published_assets(store, {name}).get(name, set()) - listed
    return set(documents) - left_out, {path for path in gone if image_place(path) is None}


def sound(settings: Settings, failures: Mapping[str, NoctuleError]) -> list[str]:
    """Return the names of the collections that did not fail, sorted."""
    return [name for name in sorted(settings.collections) if name not in failures]


def list_sources(settings: Settings, rules: Rules) -> Listing:
    """List the files of every collection but those of which the ``rules``, read before, are not known.

    Raise ``MissingRoot`` or ``SourceError`` if none can be listed.
    """
    listings, failures = [], {}
    for name, collection in sorted(settings.collections.items()):
        try:
            files = with_retries(partial(list_files, name, collection))
            listings.append(with_titles(with_history(files, name, collection), name, settings))
        except SourceError as error:
            failures[name] = error
    if failures and not listings:
        raise next(iter(failures.values()))
    named: dict[str, FoundFile] = {}
    rejections = [rejection for listing in listings for rejection in listing.rejections]
    for file in (file for listing in listings for file in listing.files):
        if named.setdefault(doc_id(file.collection, file.path), file) is not file:
            reason = "has the same name as another file once Unicode is normalised"
            rejections.append(ReportEntry(file.collection, file.path, "quarantined", reason))
    assets = {(file.collection, file.path): file for listing in listings for file in reversed(listing.assets)}
    in_order = tuple(named[name] for name in sorted(named))
    shown = tuple(assets[key] for key in sorted(assets))
    listing = Listing(in_order, tuple(rejections), failures, rules, shown)
    return listing.without(_not_known(listing, settings))


def _not_known(listing: Listing, settings: Settings) -> dict[str, NoctuleError]:
    """Return the collections whose rules of publishing are away, or came after these were looked for."""
    found: dict[str, NoctuleError] = {name: rule.away for name, rule in listing.rules if rule.away}
    # What is made of packages or of sidebars lies elsewhere.
    in_folders = {file.collection for file in listing.files if not (file.module or file.category)}
    for name in in_folders & {name for name, rule in listing.rules if rule.is_empty}:
        found[name] = SourceUnavailable(
            "the folder was empty when the run began, so it is not known which documents are private",
            where=f"{settings.collections[name].root} (collection {name})",
            hint="Is the disk mounted? Run it again.",
        )
    return {name: error for name, error in found.items() if name not in listing.failures}


@dataclass(frozen=True, slots=True)
class HashedSources:
    """Files in groups with the key of each group's content, empty where a file cannot be read.

    ``failures`` holds collections with a file that is temporarily unavailable; none of the groups or
    ``assets`` is theirs. These have the SHA-256 of each file, or what is known of one that is not read.
    ``documents`` are the hashes of the others. ``is_proved`` says that all is as it was hashed as long as the
    listing, with its versions, is the same.
    """

    groups: tuple[Group, ...]
    keys: tuple[str, ...]
    fingerprints: Mapping[str, str]
    failures: Mapping[str, NoctuleError]
    assets: Mapping[FoundFile, str] = field(default_factory=dict)
    documents: Mapping[FoundFile, FileHash] = field(default_factory=dict)
    is_proved: bool = False

    def inputs(self) -> Iterator[str]:
        """Yield what stands for every file."""
        yield from self.keys
        for file, known in self.assets.items():
            yield f"{file.collection}\0{file.path}\0{known}"


def _with_assets(
    hashed: HashedSources, assets: Sequence[FoundFile], settings: Settings, hasher: FileHasher
) -> HashedSources:
    """Return the same with the hash of every asset; a collection fails with one that is briefly away."""
    small = [file for file in assets if file.size <= settings.collections[file.collection].max_asset_bytes]
    seen = hasher.hashes(small, lambda file: _asset(file, settings))
    failures = {**hashed.failures, **hasher.failures}
    lost = failures.keys() - hashed.failures.keys()
    kept = [at for at, group in enumerate(hashed.groups) if group[0].collection not in lost]
    known = {file: str(file.size) for file in assets}
    known |= {file: found.sha256 or found.reason for file, found in seen.items()}
    return replace(
        hashed,
        groups=tuple(hashed.groups[at] for at in kept),
        keys=tuple(hashed.keys[at] for at in kept),
        failures=failures,
        assets={file: digest for file, digest in known.items() if file.collection not in failures},
    )


def _asset(file: FoundFile, settings: Settings) -> Source:
    return with_retries(partial(read_asset, file, settings.collections[file.collection]))


def asset_hash(file: FoundFile, settings: Settings) -> str:
    """Return the file's SHA-256; its size or the reason where it cannot be used, whatever its content."""
    if file.size > settings.collections[file.collection].max_asset_bytes:
        return str(file.size)
    try:
        return _asset(file, settings).sha256
    except RejectedDocument as error:
        return error.what


def hash_files(files: Sequence[FoundFile], settings: Settings, hasher: FileHasher) -> HashedSources:
    """Hash every file, and parse none."""
    found = hasher.hashes(files, lambda file: read_in_full(file, settings))
    failures = dict(hasher.failures)
    groups = [group for group in grouped(files) if group[0].collection not in failures]
    keys = [key_of_group(group, settings, hasher.fingerprints, found) for group in groups]
    return HashedSources(tuple(groups), tuple(keys), hasher.fingerprints, failures, documents=found)


def key_of_group(
    group: Group, settings: Settings, fingerprints: Mapping[str, str], known: Mapping[FoundFile, FileHash]
) -> str:
    """Return a group's key, empty if a file cannot be read; raise ``SourceError``.

    Files whose hash is not ``known`` are read.
    """
    found = [known[file].of(file) if file in known else seen_source(file, settings) for file in group]
    return group_key(found, fingerprints)


def seen_source(file: FoundFile, settings: Settings) -> Source | None:
    """Read and hash a file and drop its content; return ``None`` if it cannot be read.

    Raise ``SourceError`` if it is temporarily unavailable.
    """
    try:
        return replace(read_in_full(file, settings), content=b"")
    except RejectedDocument:
        return None  # the worker that reads it says why


def read_in_full(file: FoundFile, settings: Settings) -> Source:
    """Return a file with what it includes; raise as ``noctule.pipeline.includes.source.read_source`` does."""
    return with_retries(partial(read_source, file, settings.collections[file.collection]))
