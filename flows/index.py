"""The Prefect flow ``index``: every stage a task, every batch of documents a task, the report an artifact.

Prefect drives and could vanish: stages are plain functions, their results stay in this process and are never
written by Prefect, and nothing that the snapshot depends on is kept by it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from prefect import flow, task
from prefect.artifacts import create_markdown_artifact, create_table_artifact
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun
from prefect.task_runners import ThreadPoolTaskRunner
from prefect.tasks import Task, exponential_backoff

from noctule.artifacts.store.night_reports import read_night
from noctule.flows.report import sheets, summary
from noctule.flows.run import progress
from noctule.flows.run.request import IndexRequest
from noctule.flows.run.result import BuildResult, require_whole
from noctule.flows.run.signals import heeding_signals, received, spare_children, stop_if_told
from noctule.flows.run.steps import Clock
from noctule.flows.run.work import build_index, publish_as_set
from noctule.pipeline.errors import WriteFailed, is_transient

T = TypeVar("T")
A = TypeVar("A")
RETRIES = 3
_log = logging.getLogger(progress.LOGGER)
# Prefect gives its API what this logger says, and takes the level from it.
_log.setLevel(logging.INFO)


class _Call(Generic[T]):
    """A stage and its result, opaque to Prefect: it would walk through both and hold them until the flow ends."""

    __slots__ = ("result", "stage")

    def __init__(self, stage: Callable[[], T]) -> None:
        self.stage = stage
        self.result: T

    def __call__(self) -> None:
        spare_children()
        self.result = self.stage()


def can_heal(_task: Task[..., Any], _task_run: TaskRun, state: State[Any]) -> bool:
    """Whether another try may help: after an I/O error, never after a signal or an error that a person has to act on."""
    if received() is not None:
        return False
    try:
        cast(Any, state.result)()
    except (OSError, TimeoutError):
        return True
    except WriteFailed as error:
        return is_transient(error.__cause__)
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


class PrefectSteps(Clock):
    """Runs each stage as a Prefect task that bears its name; only inside a flow."""

    def run(self, name: str, stage: Callable[[], T], *, once: bool = False) -> T:
        """The stage's result; raises what the stage raised."""
        call = _Call(stage)
        with self.measure(name):
            _step.with_options(name=name, task_run_name=name, retries=0 if once else RETRIES)(call)
        _log.info("%s: %.1f s", name, self.times[-1].seconds)
        return call.result

    def map(self, name: str, stage: Callable[[A], T], batches: Sequence[A], slots: int) -> list[T]:
        """The stage's result on each batch, in order, ``slots`` at a time; the first error stops the rest."""
        calls = [_Call(_bound(stage, batch)) for batch in batches]
        pool: ThreadPoolTaskRunner[None] = ThreadPoolTaskRunner(max_workers=max(1, slots))
        with self.measure(name), pool as runner:
            futures = [
                runner.submit(_named(name, number, len(calls)), {"call": call})
                for number, call in enumerate(calls, start=1)
            ]
            for future in futures:
                future.result()
                stop_if_told()
        return [call.result for call in calls]


def _bound(stage: Callable[[A], T], batch: A) -> Callable[[], T]:
    return lambda: stage(batch)


def _named(name: str, number: int, of: int) -> Task[[_Call[Any]], None]:
    return _step.with_options(name=name, task_run_name=f"{name} {number} of {of}")


@flow(name="index", persist_result=False, validate_parameters=True)
def index(  # noqa: PLR0913, PLR0917  # parameters of a deployment
    config: str | None = None,
    sources: list[str] | None = None,
    collection: str | None = None,
    store: str = ".noctule",
    allow_empty: bool = False,
    accept_drop: bool = False,
    accept_shrink: bool = False,
    engine: str | None = None,
    start: str | None = None,
    publish: bool = True,
    allow_partial: bool = False,
) -> BuildResult:
    """Folders of documents become the store's current snapshot, which goes to other places unless ``publish`` is false.

    Raises as ``noctule.flows.run.build.build_snapshot`` and ``noctule.flows.run.work.publish_elsewhere`` do, and ``PartialFailure`` after all that where a
    collection failed, unless ``allow_partial``.
    """
    with heeding_signals():
        request = IndexRequest(
            store=Path(store),
            config=None if config is None else Path(config),
            sources=tuple(sources or ()),
            collection=collection,
            allow_empty=allow_empty,
            accept_drop=accept_drop,
            accept_shrink=accept_shrink,
            engine=engine,
            start=start,
        )
        result = build_index(request, PrefectSteps(), progress.current())
        for line in summary.lines(result):
            _log.info("%s", line)
        try:
            _keep_report(result, Path(store))
        except Exception as error:  # the snapshot is published: a server that has gone does not undo that
            _log.warning("the report is not in Prefect: %s (noctule report has it)", error)
        if publish:
            publish_as_set(request, result, PrefectSteps())
        if not allow_partial:
            require_whole(result)
        return result


def _keep_report(result: BuildResult, store: Path) -> None:
    """The report in Prefect's pages: a copy of what the store keeps."""
    if (night := read_night(store, result.snapshot)) is not None:
        create_markdown_artifact(
            key="night-report",
            markdown=sheets.markdown(night),
            description="What changed with this snapshot",
        )
    create_markdown_artifact(
        key="index-summary", markdown=summary.markdown(result), description="What this run did"
    )
    create_table_artifact(
        key="index-stages", table=summary.stage_rows(result), description="Rows by table, seconds by stage"
    )
    create_table_artifact(
        key="index-rejected", table=summary.rejected_rows(result), description="Files left out, and why"
    )
