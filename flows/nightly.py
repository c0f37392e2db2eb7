"""The Prefect flow ``nightly``: builds the index and its site, and sends the snapshot to its targets.

Its stages are those of ``noctule.flows.graph``. A deployment runs the body of this flow, the command
``noctule nightly`` the same work in a run of it (``noctule.flows.flow_run.run_by_command``).
Imports are absolute, for Prefect may load this file by its path.
"""

from __future__ import annotations

from pathlib import Path

from prefect import flow

from noctule.flows.flow_run import run_in_flow
from noctule.flows.graph import context_of
from noctule.flows.job import JobResult, run_job
from noctule.flows.run.context import BuildOptions
from noctule.flows.run.prefect_tasks import run_name
from noctule.flows.run.progress import LogProgress
from noctule.flows.run.request import IndexRequest


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
    run = context_of(request, Path(out))
    return run_in_flow(run, lambda driver: run_job(run, driver, LogProgress()), allow_partial=allow_partial)
