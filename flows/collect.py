"""From folders to an understood corpus: what is there, what it says, and what had to be left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import pyarrow as pa

from artifacts.remembered import Remembered
from artifacts.store import Store
from artifacts.understood import Understood, joined
from flows.engines import Engine
from flows.git_history import with_history
from flows.groups import Group, decides, group_key, grouped
from flows.reading import Reading
from flows.steps import Progress, Steps
from flows.understand import FileBatch
from pipeline.discover import FoundFile, list_files, read_source
from pipeline.embed import available_cores
from pipeline.errors import RejectedDocument
from pipeline.identity import doc_id
from pipeline.model import Rejection, Source
from pipeline.settings import Settings


@dataclass(frozen=True, slots=True)
class Listing:
    """Every file to index, in order of document id, and every file that was left out."""

    files: tuple[FoundFile, ...]
    rejections: tuple[Rejection, ...]


@dataclass(frozen=True, slots=True)
class Understanding:
    """The whole corpus in order of document id; no two documents of a collection share an address.

    ``keys`` are the addresses of its groups, ``files`` how many files there are and ``parsed`` how many of them were read by
    a parser in this run: the others were remembered.
    """

    whole: Understood
    rejections: tuple[Rejection, ...]
    keys: tuple[str, ...]
    files: int
    parsed: int


def list_sources(settings: Settings) -> Listing:
    """The files of every collection; raises ``MissingRoot``, or ``SourceError`` where git cannot tell."""
    listings = [
        with_history(list_files(name, collection), name, collection)
        for name, collection in sorted(settings.collections.items())
    ]
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
    listing: Listing, settings: Settings, store: Store, steps: Steps, progress: Progress, engine: Engine
) -> Understanding:
    """Every file understood: what is remembered of unchanged groups, and the others by the engine's workers."""
    deciding = decides(settings)
    groups = grouped(listing.files)
    remembered = steps.run("remember", lambda: Remembered(store.root))
    keys = steps.run("look", lambda: _keys(groups, settings, deciding))
    reading = Reading(remembered, FileBatch((), settings, deciding), engine, steps, progress)
    names = reading.understand(groups, keys)
    losers = _losers(remembered.rows(names))
    if losers:
        groups = _without(groups, losers)
        names = reading.understand(groups, _keys(groups, settings, deciding))
    whole = joined(remembered.rows(names))
    rejections = (*listing.rejections, *whole.rejections, *losers)
    return Understanding(whole, rejections, tuple(names), len(listing.files), reading.parsed)


def _keys(groups: Sequence[Group], settings: Settings, deciding: Mapping[str, str]) -> list[str]:
    """The address of each group, by the bytes on disk; empty where a file cannot be read."""

    def key(group: Group) -> str:
        return group_key([_source(file, settings) for file in group], deciding)

    with ThreadPoolExecutor(available_cores()) as pool:
        return list(pool.map(key, groups))


def _source(file: FoundFile, settings: Settings) -> Source | None:
    try:
        return replace(read_source(file, settings.collections[file.collection]), content=b"")
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
