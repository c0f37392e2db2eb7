"""The Prefect flows ``site`` and ``search``: the current snapshot becomes a static site, or its search alone.

Imports are absolute, for Prefect may load this file by its path.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from prefect import flow

from noctule.flows.flow_run import run_in_flow
from noctule.flows.job import JobResult, run_job, run_search_only
from noctule.flows.run.context import BuildOptions, RunContext
from noctule.flows.run.prefect_tasks import run_name
from noctule.flows.run.progress import LogProgress
from noctule.flows.run.request import read_settings, with_version


@flow(name="site", flow_run_name=run_name, persist_result=False)
def site(
    config: str | None = None,
    store: str = ".noctule",
    out: str = "public",
    full: bool = False,
    version: str | None = None,
    aliases: list[str] | None = None,
) -> JobResult:
    """Build the site of the store's current snapshot; raise ``ArtifactError`` or ``SourceError``.

    Args:
        config: The settings file; by default noctule.toml in the working directory, if there is one.
        store: The folder of the store.
        out: The folder of the site.
        full: Make every file anew, also those that did not change.
        version: The site is this version, in a folder of this name.
        aliases: Other names of the version.
    """
    run = _context(config, store, out, full=full)
    run = replace(run, settings=with_version(run.settings, version, aliases or []))
    return run_in_flow(run, lambda driver: run_job(run, driver, LogProgress(), index=False, publish=False))


@flow(name="search", flow_run_name=run_name, persist_result=False)
def search_only(
    config: str | None = None, store: str = ".noctule", out: str = "public", insert: bool = False
) -> JobResult:
    """Build the search of the pages in ``out``, which something else built.

    Raises ``ArtifactError`` or ``SourceError``.

    Args:
        config: The settings file; by default noctule.toml in the working directory, if there is one.
        store: The folder of the store.
        out: The folder of the pages.
        insert: Put the script line into every page.
    """
    run = _context(config, store, out)
    return run_in_flow(run, lambda driver: run_search_only(run, driver, insert=insert))


def _context(config: str | None, store: str, out: str, *, full: bool = False) -> RunContext:
    settings = read_settings(None if config is None else Path(config))
    return RunContext(settings, Path(store), BuildOptions(full=full), Path(out))
