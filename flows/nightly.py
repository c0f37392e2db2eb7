"""The Prefect flow ``nightly``: builds the index and its site, and sends the snapshot to its targets.

Imports are absolute, for Prefect may load this file by its path.
"""

from __future__ import annotations

from pathlib import Path

from prefect import flow

from noctule.flows.graph import context_of
from noctule.flows.incremental.unchanged import UnchangedSnapshot
from noctule.flows.index import keep_artifacts
from noctule.flows.job import JobResult, run_job
from noctule.flows.report.result import require_whole
from noctule.flows.run.context import BuildOptions, RunContext
from noctule.flows.run.prefect_tasks import PrefectDriver, completed, run_name, tagged
from noctule.flows.run.progress import LogProgress
from noctule.flows.run.request import IndexRequest
from noctule.flows.run.signals import heeding_signals
from noctule.flows.run.stage import Progress
from noctule.flows.site import keep_site_artifact


@flow(name="nightly", flow_run_name=run_name, persist_result=False)
def nightly(  # noqa: PLR0913, PLR0917  # parameters of a deployment
    config: str | None = None,
    store: str = ".noctule",
    out: str = "public",
    allow_empty: bool = False,
    accept_drop: bool = False,
    accept_shrink: bool = False,
    engine: str | None = None,
    allow_partial: bool = False,
) -> JobResult:
    """Index what the settings describe, build the site, and send the snapshot to its targets, in this order.

    After all that a run in which a collection failed raises ``PartialFailure``, unless ``allow_partial``.

    Args:
        config: The settings file; by default noctule.toml in the working directory.
        store: The folder of the store.
        out: The folder of the site.
        allow_empty: Publish although a collection holds no document.
        accept_drop: Publish although judged queries are answered worse than before.
        accept_shrink: Publish although a collection lost many of its documents.
        engine: Where batches are computed: inline, processes, dask[://HOST:PORT] or ray[://HOST:PORT].
        allow_partial: Succeed although some collections failed.
    """
    options = BuildOptions(allow_empty, accept_drop, accept_shrink)
    request = IndexRequest(
        Path(store), None if config is None else Path(config), engine=engine, options=options
    )
    return run_nightly(context_of(request, Path(out)), LogProgress(), allow_partial=allow_partial)


def run_nightly(
    run: RunContext, progress: Progress, same: UnchangedSnapshot | None = None, *, allow_partial: bool = True
) -> JobResult:
    """Do the flow's work in a flow run; ``same`` is the unchanged snapshot that a check before it found."""
    with heeding_signals(), tagged(run):
        done = run_job(run, PrefectDriver(), progress, same=same)
        assert done.build is not None and done.site is not None
        keep_artifacts(done.build, run)
        keep_site_artifact(done.site)
        if not allow_partial:
            require_whole(done.build)
        return completed(done, changed=done.build.changed)
