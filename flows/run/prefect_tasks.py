"""Stages as Prefect tasks, named after the stages and waiting for what they need: a run page shows the graph.

Prefect only drives the stages: results stay in this process, and Prefect never stores them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from contextvars import copy_context
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar, cast
from uuid import UUID

from prefect import tags, task
from prefect.cache_policies import NO_CACHE
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import State, TaskRun
from prefect.runtime import flow_run
from prefect.states import Completed
from prefect.tasks import Task, exponential_backoff

from ...pipeline.errors import WriteFailed, heals_by_itself
from .context import RunContext
from .plain import StageTimer, by_threads, unless_stopped
from .signals import received, shield_children
from .stage import Stage

A = TypeVar("A")
T = TypeVar("T")
RETRIES = 3
_log = logging.getLogger("noctule")


class _Call(Generic[T]):
    """A stage and its result, opaque to Prefect, which would else traverse both and hold them to the end."""

    __slots__ = ("result", "work")

    def __init__(self, work: Callable[[], T]) -> None:
        self.work = work
        self.result: T

    def __call__(self) -> None:
        shield_children()
        self.result = self.work()


def can_heal(_task: Task[..., Any], _task_run: TaskRun, state: State[Any]) -> bool:
    """Return whether a retry may help: after an I/O error, never after a signal or a user's mistake."""
    if received() is not None:
        return False
    try:
        cast(Any, state.result)()
    except (OSError, TimeoutError):
        return True
    except WriteFailed as error:
        return heals_by_itself(error.__cause__)
    except Exception:
        return False
    return False


@task(
    retries=RETRIES,
    retry_delay_seconds=exponential_backoff(backoff_factor=1),
    retry_jitter_factor=0.2,
    retry_condition_fn=can_heal,
    cache_policy=NO_CACHE,
    persist_result=False,
    log_prints=False,
)
def _step(call: _Call[Any]) -> None:
    call()


def run_name() -> str:
    """Return a flow run's name: flow, day, settings folder or store, as in ``nightly 2026-11-23 guide``."""
    given: Mapping[str, Any] = flow_run.parameters or {}
    config, store = given.get("config"), Path(str(given.get("store") or ".noctule"))
    place = Path(str(config)).resolve().parent if config else store.resolve().parent
    return f"{flow_run.flow_name} {date.today().isoformat()} {given.get('collection') or place.name}"


def tagged(run: RunContext) -> AbstractContextManager[set[str]]:
    """Tag the tasks of the block, and the flow run, with the store and the collections."""
    wanted = sorted(
        {f"store:{run.store.resolve().name}", *(f"collection:{n}" for n in run.settings.collections)}
    )
    with suppress(Exception):  # without an answer from the server the run goes on untagged
        if (run_id := flow_run.id) is not None:
            with get_client(sync_client=True) as client:
                client.update_flow_run(UUID(str(run_id)), tags=wanted)
    return tags(*wanted)


def completed(result: T, *, changed: bool) -> T:
    """Return a flow's result, in a state that says so if nothing had changed."""
    return result if changed else cast(T, Completed(message="nothing changed", data=result))


class PrefectDriver(StageTimer):
    """A driver that runs each stage as a Prefect task of the same name; only inside a flow."""

    def call(self, stage: Stage, work: Callable[[], T], after: Sequence[object]) -> tuple[T, object]:
        """Return the stage's result and the state of its task; raise what the stage raised."""
        call = _Call(work)
        # The batches of a stage that fans out are tried again one by one.
        retries = RETRIES if stage.retries and not stage.fan_out else 0
        named = _step.with_options(name=stage.name, task_run_name=stage.name, retries=retries)
        with self.measure(stage.name):
            state: State[None] = named(call, wait_for=list(after), return_state=True)
            cast(Any, state.result)()
        if not stage.fan_out:  # its progress says how long it took
            _log.info("%s: %.1f s", stage.name, self._times[-1].seconds)
        return call.result, state

    def map(
        self,
        name: str,
        function: Callable[[A], T],
        batches: Sequence[A],
        slots: int,
        labels: Sequence[str] = (),
    ) -> list[T]:
        """Return the function's result on each batch, in order, each a task; an error stops the rest."""
        calls = [_Call(partial(function, batch)) for batch in batches]
        names = labels or [f"{name} {number} of {len(calls)}" for number in range(1, len(calls) + 1)]
        tasks = [partial(_run, call, name, each) for call, each in zip(calls, names, strict=True)]
        if slots <= 1:  # in the main thread, which hears of signals
            return [unless_stopped(task()) for task in tasks]
        # Not with Prefect's runner, which waits for every batch under way at its end, whatever told it to.
        within = [(copy_context(), task) for task in tasks]
        return by_threads(lambda each: each[0].run(each[1]), within, slots)


def _run(call: _Call[T], stage: str, name: str) -> T:
    state: State[None] = _step.with_options(name=stage, task_run_name=name)(call, return_state=True)
    cast(Any, state.result)()
    return call.result
