"""The passes of a set: which stages of a build each of them makes, and how workers are called for one."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pyarrow as pa

from ...pipeline.errors import OutOfResources
from ...pipeline.printable import counted
from ..engines import Caller, Engine
from ..graph import BUILD
from ..run.executor import needed_for
from ..run.stage import Driver
from ..run.workers import WorkerFailed
from . import counting, link_graph, linking, merging, survey, writing
from .worker import ALL_SHARDS, Remark, record_of, remarks_of, reported

_log = logging.getLogger("noctule")
LOCAL = ("inline", "processes")
# In seconds of processor time: only what hangs takes so long, and parsers have limits of their own.
_LIMIT_S = 86_400.0
_WORTH_A_LINE_S = 1.0
Record = Mapping[str, Any]
Pass = Callable[..., pa.Table]
# What each pass makes of a build's products, in the order of the passes.
_MAKES = {
    survey.NAME: ("parsed", "corpus", "vectors"),
    linking.NAME: ("links",),
    counting.NAME: ("prose", "code", "anchors", "centroids", "training_passages", "phrases", "spans"),
    merging.NAME: ("query_model", "vocabulary_tables", "term_vectors"),
    link_graph.NAME: ("partition",),
    writing.NAME: ("staged",),
}


def repeated_passes(start: str | None) -> tuple[str, ...]:
    """Return the passes that a run from this stage repeats: the first that makes it, and all later ones.

    None are repeated for stages that every run makes, such as publishing.
    """
    names = tuple(_MAKES)
    for at, products in enumerate(_MAKES.values()):
        if start in {stage.name for stage in needed_for(products, BUILD)}:
            return names[at:]
    return ()


@dataclass(frozen=True, slots=True)
class PassCaller:
    """Calls passes on the engine's workers; ``here`` is a worker on this machine, for single tasks."""

    kind: str
    engine: Engine
    here: Caller
    driver: Driver
    _said: set[tuple[str, str]] = field(default_factory=set)

    def call(self, name: str, work: Pass, tasks: Sequence[Any], *, apart: bool = False) -> list[Record]:
        """Return the record of each task; raise what a pass raised, or ``OutOfResources``.

        A worker ends with a pass that is made ``apart``.
        """
        is_here = not apart and (len(tasks) == 1 or self.kind in LOCAL)
        callers = nullcontext(self.here) if is_here else self.engine.workers(len(tasks))
        with callers as workers, self.driver.measure(name):
            records = self._called(name, work, tasks, workers)
        if (seconds := self.driver.times[-1].seconds) >= _WORTH_A_LINE_S:
            shards = counted(len(tasks), "shard") if any(map(_shard, tasks)) else "all shards"
            _log.info("%s of %s: %.1f s", name, shards, seconds)
        return records

    def _called(self, name: str, work: Pass, tasks: Sequence[Any], workers: Caller) -> list[Record]:
        remarks = dict[int, list[Remark]]()

        def one(number: int) -> Record:
            try:
                found = workers.watch(partial(reported, work), tasks[number], _LIMIT_S)
            except WorkerFailed as failure:
                raise _lost(name, tasks[number], failure) from failure
            remarks[number] = remarks_of(found)
            return record_of(found)

        labels = [_label(name, task) for task in tasks]
        try:
            return self.driver.map(name, one, range(len(tasks)), workers.count, labels)
        finally:
            for number in sorted(remarks):
                self.say(_shard(tasks[number]), remarks[number])

    def say(self, shard: str, remarks: Sequence[Remark]) -> None:
        """Log remarks on a shard, each once a run: several passes open the same caches."""
        for level, text in remarks:
            if (shard, text) not in self._said:
                self._said.add((shard, text))
                _log.log(level, "%s", f"shard {shard}: {text}" if shard else text)


def _shard(task: Any) -> str:
    return getattr(task, "shard", ALL_SHARDS)


def _label(name: str, task: Any) -> str:
    """Return what Prefect shows of a task: it may be one of few shards, whatever its number."""
    shard = _shard(task)
    return f"{name} of shard {shard}" if shard else f"{name} of all shards"


def _lost(name: str, task: Any, failure: WorkerFailed) -> OutOfResources:
    shard = _shard(task)
    return OutOfResources(
        f"a worker was lost in the pass {name!r}: it {failure}",
        where=f"shard {shard}" if shard else "all shards",
        hint="Did it run out of memory? Make the shards smaller. A new run continues where this one stopped.",
    )
