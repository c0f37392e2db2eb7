"""Groups of files parsed in worker processes, and what they say remembered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import TypeVar

import pyarrow as pa

from artifacts.remembered import Remembered
from artifacts.understood import GROUPS
from flows.groups import Group
from flows.steps import Progress, Steps
from flows.understand import FileBatch, lost, understand
from flows.workers import WorkerFailed, Workers
from pipeline.embed import available_cores
from pipeline.settings import Settings

T = TypeVar("T")
_MIN_FILES = 32
_MAX_BATCHES = 96
# A whole batch may take the time of one document, and a little for each of the others.
_SECONDS_PER_FILE = 0.5


class Reading:
    """Worker processes that bring groups of files into what a store remembers; ``parsed`` counts their files."""

    def __init__(
        self,
        remembered: Remembered,
        settings: Settings,
        deciding: Mapping[str, str],
        steps: Steps,
        progress: Progress,
    ) -> None:
        self.parsed = 0
        self._remembered, self._steps, self._progress = remembered, steps, progress
        self._all = FileBatch((), settings, deciding)
        self._workers = Workers(settings.embed.workers or available_cores())

    def __enter__(self) -> Reading:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._workers.__exit__(kind, error, trace)

    def understand(self, groups: Sequence[Group], keys: Sequence[str]) -> list[str]:
        """The names, in order, under which the groups are now remembered; those not known yet are parsed."""
        missing = [group for group, key in zip(groups, keys, strict=True) if key not in self._remembered]
        known = {key for key in keys if key in self._remembered}
        found = iter(self._parse(missing) if missing else ())
        return [name for key in keys for name in ([key] if key in known else next(found))]

    def _parse(self, groups: Sequence[Group]) -> list[list[str]]:
        """The names of the rows of each group: of one, or of several where it stopped the parser."""
        batches = _batches(groups, self._all)
        self._progress.begin("parse", sum(map(len, groups)), "documents")
        try:
            parts = self._steps.map("parse", self._one, batches, min(self._workers.count, len(batches)))
        finally:
            self._progress.end()
        self.parsed += sum(map(len, groups))
        return self._kept([rows for part in parts for rows in part])

    def _one(self, batch: FileBatch) -> list[pa.Table]:
        rows = _isolated(self._workers, batch)
        self._progress.advance(batch.files)
        return rows

    def _kept(self, groups: Sequence[pa.Table]) -> list[list[str]]:
        rows = pa.concat_tables([GROUPS.empty_table(), *groups])
        # What must not be remembered has a name for this run alone.
        names = [key or f"{self.parsed}~{at}" for at, key in enumerate(rows["key"].to_pylist())]
        self._remembered.add(names, rows)
        found = iter(names)
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


def _isolated(workers: Workers, batch: FileBatch) -> list[pa.Table]:
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
