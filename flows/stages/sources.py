"""The sources of a build: the files found, the hash of each, and the files that had to be left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from ...artifacts.store.store import Store
from ...pipeline.discover import list_files
from ...pipeline.errors import CollectionShrank, NoctuleError, RejectedDocument, SourceError
from ...pipeline.identity import doc_id, sha256_hex
from ...pipeline.includes.source import read_source
from ...pipeline.model import Rejection, Source
from ...pipeline.settings.collection import Collection
from ...pipeline.settings.settings import Settings
from ...pipeline.source_files import FoundFile, read_asset
from ..git_history import with_history
from ..run.context import RunContext
from ..run.retry import asked_again
from ..run.versions import decides
from .groups import Group, group_key, grouped
from .guards import documents_before, require_unshrunk


@dataclass(frozen=True, slots=True)
class Listing:
    """The files to index in order of document id, the files left out, and collections not to be listed.

    ``assets`` are the images, media and attachments that documents may name, in order of collection and path.
    """

    files: tuple[FoundFile, ...]
    rejections: tuple[Rejection, ...]
    failures: Mapping[str, NoctuleError]
    assets: tuple[FoundFile, ...] = ()

    def without(self, failures: Mapping[str, NoctuleError]) -> Listing:
        """Return the listing without the collections that failed for other reasons."""
        return Listing(
            tuple(file for file in self.files if file.collection not in failures),
            tuple(each for each in self.rejections if each.collection not in failures),
            {**self.failures, **failures},
            tuple(file for file in self.assets if file.collection not in failures),
        )


@dataclass(frozen=True, slots=True)
class ParsedSources:
    """The keys of each collection's groups in the parse cache, in order, and the files rejected along the
    way.

    ``parsed`` counts the files that a parser read in this run: the others were in the cache. ``as_hashed`` is
    true if the files parsed were the same as those hashed.
    """

    keys: Mapping[str, tuple[str, ...]]
    losers: tuple[Rejection, ...]
    parsed: int
    as_hashed: bool


def discover(run: RunContext, store: Store) -> Listing | None:
    """List the files of every collection except those that shrank too much.

    List nothing where the run does not read its sources. Raise ``MissingRoot`` or ``SourceError`` if no
    collection can be listed.
    """
    return _without_shrunk(list_sources(run.settings), run, store) if run.reads_sources else None


def hash_sources(run: RunContext, listing: Listing | None) -> HashedSources | None:
    """Read and hash every listed file, and parse none."""
    if listing is None:
        return None
    hashed = hash_files(listing.files, run.settings)
    return _with_assets(hashed, listing.assets, run.settings)


def _without_shrunk(listing: Listing, run: RunContext, store: Store) -> Listing:
    """Return the listing without collections that lost so many files that there is no need to read them."""
    counts = dict.fromkeys(run.settings.collections, 0)
    for file in listing.files:
        counts[file.collection] += 1
    before, failures = documents_before(store), {}
    for name in sound(run.settings, listing.failures):
        try:
            if not run.options.accept_shrink:
                require_unshrunk(run.settings, name, len(before.get(name, ())), counts[name], accept=False)
        except CollectionShrank as error:
            failures[name] = error
    return listing.without(failures)


def sound(settings: Settings, failures: Mapping[str, NoctuleError]) -> list[str]:
    """Return the names of the collections that did not fail, sorted."""
    return [name for name in sorted(settings.collections) if name not in failures]


def list_sources(settings: Settings) -> Listing:
    """List the files of every collection; raise ``MissingRoot`` or ``SourceError`` if none can be listed."""
    listings, failures = [], {}
    for name, collection in sorted(settings.collections.items()):
        try:
            files = asked_again(partial(list_files, name, collection))
            listings.append(with_history(files, name, collection))
        except SourceError as error:
            failures[name] = error
    if failures and not listings:
        raise next(iter(failures.values()))
    named: dict[str, FoundFile] = {}
    rejections = [rejection for listing in listings for rejection in listing.rejections]
    for file in (file for listing in listings for file in listing.files):
        if named.setdefault(doc_id(file.collection, file.path), file) is not file:
            reason = "has the same name as another file once Unicode is normalised"
            rejections.append(Rejection(file.collection, file.path, "quarantined", reason))
    assets = {(file.collection, file.path): file for listing in listings for file in reversed(listing.assets)}
    in_order = tuple(named[name] for name in sorted(named))
    return Listing(in_order, tuple(rejections), failures, tuple(assets[key] for key in sorted(assets)))


@dataclass(frozen=True, slots=True)
class HashedSources:
    """Files in groups with the key of each group's content, empty where a file cannot be read.

    ``failures`` holds collections with a file that is temporarily unavailable; none of the groups or
    ``assets`` is theirs. These have the SHA-256 of each file, or what is known of one that is not read.
    """

    groups: tuple[Group, ...]
    keys: tuple[str, ...]
    deciding: Mapping[str, str]
    failures: Mapping[str, NoctuleError]
    assets: Mapping[FoundFile, str] = field(default_factory=dict)

    def inputs(self) -> Iterator[str]:
        """Yield what stands for every file."""
        yield from self.keys
        for file, known in self.assets.items():
            yield f"{file.collection}\0{file.path}\0{known}"


def _with_assets(hashed: HashedSources, assets: Sequence[FoundFile], settings: Settings) -> HashedSources:
    """Return the same with the hash of every asset; a collection fails with one that is briefly away."""
    failures, known = dict(hashed.failures), dict[FoundFile, str]()
    for file in assets:
        try:
            if file.collection not in failures:
                known[file] = asset_hash(file, settings.collections[file.collection])
        except SourceError as error:
            failures[file.collection] = error
    lost = failures.keys() - hashed.failures.keys()
    kept = [at for at, group in enumerate(hashed.groups) if group[0].collection not in lost]
    return replace(
        hashed,
        groups=tuple(hashed.groups[at] for at in kept),
        keys=tuple(hashed.keys[at] for at in kept),
        failures=failures,
        assets={file: digest for file, digest in known.items() if file.collection not in failures},
    )


def asset_hash(file: FoundFile, collection: Collection) -> str:
    """Return the file's SHA-256; its size or the reason where it cannot be used, whatever its content."""
    if file.size > collection.max_asset_bytes:
        return str(file.size)
    try:
        return sha256_hex(asked_again(partial(read_asset, file, collection)))
    except RejectedDocument as error:
        return error.what


