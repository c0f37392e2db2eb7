"""A pass over one shard on a worker: an ordinary build in the shard's own store, or a part of one.

Whatever the set knows already takes the place of the stages that would make it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
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
from ..stages.sources import Listing
from .files import PassFiles, of_corpus, of_shard
from .plan import ShardPlan

T = TypeVar("T")
# An empty shard is fine, and what shrinks is for the set to judge.
_OPTIONS = BuildOptions(allow_empty=True, accept_shrink=True)
# The name of what is no shard but all at once.
ALL_SHARDS = ""
_BEYOND = {"sent", "site"}


@dataclass(frozen=True, slots=True)
class ShardTask:
    """What a worker is told about a shard, or about ``ALL_SHARDS``; everything else lies in files.

    ``shards`` are those of the plan that have files, ``listing`` is the key of these files. ``failures`` are
    the collections that cannot be read, ``left_out`` the collections and paths of documents left
    out for what is in other shards.
    ``before`` is its snapshot in the current set, of which collections that failed keep their documents.
    ``key`` stands for all that the pass depends on besides what the shard's own files say. ``statistics`` is
    the key of what was merged over all shards, ``model`` encodes queries: known when the shard is written.
    """

    shard: str
    store: Path
    settings: Settings
    plan: ShardPlan
    shards: tuple[str, ...]
    listing: str
    options: BuildOptions
    failures: Mapping[str, NoctuleError] = field(default_factory=dict)
    left_out: Set[tuple[str, str]] = frozenset()
    before: SnapshotId | None = None
    key: str = ""
    statistics: str = ""
    model: QueryModel | None = None

    @property
    def files(self) -> PassFiles:
        """Return the files of the shard's passes."""
        return of_shard(self.store, self.shard)

    @property
    def files_of_shards(self) -> list[PassFiles]:
        """Return the files of the passes of every shard."""
        return [of_shard(self.store, name) for name in self.shards]

    @property
    def corpus(self) -> PassFiles:
        """Return the files of what is merged over all shards."""
        return of_corpus(self.store)

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
def execution(task: ShardTask, listing: Listing, *wanted: str, **known: object) -> Iterator[Execution]:
    """Yield the build of a shard in its own store, of the files listed, with the products that are known."""
    store, driver = _ShardStore(task), PlainDriver()
    run = RunContext(task.settings, store.root, _OPTIONS, shard=task.shard)
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


def releasing(work: Callable[[T, Begin], pa.Table], task: T, begin: Begin) -> pa.Table:
    """Return the receipt of a pass; the worker goes on with the next one, and keeps no free memory for it."""
    try:
        return work(task, begin)
    finally:
        release_memory()


def receipt(record: Mapping[str, Any]) -> pa.Table:
    """Return the record of a pass as the table that engines send back."""
    return pa.table({"record": [json.dumps(record)]})


def record_of(found: pa.Table) -> dict[str, Any]:
    """Return the record that a worker sent back."""
    record: dict[str, Any] = json.loads(found["record"][0].as_py())
    return record
