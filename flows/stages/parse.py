"""The ``parse`` stage: documents come from the parse cache, and the rest from an engine's workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from threading import Lock
from uuid import uuid4

import pyarrow as pa

from ...artifacts.cache.parse_cache import SEGMENT_BYTES, ParseCache
from ...artifacts.cache.parsed_corpus import GROUPS, ParsedCorpus
from ...artifacts.store.store import Store
from ...pipeline.address import index_order
from ...pipeline.errors import EngineUnavailable
from ...pipeline.model import ReportEntry
from ..engines import Caller, Engine
from ..run.context import Resources, RunContext
from ..run.memory import release_memory
from ..run.workers import WorkerFailed, WorkStep
from ..sources.publication_dates import today
from ..sources.publishing_rules import Rules, rules_then_and_now
from ..sources.withheld import withheld
from .corpus import CorpusRecord, cached_corpus, corpus_to_publish
from .embedding.encode import Encoding
from .groups import Group
from .parse_batch import FileBatch, ParseVerdict, parse_files
from .sources import HashedSources, Listing, ParsedSources, key_of_group

PARSE_STAGE = "parse"
_MIN_FILES = 32
_MAX_BATCHES = 96
# So many leave as much free memory behind as their documents take.
_MANY_FILES = 1_000


def parse_sources(
    run: RunContext,
    store: Store,
    engine: Engine,
    resources: Resources,
    encoding: Encoding,
    listing: Listing | None,
    hashed: HashedSources | None,
) -> tuple[ParsedCorpus, ParsedCorpus, CorpusRecord, ParseCache]:
    """Return the corpus with and without counted terms, how it was made, and the parse cache.

    Where the run does not read its sources, the corpus is that of the current snapshot. Raise a collection's
    own error if there is nothing to publish.
    """
    cache = ParseCache(run.store)
    if listing is None or hashed is None:
        parsed, record = cached_corpus(cache, store.current(), run.settings)
    else:
        batch = FileBatch((), run.settings, hashed.fingerprints)
        parser = Parser(cache, batch, engine, resources, refresh=run.options.start == PARSE_STAGE)
        engine.prepare(encoding.encoder, sum(map(len, parser.missing(hashed.groups, hashed.keys))))
        sources = _parse_all(hashed, listing.rules, cache, parser, run)
        available = listing.without({**hashed.failures, **sources.away})
        parsed, record = corpus_to_publish(sources, hashed, available, cache, store, run)
    cache.release()
    parsed = parsed.outside_memory(run.store)
    if record.parsed > _MANY_FILES:
        release_memory()
    return parsed, parsed.without_counts(), record, cache


def _parse_all(
    hashed: HashedSources, rules: Rules, cache: ParseCache, parser: Parser, run: RunContext
) -> ParsedSources:
    """Parse the changed files, and return where every file is in the cache."""
    groups: Sequence[Group] = hashed.groups
    settings = run.settings
    keys = parser.parse(groups, hashed.keys)
    as_hashed = tuple(keys) == hashed.keys
    rows = cache.rows(keys)
    names = set(rows["collection"].unique().to_pylist())
    rules = rules_then_and_now(rules, settings, names)
    away = {name: rule.away for name, rule in rules if rule.away is not None and name in names}
    known = tuple((name, rule) for name, rule in rules if name not in away)
    # What a category lists may be in other shards.
    files = [file for group in groups for file in group] if not run.shard else []
    rejections = [*_address_conflicts(rows), *withheld(rows, files, settings, known, today())]
    if any(each.is_left_out for each in rejections):
        groups = _without(groups, [each for each in rejections if each.is_left_out])
        again = [key_of_group(group, settings, hashed.fingerprints, hashed.documents) for group in groups]
        keys = parser.parse(groups, again)
    as_hashed &= not away
    return ParsedSources(_by_collection(cache, keys), tuple(rejections), away, parser.parsed, as_hashed)


def _by_collection(cache: ParseCache, keys: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the keys of each collection's rows."""
    found: dict[str, list[str]] = {}
    for key, collection in zip(keys, cache.rows(keys)["collection"].to_pylist(), strict=True):
        found.setdefault(collection, []).append(key)
    return {name: tuple(own) for name, own in found.items()}


def _address_conflicts(rows: pa.Table) -> list[ReportEntry]:
    """Return the documents whose address goes to another one: they are quarantined, naming it."""
    owners: dict[tuple[str, str], str] = {}
    contested: dict[tuple[str, str], list[str]] = {}
    for chunk in rows["linking"].chunks:
        documents = pa.Table.from_struct_array(chunk.flatten()).select(["collection", "url", "path"])
        for collection, url, path in zip(*(column.to_pylist() for column in documents.columns), strict=True):
            owner = owners.setdefault((collection, url), path)
            if owner != path:
                contested.setdefault((collection, url), [owner]).append(path)
    return [
        ReportEntry(collection, path, "quarantined", same_address(owner, url))
        for (collection, url), paths in contested.items()
        for owner, *others in [sorted(paths, key=index_order)]
        for path in others
    ]


def same_address(owner: str, url: str) -> str:
    """Return why a document is quarantined whose address another has."""
    return f"has the same address as {owner}: {url}"


def _without(groups: Sequence[Group], rejections: Sequence[ReportEntry]) -> list[Group]:
    lost = {(each.collection, each.path) for each in rejections}
    left = [tuple(f for f in group if (f.collection, f.path) not in lost) for group in groups]
    return [group for group in left if group]


