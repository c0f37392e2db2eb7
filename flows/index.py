"""The Prefect flow ``index``: folders of documents become the store's current snapshot.

A deployment runs the body of this flow; the command ``noctule index`` has read the settings and the sources
already, and runs the same work in a run of this flow (``noctule.flows.flow_run.run_by_command``).

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
    drafts: bool = False,
    publish: bool = True,
    allow_partial: bool = False,
) -> JobResult:
    """Index folders of documents and publish them as the store's current snapshot.

    Raises as ``noctule.flows.job.run_job`` does, and ``PartialFailure`` after all that where a collection
    failed, unless ``allow_partial``.

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
        drafts: Also documents that their authors have not published.
        publish: Send the snapshot to the targets that the settings name.
        allow_partial: Succeed although some collections failed.
    """
    options = BuildOptions(allow_empty, accept_drop, accept_shrink, start)
    file = None if config is None else Path(config)
    request = IndexRequest(Path(store), file, tuple(sources or ()), collection, engine, options, drafts)
    run = context_of(request)
    return run_in_flow(
        run,
        lambda driver: run_job(run, driver, LogProgress(), publish=publish),
        allow_partial=allow_partial,
    )
