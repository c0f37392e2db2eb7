"""The Prefect flow ``site``: the current snapshot becomes a static site."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from prefect import flow
from prefect.artifacts import create_markdown_artifact

from noctule.flows.index import PrefectSteps
from noctule.flows.run import progress
from noctule.flows.run.request import read_settings
from noctule.flows.run.signals import heeding_signals
from noctule.flows.run.work import build_search, build_site

if TYPE_CHECKING:
    from noctule.docsite.build import SiteResult
    from noctule.docsite.search_only import SearchOnlyResult

_log = logging.getLogger(progress.LOGGER)


@flow(name="site", persist_result=False)
def site(
    config: str | None = None, store: str = ".noctule", out: str = "public", full: bool = False
) -> SiteResult:
    """The store's current snapshot as a site in the folder ``out``; raises ``ArtifactError`` or ``SourceError``."""
    with heeding_signals():
        settings = read_settings(None if config is None else Path(config))
        built = build_site(Path(store), Path(out), settings.site, PrefectSteps(), settings.search, full=full)
        _log.info("site: %s pages in %s", f"{built.pages:,}", out)
        create_markdown_artifact(
            key="site-summary",
            markdown=f"{built.pages:,} pages, {built.files:,} files ({built.written:,} new), {built.bytes:,} bytes in `{out}`",
            description="The site this run built",
        )
        return built


@flow(name="search", persist_result=False)
def search_only(
    config: str | None = None, store: str = ".noctule", out: str = "public", insert: bool = False
) -> SearchOnlyResult:
    """The search of the pages in ``out``, which something else built; raises ``ArtifactError`` or ``SourceError``."""
    with heeding_signals():
        settings = read_settings(None if config is None else Path(config))
        built = build_search(
            Path(store), Path(out), settings.site, PrefectSteps(), settings.search, insert=insert
        )
        _log.info("search of %s pages in %s", f"{built.pages:,}", built.folder)
        return built
