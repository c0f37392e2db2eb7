"""The functions that ``import noctule`` offers for building: an index and its site, in process, without
Prefect.

Parsing and some stages run in processes that are started afresh, so a script that calls these functions must
keep its work below ``if __name__ == "__main__":``.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from ..artifacts.store.store import Store
from ..pipeline.settings.settings import Settings
from .graph import BUILD, context_of, reads_sources
from .job import run_job
from .run.context import BuildOptions, RunContext
from .run.plain import PlainDriver
from .run.request import IndexRequest, read_settings, source_root
from .run.stage import Silent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..docsite.build import SiteResult
    from .report.result import BuildResult
    from .run.stage import Driver, Progress, Stage

PathText = str | PathLike[str]


def index(
    *sources: PathText,
    store: PathText = ".noctule",
    config: PathText | None = None,
    collection: str | None = None,
    options: BuildOptions | None = None,
) -> BuildResult:
    """Publish folders of documents, or those that a settings file describes, as the store's current snapshot.

    Raise as ``noctule.flows.job.run_job`` does; the current snapshot is then untouched.
    """
    request = IndexRequest(
        store=Path(store),
        config=None if config is None else Path(config),
        sources=tuple(map(source_root, sources)),
        collection=collection,
        options=options or BuildOptions(),
    )
    result = run_job(context_of(request), PlainDriver(), Silent()).build
    assert result is not None
    return result


def build_site(
    out: PathText = "public",
    *,
    store: PathText = ".noctule",
    settings: Settings | None = None,
    full: bool = False,
) -> SiteResult:
    """Build the site of the store's current snapshot in ``out``, which is replaced in one step or not at all.

    ``settings`` defaults to those of ``noctule.toml`` in the working directory, if there is one; with
    ``full`` every file is written again. Raise ``ArtifactError``, ``SourceError`` or ``WriteFailed``; the
    previous site is then untouched.
    """
    chosen = settings or read_settings(None)
    run = RunContext(chosen, Path(store), BuildOptions(full=full), Path(out))
    made = run_job(run, PlainDriver(), Silent(), index=False, publish=False).site
    assert made is not None
    return made


def build_snapshot(
    settings: Settings,
    store: Store,
    driver: Driver | None = None,
    progress: Progress | None = None,
    options: BuildOptions | None = None,
    stages: Sequence[Stage] = BUILD,
) -> BuildResult:
    """Publish the collections of the settings as the store's current snapshot, and nowhere else.

    ``stages`` may add to the usual ones. Raise as ``noctule.flows.job.run_job`` does.
    """
    given = options or BuildOptions()
    run = RunContext(settings, store.root, given, reads_sources=reads_sources(given.start, settings))
    done = run_job(run, driver or PlainDriver(), progress or Silent(), publish=False, stages=stages).build
    assert done is not None
    return done
