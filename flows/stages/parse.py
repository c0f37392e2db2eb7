"""Groups of files parsed by an engine's workers, and what they say remembered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar
from uuid import uuid4

import pyarrow as pa

from ...artifacts.cache.parse_cache import ParseCache
from ...artifacts.cache.parsed_corpus import GROUPS
from ..engines import Caller, Engine
from ..engines.workers import WorkerFailed
from ..incremental.groups import Group
from ..run.steps import Progress, Steps
from .parse_batch import FileBatch, lost, understand

T = TypeVar("T")
_MIN_FILES = 32
_MAX_BATCHES = 96
# A whole batch may take the time of one document, and a little for each of the others.
_SECONDS_PER_FILE = 0.5


class Reading:
    """Brings groups of files into what a store remembers; ``parsed`` counts the files that a parser read for it."""

    def __init__(
        self,
        remembered: ParseCache,
        batch: FileBatch,
        engine: Engine,
        steps: Steps,
        progress: Progress,
        *,
        anew: bool,
    ) -> None:
        self.parsed = 0
        self._anew = anew
        self._remembered, self._like, self._engine = remembered, batch, engine
        self._steps, self._progress = steps, progress

    def missing(self, groups: Sequence[Group], keys: Sequence[str]) -> list[Group]:
        """The groups that have to be parsed."""
        return [group for group, key in zip(groups, keys, strict=True) if not self._knows(key)]

    def _knows(self, key: str) -> bool:
        return key in self._remembered and not self._anew

    def understand(self, groups: Sequence[Group], keys: Sequence[str]) -> list[str]:
        """The keys, in order, under which the groups are now remembered; those not known yet are parsed."""
        known = {key for key in keys if self._knows(key)}
        missing = self.missing(groups, keys)
        found = iter(self._parse(missing) if missing else ())
        return [name for key in keys for name in ([key] if key in known else next(found))]

    def _parse(self, groups: Sequence[Group]) -> list[list[str]]:
        """The names of the rows of each group: of one, or of several where it stopped the parser."""
        batches = _batches(groups, self._like)
        self._progress.begin("parse", sum(map(len, groups)), "documents")
        try:
            with self._engine.workers(len(batches)) as workers:

                def one(batch: FileBatch) -> list[pa.Table]:
                    rows = _isolated(workers, batch)
                    self._progress.advance(batch.files)
                    return rows

                parts = self._steps.map("parse", one, batches, workers.count)
        finally:
            self._progress.end()
        self.parsed += sum(map(len, groups))
        return self._kept([rows for part in parts for rows in part])

    def _kept(self, groups: Sequence[pa.Table]) -> list[list[str]]:
        rows = pa.concat_tables([GROUPS.empty_table(), *groups])
        # A group that could not be read in full is found by this run, and by no other's content.
        keys = [key or f"~{uuid4().hex}" for key in rows["key"].to_pylist()]
        self._remembered.add(rows.set_column(0, GROUPS.field("key"), pa.array(keys, pa.string())))
        found = iter(keys)
        return [[next(found) for _ in range(len(group))] for group in groups]


def _batches(groups: Sequence[Group], like: FileBatch) -> list[FileBatch]:
    """The groups in batches of about as many files each."""
    size = max(_MIN_FILES, -(-sum(map(len, groups)) // _MAX_BATCHES))
    batches: list[list[Group]] = [[]]
    for group in groups:
        if sum(map(len, batches[-1])) >= size:
            batches.append([])
        batches[-1].append(group)
    return [replace(like, groups=tuple(batch)) for batch in batches]


def _isolated(workers: Caller, batch: FileBatch) -> list[pa.Table]:
    """The rows of each group of the batch; a file that hangs or crashes the parser is quarantined."""
    limit = batch.settings.limits.parse_timeout_s + _SECONDS_PER_FILE * (batch.files - 1)
    try:
        rows = workers.call(understand, batch, limit)
    except WorkerFailed as failure:
        if len(batch.groups) > 1:
            return [
                rows
                for half in _halves(batch.groups)
                for rows in _isolated(workers, replace(batch, groups=half))
            ]
        [group] = batch.groups
        if len(group) == 1:
            return [lost(group[0], str(failure))]
        parts = [_isolated(workers, replace(batch, groups=(half,))) for half in _halves(group)]
        return [pa.concat_tables(part for [part] in parts)]
    return [rows.slice(at, 1) for at in range(len(batch.groups))]


def _halves(items: tuple[T, ...]) -> tuple[tuple[T, ...], tuple[T, ...]]:
    middle = len(items) // 2
    return items[:middle], items[middle:]