class Parser:
    """A parser that puts groups of files into the parse cache; ``parsed`` counts the files parsed."""

    def __init__(
        self, cache: ParseCache, batch: FileBatch, engine: Engine, resources: Resources, *, refresh: bool
    ) -> None:
        self.parsed = 0
        self._refresh = refresh
        self._waiting: list[pa.Table] = []
        self._keeping = Lock()
        self._cache, self._like, self._engine, self._resources = cache, batch, engine, resources

    def missing(self, groups: Sequence[Group], keys: Sequence[str]) -> list[Group]:
        """Return the groups that have to be parsed."""
        return [group for group, key in zip(groups, keys, strict=True) if not self._knows(key)]

    def _knows(self, key: str) -> bool:
        return key in self._cache and not self._refresh

    def parse(self, groups: Sequence[Group], keys: Sequence[str]) -> list[str]:
        """Parse the groups that are not in the cache; return the cache keys of all groups, in order."""
        known = {key for key in keys if self._knows(key)}
        missing = self.missing(groups, keys)
        found = iter(self._parse(missing) if missing else ())
        return [key if key in known else next(found) for key in keys]

    def _parse(self, groups: Sequence[Group]) -> list[str]:
        """Return the key of each group."""
        batches = _batches(groups, self._like)
        self._resources.progress.begin(PARSE_STAGE, sum(map(len, groups)), "documents")
        try:
            with self._engine.workers(len(batches)) as workers:

                def one(batch: FileBatch) -> list[str]:
                    rows = isolated(workers, batch)
                    self._resources.progress.advance(batch.files)
                    return self._kept(rows)

                parts = self._resources.driver.map(PARSE_STAGE, one, batches, workers.count)
                self._write()
        finally:
            self._resources.progress.end()
        self.parsed += sum(map(len, groups))
        return [key for keys in parts for key in keys]

    def _kept(self, rows: pa.Table) -> list[str]:
        """Keep the rows, on disk as soon as there are enough for a segment; return their keys."""
        # A group that could not be read in full is found by this run, and by no other's content.
        keys = [key or f"~{uuid4().hex}" for key in rows["key"].to_pylist()]
        with self._keeping:
            self._waiting.append(rows.set_column(0, GROUPS.field("key"), pa.array(keys, pa.string())))
            if sum(each.nbytes for each in self._waiting) >= SEGMENT_BYTES:
                self._write()
        return keys

    def _write(self) -> None:
        self._cache.add(pa.concat_tables([GROUPS.empty_table(), *self._waiting]))
        self._waiting.clear()


def _batches(groups: Sequence[Group], like: FileBatch) -> list[FileBatch]:
    """Cut the groups into batches of about as many files each."""
    size = max(_MIN_FILES, -(-sum(map(len, groups)) // _MAX_BATCHES))
    batches: list[list[Group]] = [[]]
    for group in groups:
        if sum(map(len, batches[-1])) >= size:
            batches.append([])
        batches[-1].append(group)
    return [replace(like, groups=tuple(batch)) for batch in batches]


def isolated(workers: Caller, batch: FileBatch) -> pa.Table:
    """Return the rows of the batch's groups; a file that hangs or crashes the parser is quarantined there.

    What stands before such a file is parsed once more, however many come after it.
    """
    suspected = set[WorkStep | None]()
    done: list[pa.Table] = []
    while True:
        try:
            rows = workers.watch(parse_files, batch, batch.settings.limits.parse_timeout_s)
            return pa.concat_tables([*done, rows])
        except WorkerFailed as failure:
            if failure.by_chance and failure.at not in suspected:
                suspected.add(failure.at)
                continue  # once more: it may have been killed from outside, or for another's want of memory
            found = _verdicts(workers, batch, failure)
            if all(batch.verdicts.get(number) == verdict for number, verdict in found.items()):
                raise EngineUnavailable(
                    f"workers fail without parsing anything: a worker {failure}",
                    hint="Check the limits on memory and processes, then run it again.",
                ) from failure
            before, batch = _cut(replace(batch, verdicts={**batch.verdicts, **found}), min(found))
            if before.groups:
                done.append(isolated(workers, before))
                suspected.clear()  # they are numbered in another batch


def _cut(batch: FileBatch, number: int) -> tuple[FileBatch, FileBatch]:
    """Cut the batch before the group that holds this file."""
    at = first = 0
    while first + len(batch.groups[at]) <= number:
        first += len(batch.groups[at])
        at += 1
    known = batch.verdicts.items()
    return (
        replace(batch, groups=batch.groups[:at], verdicts={n: each for n, each in known if n < first}),
        replace(
            batch, groups=batch.groups[at:], verdicts={n - first: each for n, each in known if n >= first}
        ),
    )


def _verdicts(workers: Caller, batch: FileBatch, failure: WorkerFailed) -> dict[int, ParseVerdict]:
    """Return the verdict on the file at which the worker failed, on one file at least."""
    at = failure.at or WorkStep(0, batch.files)
    if at.count == 1:
        return {at.first: _verdict(failure, at.mark)}
    found: dict[int, ParseVerdict] = {}
    for number in range(at.first, at.first + at.count):
        if number not in batch.verdicts:
            found |= _verdict_alone(workers, batch, number)
    return found or {
        number: replace(_verdict(failure), is_lasting=False)
        for number in range(at.first, at.first + at.count)
    }


def _verdict_alone(workers: Caller, batch: FileBatch, number: int) -> dict[int, ParseVerdict]:
    """Return the verdict on a file, if it fails also where nothing else is parsed."""
    file = [file for group in batch.groups for file in group][number]
    try:
        workers.watch(
            parse_files, replace(batch, groups=((file,),), verdicts={}), batch.settings.limits.parse_timeout_s
        )
    except WorkerFailed as failure:
        return {number: _verdict(failure, failure.at.mark if failure.at else "")}
    return {}


def _verdict(failure: WorkerFailed, mark: str = "") -> ParseVerdict:
    return ParseVerdict(f"the parser {failure}", mark, failure.is_lasting)
