"""From folders to an understood corpus: what is there, what it says, and what had to be left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import pyarrow as pa

from ...artifacts.cache.parse_cache import ParseCache
from ...pipeline.discover import FoundFile, list_files, read_source
from ...pipeline.errors import NoctuleError, RejectedDocument, SourceError
from ...pipeline.identity import doc_id
from ...pipeline.model import Rejection, Source
from ...pipeline.settings.settings import Settings
from ..incremental.groups import Group, decides, group_key, grouped
from ..run.retry import asked_again
from .git_history import with_history
from .parse import Reading


@dataclass(frozen=True, slots=True)
class Listing:
    """Every file to index, in order of document id, every file that was left out, and collections that cannot be listed."""

    files: tuple[FoundFile, ...]
    rejections: tuple[Rejection, ...]
    failures: Mapping[str, NoctuleError]

    def without(self, failures: Mapping[str, NoctuleError]) -> Listing:
        """The same, but for collections that failed otherwise."""
        return Listing(
            tuple(file for file in self.files if file.collection not in failures),
            tuple(each for each in self.rejections if each.collection not in failures),
            {**self.failures, **failures},
        )


@dataclass(frozen=True, slots=True)
class Understanding:
    """What the files say: of each collection the keys of its groups, in order, and what was rejected as they were read.

    ``parsed`` counts the files that a parser read in this run: the others were remembered. ``as_looked``: what it read is
    what had been looked at.
    """

    keys: Mapping[str, tuple[str, ...]]
    losers: tuple[Rejection, ...]
    parsed: int
    as_looked: bool


def list_sources(settings: Settings) -> Listing:
    """The files of every collection; raises ``MissingRoot`` or ``SourceError`` if there is none that can be listed."""
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
        if named.setdefault(_doc_id(file), file) is not file:
            reason = "has the same name as another file once Unicode is normalised"
            rejections.append(Rejection(file.collection, file.path, "quarantined", reason))
    return Listing(tuple(named[name] for name in sorted(named)), tuple(rejections), failures)


def _doc_id(file: FoundFile) -> str:
    return doc_id(file.collection, file.path)


@dataclass(frozen=True, slots=True)
class Looked:
    """Files in groups with the address of each group's content, empty where a file cannot be read.

    ``failures``: collections of which a file is briefly away; no group is theirs.
    """

    groups: tuple[Group, ...]
    keys: tuple[str, ...]
    deciding: Mapping[str, str]
    failures: Mapping[str, NoctuleError]


def look(files: Sequence[FoundFile], settings: Settings) -> Looked:
    """Every file read and hashed, and none parsed."""
    deciding, failures = decides(settings), dict[str, NoctuleError]()
    keys: dict[Group, str] = {}
    for group in grouped(files):
        name = group[0].collection
        try:
            if name not in failures:
                keys[group] = _key(group, settings, deciding)
        except SourceError as error:
            failures[name] = error
    keys = {group: key for group, key in keys.items() if group[0].collection not in failures}
    return Looked(tuple(keys), tuple(keys.values()), deciding, failures)


def understand_all(
    looked: Looked, remembered: ParseCache, reading: Reading, settings: Settings
) -> Understanding:
    """Every file understood: what is remembered of unchanged groups, and the others by the engine's workers."""
    groups: Sequence[Group] = looked.groups
    keys = reading.understand(groups, looked.keys)
    as_looked = tuple(keys) == looked.keys
    losers = _losers(remembered.rows(keys))
    if losers:
        groups = _without(groups, losers)
        again = [_key(group, settings, looked.deciding) for group in groups]
        keys = reading.understand(groups, again)
    return Understanding(_by_collection(remembered, keys), tuple(losers), reading.parsed, as_looked)


def _by_collection(remembered: ParseCache, keys: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The keys of each collection's rows."""
    found: dict[str, list[str]] = {}
    for key, collection in zip(keys, remembered.rows(keys)["collection"].to_pylist(), strict=True):
        found.setdefault(collection, []).append(key)
    return {name: tuple(own) for name, own in found.items()}


def _key(group: Group, settings: Settings, deciding: Mapping[str, str]) -> str:
    """The address of a group, by the bytes on disk; empty where a file cannot be read; raises ``SourceError``."""
    # One after the other: threads that read small files wait for the interpreter's lock, and took three times as long.
    return group_key([seen_source(file, settings) for file in group], deciding)


def seen_source(file: FoundFile, settings: Settings) -> Source | None:
    """The file read and hashed, without its content; nothing where it cannot be read; ``SourceError`` where it is briefly away."""
    try:
        source = asked_again(partial(read_source, file, settings.collections[file.collection]))
        return replace(source, content=b"")
    except RejectedDocument:
        return None  # the worker that reads it says why


def _losers(rows: pa.Table) -> list[Rejection]:
    """The first document at an address keeps it; later ones are quarantined, naming the first."""
    owners: dict[tuple[str, str], str] = {}
    losers = []
    for chunk in rows["linking"].chunks:
        documents = pa.Table.from_struct_array(chunk.flatten()).select(["collection", "url", "path"])
        for collection, url, path in zip(*(column.to_pylist() for column in documents.columns), strict=True):
            owner = owners.setdefault((collection, url), path)
            if owner != path:
                reason = f"has the same address as {owner}: {url}"
                losers.append(Rejection(collection, path, "quarantined", reason))
    return losers


def _without(groups: Sequence[Group], losers: Sequence[Rejection]) -> list[Group]:
    lost = {(loser.collection, loser.path) for loser in losers}
    left = [tuple(f for f in group if (f.collection, f.path) not in lost) for group in groups]
    return [group for group in left if group]