def hash_files(files: Sequence[FoundFile], settings: Settings) -> HashedSources:
    """Read and hash every file, and parse none."""
    deciding, failures = decides(settings), dict[str, NoctuleError]()
    keys: dict[Group, str] = {}
    for group in grouped(files):
        name = group[0].collection
        try:
            if name not in failures:
                keys[group] = key_of_group(group, settings, deciding)
        except SourceError as error:
            failures[name] = error
    keys = {group: key for group, key in keys.items() if group[0].collection not in failures}
    return HashedSources(tuple(keys), tuple(keys.values()), deciding, failures)


def key_of_group(group: Group, settings: Settings, deciding: Mapping[str, str]) -> str:
    """Return a group's key from the bytes on disk, empty if one cannot be read; raise ``SourceError``."""
    # One after the other: threads that read small files wait for the interpreter's lock, and took three times
    # as long.
    return group_key([seen_source(file, settings) for file in group], deciding)


def seen_source(file: FoundFile, settings: Settings) -> Source | None:
    """Read and hash a file and drop its content; return ``None`` if it cannot be read.

    Raise ``SourceError`` if it is temporarily unavailable.
    """
    try:
        source = asked_again(partial(read_source, file, settings.collections[file.collection]))
        return replace(source, content=b"")
    except RejectedDocument:
        return None  # the worker that reads it says why
