"""The Prefect flow ``index``: folders of documents become the store's current snapshot.

Imports are absolute, for Prefect may load this file by its path.
"""

from __future__ import annotations

import logging
from pathlib import Path

from prefect import flow
from prefect.artifacts import create_markdown_artifact, create_table_artifact

from noctule.artifacts.store.night_reports import read_night
from noctule.flows.graph import context_of
from noctule.flows.incremental.unchanged import UnchangedSnapshot
from noctule.flows.job import run_job
from noctule.flows.report import sheets, summary
from noctule.flows.report.result import BuildResult, require_whole
from noctule.flows.run.context import BuildOptions, RunContext
from noctule.flows.run.prefect_tasks import PrefectDriver, completed, run_name, tagged
from noctule.flows.run.progress import LOGGER, LogProgress
from noctule.flows.run.request import IndexRequest
from noctule.flows.run.signals import heeding_signals
from noctule.flows.run.stage import Progress

_log = logging.getLogger(LOGGER)
# Prefect gives its API what this logger says, and takes the level from it.
_log.setLevel(logging.INFO)


@flow(name="index", flow_run_name=run_name, persist_result=False, validate_parameters=True)
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
    """Index folders of documents and publish them as the store's current snapshot.

    Raises as ``noctule.flows.job.run_job`` does, and ``PartialFailure`` after all that where a collection failed,
    unless ``allow_partial``.

    Args:
        config: The settings file; by default noctule.toml in the working directory, if there is one.
        sources: Folders of documents, where the settings describe none.
        collection: A name for the documents of the one folder in ``sources``.
        store: The folder of the store.
        allow_empty: Publish although a collection holds no document.
        accept_drop: Publish although judged queries are answered worse than before.
        accept_shrink: Publish although a collection lost many of its documents.
        engine: Where batches are computed: inline, processes, dask[://HOST:PORT] or ray[://HOST:PORT].
        start: Do this stage again, and all that need it.
        publish: Send the snapshot to the targets that the settings name.
        allow_partial: Succeed although some collections failed.
    """
    options = BuildOptions(allow_empty, accept_drop, accept_shrink, start)
    file = None if config is None else Path(config)
    request = IndexRequest(Path(store), file, tuple(sources or ()), collection, engine, options)
    return run_index(context_of(request), LogProgress(), publish=publish, allow_partial=allow_partial)


def run_index(
    run: RunContext,
    progress: Progress,
    same: UnchangedSnapshot | None = None,
    *,
    publish: bool = True,
    allow_partial: bool = True,
) -> BuildResult:
    """Do the flow's work in a flow run; ``same`` is the unchanged snapshot that a check before it found."""
    with heeding_signals(), tagged(run):
        result = run_job(run, PrefectDriver(), progress, publish=publish, same=same).build
        assert result is not None
        keep_artifacts(result, run)
        if not allow_partial:
            require_whole(result)
        return completed(result, changed=result.changed)


def keep_artifacts(result: BuildResult, run: RunContext) -> None:
    """Show the report in Prefect's pages: a copy of what the store keeps."""
    for line in summary.lines(result):
        _log.info("%s", line)
    try:
        _create_artifacts(result, run)
    except Exception as error:  # the snapshot is published: a server that has gone does not undo that
        _log.warning("the report is not in Prefect: %s (noctule report has it)", error)


def _create_artifacts(result: BuildResult, run: RunContext) -> None:
    if (night := read_night(run.store, result.snapshot)) is not None:
        create_markdown_artifact(
            key="night-report", markdown=sheets.markdown(night), description="What changed with this snapshot"
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
    create_markdown_artifact(
        key="snapshot",
        markdown=summary.lineage(result, run.settings),
        description="The snapshot and what it was made of",
    )
