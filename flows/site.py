"""The Prefect flows ``site`` and ``search``: the current snapshot becomes a static site, or its search alone.

Imports are absolute, for Prefect may load this file by its path.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from prefect import flow
from prefect.artifacts import create_markdown_artifact

from noctule.flows.job import run_job, run_search_only
from noctule.flows.run.context import BuildOptions, RunContext
from noctule.flows.run.prefect_tasks import PrefectDriver, run_name, tagged
from noctule.flows.run.progress import LOGGER, LogProgress
from noctule.flows.run.request import read_settings
from noctule.flows.run.signals import heeding_signals
from noctule.flows.run.stage import Progress

if TYPE_CHECKING:
    from noctule.docsite.build import SiteResult
    from noctule.docsite.search_only import SearchOnlyResult

_log = logging.getLogger(LOGGER)


@flow(name="site", flow_run_name=run_name, persist_result=False)
def site(
    config: str | None = None, store: str = ".noctule", out: str = "public", full: bool = False
) -> SiteResult:
    """Build the site of the store's current snapshot; raise ``ArtifactError`` or ``SourceError``.

    Args:
        config: The settings file; by default noctule.toml in the working directory, if there is one.
        store: The folder of the store.
        out: The folder of the site.
        full: Make every file anew, also those that did not change.
    """
    return run_site(_context(config, store, out, full=full), LogProgress())


def _context(config: str | None, store: str, out: str, *, full: bool = False) -> RunContext:
    settings = read_settings(None if config is None else Path(config))
    return RunContext(settings, Path(store), BuildOptions(full=full), Path(out))


def run_site(run: RunContext, progress: Progress) -> SiteResult:
    """Do the work of the flow ``site`` in a flow run."""
    with heeding_signals(), tagged(run):
        built = run_job(run, PrefectDriver(), progress, index=False, publish=False).site
        assert built is not None
        keep_site_artifact(built)
        return built


def keep_site_artifact(built: SiteResult) -> None:
    """Show the site's contents in Prefect's pages."""
    out = built.index.parent
    _log.info("site: %s pages in %s", f"{built.pages:,}", out)
    files = f"{built.files:,} files ({built.written:,} new), {built.bytes:,} bytes in `{out}`"
    try:
        create_markdown_artifact(
            key="site-summary",
            markdown=f"{built.pages:,} pages, {files}",
            description="The site this run built",
        )
    except Exception as error:  # the site stands: a server that has gone does not undo that
        _log.warning("the site is not among Prefect's artifacts: %s", error)


@flow(name="search", flow_run_name=run_name, persist_result=False)
def search_only(
    config: str | None = None, store: str = ".noctule", out: str = "public", insert: bool = False
) -> SearchOnlyResult:
    """Build the search of the pages in ``out``, which something else built.

    Raises ``ArtifactError`` or ``SourceError``.

    Args:
        config: The settings file; by default noctule.toml in the working directory, if there is one.
        store: The folder of the store.
        out: The folder of the pages.
        insert: Put the script line into every page.
    """
    return search_pages(_context(config, store, out), insert=insert)


def search_pages(run: RunContext, *, insert: bool) -> SearchOnlyResult:
    """Do the work of the flow ``search`` in a flow run."""
    with heeding_signals(), tagged(run):
        built = run_search_only(run, PrefectDriver(), insert=insert)
        _log.info("search of %s pages in %s", f"{built.pages:,}", built.folder)
        return built
