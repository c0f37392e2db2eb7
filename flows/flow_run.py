"""The work of a run inside a Prefect flow run: its tags, its tasks, and what becomes Prefect's artifacts."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any

from prefect import Flow
from prefect.artifacts import create_markdown_artifact, create_table_artifact

from ..artifacts.store.night_reports import read_night
from ..docsite.build import SiteResult
from ..pipeline.printable import counted
from .job import JobResult
from .report import sheets, summary
from .report.result import BuildResult, require_whole
from .run.context import RunContext
from .run.prefect_tasks import PrefectDriver, completed, run_name, tagged
from .run.progress import LOGGER
from .run.signals import raising_stop_signals

_log = logging.getLogger(LOGGER)
# Prefect gives its API what this logger says, and takes the level from it.
_log.setLevel(logging.INFO)
Work = Callable[[PrefectDriver], JobResult]


def run_in_flow(run: RunContext, work: Work, *, allow_partial: bool = True) -> JobResult:
    """Return what the work gives, and keep its reports; in a state that says so if nothing had changed.

    Raises as the work does, and ``PartialFailure`` after all that where a collection failed, unless
    ``allow_partial``.
    """
    with raising_stop_signals(), tagged(run):
        done = work(PrefectDriver())
        try:
            if done.build is not None:
                _keep_build(done.build, run)
            if done.site is not None:
                _keep_site(done.site, run)
        except Exception as error:  # all is published: a server that has gone does not undo that
            _log.warning("the report is not in Prefect: %s (noctule report has it)", error)
        if done.build is not None and not allow_partial:
            require_whole(done.build)
        return completed(done, changed=done.build is None or done.build.changed)


def run_by_command(
    flow: Flow[..., Any], parameters: dict[str, Any], run: RunContext, work: Work
) -> JobResult:
    """Return what the work gives, in a run of the flow with these parameters.

    A command has read its settings and looked at its sources already, and has a display for progress; a
    flow's own parameters are JSON.
    """

    @wraps(flow.fn)
    def body(*_given: object, **_named: object) -> JobResult:
        return run_in_flow(run, work)

    begun = Flow(body, name=flow.name, flow_run_name=run_name, persist_result=False)
    done: JobResult = begun(**parameters)
    return done


def _keep_build(result: BuildResult, run: RunContext) -> None:
    """Show the report in Prefect's pages: a copy of what the store keeps."""
    for line in summary.lines(result):
        _log.info("%s", line)
    if (night := read_night(run.store, result.snapshot)) is not None:
        _markdown("night-report", sheets.markdown(night), "What changed with this snapshot")
    _markdown("index-summary", summary.markdown(result), "What this run did")
    _markdown("snapshot", summary.lineage(result, run.settings), "The snapshot and what it was made of")
    create_table_artifact(
        summary.stage_rows(result), key="index-stages", description="Rows by table, seconds by stage"
    )
    create_table_artifact(
        summary.rejected_rows(result), key="index-rejected", description="Files left out, and why"
    )


def _keep_site(built: SiteResult, run: RunContext) -> None:
    """Show the site's contents in Prefect's pages."""
    _log.info("site: %s pages in %s", f"{built.pages:,}", run.out)
    files = f"{counted(built.files, 'file')} ({built.written:,} new), {built.bytes:,} bytes in `{run.out}`"
    _markdown("site-summary", f"{counted(built.pages, 'page')}, {files}", "The site this run built")


def _markdown(key: str, text: str, description: str) -> None:
    create_markdown_artifact(text, key=key, description=description)
