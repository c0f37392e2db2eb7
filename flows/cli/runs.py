"""What the commands that build have in common: flags, the request they make, and the way through Prefect."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...pipeline.errors import PrefectUnavailable
from . import output
from .flags import Flags

if TYPE_CHECKING:
    from ..incremental.unchanged import UnchangedSnapshot
    from ..job import JobResult
    from ..report.result import BuildResult
    from ..run.context import BuildOptions, RunContext
    from ..run.request import IndexRequest
    from ..run.stage import Driver, Progress

_log = logging.getLogger(__name__)
NoPrefect = Annotated[
    bool,
    typer.Option("--no-prefect", help="Do the same work without Prefect: same snapshot, no run history."),
]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder of the site.")]


@dataclass(frozen=True, slots=True)
class SourceFlags:
    """Which documents are read, where the settings do not say it."""

    sources: Annotated[list[str] | None, typer.Argument(metavar="SOURCE", help="Folders of documents.")] = (
        None
    )
    collection: Annotated[
        str | None, typer.Option("--collection", metavar="NAME", help="A name for the folder's collection.")
    ] = None


@dataclass(frozen=True, slots=True)
class BuildFlags:
    """How an index is built, and what is published all the same."""

    no_prefect: NoPrefect = False
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty", help="Publish even if a collection contains no documents.")
    ] = False
    accept_drop: Annotated[
        bool,
        typer.Option("--accept-drop", help="Publish even if judged queries are answered worse than before."),
    ] = False
    accept_shrink: Annotated[
        bool,
        typer.Option("--accept-shrink", help="Publish even if a collection lost many of its documents."),
    ] = False
    engine: Annotated[
        str | None,
        typer.Option("--engine", metavar="NAME",
                     help="Where to parse and encode: inline, processes, dask[://HOST:PORT], ray[://HOST:PORT]."),
    ] = None  # fmt: skip

    def options(self, start: str | None = None) -> BuildOptions:
        """Return the options of a build that begins at this stage."""
        from ..run.context import BuildOptions

        return BuildOptions(self.allow_empty, self.accept_drop, self.accept_shrink, start)


def request_of(
    flags: Flags,
    given: SourceFlags | None = None,
    build: BuildFlags | None = None,
    *,
    start: str | None = None,
    drafts: bool = False,
) -> IndexRequest:
    """Return what the command line asks for, with absolute paths."""
    from ..run.request import IndexRequest, found_settings, source_root

    config, given, build = flags.config or found_settings(), given or SourceFlags(), build or BuildFlags()
    return IndexRequest(
        flags.store.absolute(),
        None if config is None else config.absolute(),
        tuple(map(source_root, given.sources or ())),
        given.collection,
        build.engine,
        build.options(start),
        drafts,
    )


def parameters_of(request: IndexRequest) -> dict[str, Any]:
    """Return the request as parameters of a flow, which are JSON."""
    return {
        "config": path_text(request.config),
        "store": str(request.store),
        "allow_empty": request.options.allow_empty,
        "accept_drop": request.options.accept_drop,
        "accept_shrink": request.options.accept_shrink,
        "engine": request.engine,
        "allow_partial": True,
    }


def run_work(
    flags: Flags,
    run: RunContext,
    work: Callable[[Driver, Progress], JobResult],
    flow: str,
    parameters: dict[str, Any],
    *,
    no_prefect: bool,
) -> JobResult:
    """Return the work's result, done in this process or in a run of a Prefect flow, with its progress shown.

    ``flow`` names the flow in ``noctule.flows``, as in ``site:search_only``. Where the private Prefect API
    does not start, the work is done without it: what it keeps is a log.
    """
    from ..run.memory import collect_seldom
    from ..run.plain import PlainDriver

    with output.progress(flags.quiet, flags.as_json) as progress, ExitStack() as api:
        collect_seldom()
        import_flow = partial(resolve_name, f"noctule.flows.{flow}")
        # An install that only searches has no Prefect, and builds sites all the same.
        if no_prefect or find_spec("prefect") is None or not _has_api(flags.store, api, import_flow):
            return work(PlainDriver(), progress)
        from ..flow_run import run_by_command

        return run_by_command(import_flow(), parameters, run, lambda driver: work(driver, progress))


def _has_api(store: Path, until: ExitStack, import_flow: Callable[[], object]) -> bool:
    """Return whether a Prefect API answers until the stack is closed; warn if a private one did not start."""
    from ..prefect_server.private import prefect_api

    try:
        until.enter_context(prefect_api(store, import_flow=import_flow))
    except PrefectUnavailable as failure:
        _log.warning("%s; this run goes on without Prefect (%s)", failure.what, failure.where)
        return False
    return True


def is_plain(same: UnchangedSnapshot | None, no_prefect: bool) -> bool:
    """Return whether the run needs no flow run; without a change only a configured server gets one."""
    return no_prefect or (same is not None and not os.environ.get("PREFECT_API_URL"))


def path_text(path: Path | None) -> str | None:
    """Return the path as a flow's parameter."""
    return None if path is None else str(path.absolute())


def print_build(result: BuildResult) -> None:
    """Print what the run did, line by line."""
    from ..report.summary import lines

    for line in lines(result):
        output.say(line)
    if result.rejections:
        output.say("noctule report says which, and why")
