"""A pass over one shard on a worker: an ordinary build in the shard's own store, or a part of one.

Whatever the set knows already takes the place of the stages that would make it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

import pyarrow as pa

from ...artifacts.cache.embeddings import inherit
from ...artifacts.disk.manifest_records import QueryModel
from ...artifacts.store.shard_set import shard_store
from ...artifacts.store.store import Store
from ...pipeline.errors import NoctuleError
from ...pipeline.model import SnapshotId
from ...pipeline.settings.settings import Settings
from ..engines.open import opened
from ..graph import BUILD
from ..run.background import Background
from ..run.context import BuildOptions, Resources, RunContext
from ..run.executor import Execution
from ..run.memory import release_memory
from ..run.plain import PlainDriver
from ..run.stage import Silent
from ..run.workers import Begin
from ..sources.publishing_rules import Rules
from ..stages.sources import Listing
from .files import PassFiles, of_corpus, of_shard
from .plan import ShardPlan

T = TypeVar("T")
Remark = tuple[int, str]
_log = logging.getLogger("noctule")
# The name of what is no shard but all at once.
ALL_SHARDS = ""
# A shorter pass leaves less free memory behind than looking for it costs.
_BRIEF_S = 1.0
_BEYOND = {"sent", "site"}


@dataclass(frozen=True, slots=True)
class ShardTask:
    """What a worker is told about a shard, or about ``ALL_SHARDS``; everything else lies in files.

    ``shards`` are those of the plan that have files. ``made`` has for each shard the key of each pass that
    this run has made, by the name of the pass: what another run left in the files is not read. ``rules`` are
    what other tools' settings say of publishing, read once for all passes. ``failures`` are the collections
    that cannot be read, ``left_out`` the collections and paths of documents left out because of what other
    shards hold. ``before`` is its snapshot in the current set, of which collections that failed keep their
    documents. ``key`` stands for all that the pass depends on besides what the shard's own files say; with
    ``repeat`` the pass is made again, though it was made with this key. ``model`` encodes queries: known when
    the shard is written, and before that unless it must be exported.
    """

    shard: str
    store: Path
    settings: Settings
    plan: ShardPlan
    shards: tuple[str, ...]
    made: Mapping[str, Mapping[str, str]]
    options: BuildOptions
    rules: Rules
    failures: Mapping[str, NoctuleError] = field(default_factory=dict)
    left_out: Set[tuple[str, str]] = frozenset()
    before: SnapshotId | None = None
    key: str = ""
    repeat: bool = False
    model: QueryModel | None = None

    @property
    def files(self) -> PassFiles:
        """Return the files of the shard's passes."""
        return self._files_of(self.shard)

    @property
    def files_of_shards(self) -> list[PassFiles]:
        """Return the files of the passes of every shard."""
        return [self._files_of(name) for name in self.shards]

    @property
    def corpus(self) -> PassFiles:
        """Return the files of what is merged over all shards."""
        return of_corpus(self.store, self.made.get(ALL_SHARDS, {}))

    def _files_of(self, shard: str) -> PassFiles:
        return of_shard(self.store, shard, self.made.get(shard, {}))

    def done(self, files: PassFiles, name: str, key: str) -> dict[str, Any] | None:
        """Return the record of a pass that was made with this key, unless it is to be repeated."""
        return None if self.repeat else files.recorded(name, key)

    @property
    def number(self) -> int:
        """Return the place of the shard among those of the plan."""
        return self.plan.names.index(self.shard)


class _ShardStore(Store):
    """A shard's store, whose current snapshot is that of the current set.

    Its own pointer may be further, after a run that was broken off, or a rollback of the set.
    """

    def __init__(self, task: ShardTask) -> None:
        super().__init__(shard_store(task.store, task.shard))
        self._before = task.before

    def current(self) -> SnapshotId | None:
        """Return the snapshot that the current set names; none if it does not name the shard."""
        return self._before


@contextmanager
def execution(
    task: ShardTask, listing: Listing, *wanted: str, start: str | None = None, **known: Any
) -> Iterator[Execution]:
    """Yield the build of a shard in its own store, of the files listed, with the products that are known.

    The stage ``start`` ignores its cache.
    """
    store, driver = _ShardStore(task), PlainDriver()
    run = RunContext(task.settings, store.root, BuildOptions(start=start), shard=task.shard)
    inherit(task.store, store.root)
    with store.lock("shard"), Background() as background, opened(task.settings, store) as engine:
        given: dict[str, object] = {
            "run": run,
            "store": store,
            "engine": engine,
            "resources": Resources(driver, Silent(), background),
            "listing": listing,
            "verdict": None,
            **known,
        }
        stages = [each for each in BUILD if not _BEYOND & set(each.makes)]
        with Execution(stages, given, driver, background, wanted) as made:
            yield made


def reported(work: Callable[[T, Begin], pa.Table], task: T, begin: Begin) -> pa.Table:
    """Return the receipt of a pass, with its remarks; a long one leaves no free memory with the worker.

    Remarks are what it logs: they belong in the log of the run. If it fails, they are in the worker's own.
    """
    remarks, start = list[Remark](), monotonic()
    try:
        with _collecting(remarks):
            made = work(task, begin)
    except BaseException:
        for level, text in remarks:
            _log.log(level, "%s", text)
        raise
    finally:
        if monotonic() - start > _BRIEF_S:
            release_memory()
    return made.append_column("remarks", [[json.dumps(remarks)]])


@contextmanager
def _collecting(remarks: list[Remark]) -> Iterator[None]:
    """Add what is logged in the block to the remarks, and keep it out of this process's log."""

    def keep(entry: logging.LogRecord) -> bool:
        remarks.append((entry.levelno, entry.getMessage()))
        return False

    level = _log.level
    _log.addFilter(keep)
    _log.setLevel(logging.INFO)
    try:
        yield
    finally:
        _log.removeFilter(keep)
        _log.setLevel(level)


def receipt(record: Mapping[str, Any]) -> pa.Table:
    """Return the record of a pass as the table that engines send back."""
    return pa.table({"record": [json.dumps(record)]})


def record_of(found: pa.Table) -> dict[str, Any]:
    """Return the record that a worker sent back."""
    record: dict[str, Any] = json.loads(found["record"][0].as_py())
    return record


def remarks_of(found: pa.Table) -> list[Remark]:
    """Return the level and text of each remark that a worker sent back."""
    return [(level, text) for level, text in json.loads(found["remarks"][0].as_py())]
