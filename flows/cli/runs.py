"""What the commands that build have in common: flags, the request they make, and the way through Prefect."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from . import output
from .flags import Flags

if TYPE_CHECKING:
    from ..incremental.unchanged import UnchangedSnapshot
    from ..report.result import BuildResult
    from ..run.request import IndexRequest

T = TypeVar("T")

NoPrefect = Annotated[
    bool,
    typer.Option("--no-prefect", help="Do the same work without Prefect: the same snapshot, no run history."),
]
AllowEmpty = Annotated[
    bool, typer.Option("--allow-empty", help="Publish although a collection holds no document.")
]
AcceptDrop = Annotated[
    bool,
    typer.Option("--accept-drop", help="Publish although judged queries are answered worse than before."),
]
AcceptShrink = Annotated[
    bool,
    typer.Option("--accept-shrink", help="Publish although a collection lost many of its documents."),
]
Engine = Annotated[
    str | None,
    typer.Option("--engine", metavar="NAME",
                 help="Where batches are computed: inline, processes, dask[://HOST:PORT], ray[://HOST:PORT]."),
]  # fmt: skip


def request_of(flags: Flags, sources: tuple[str, ...], collection: str | None) -> IndexRequest:
    """Return what the command line asks for, with absolute paths."""
    from ..run.request import IndexRequest, found_settings

    config = flags.config or found_settings()
    return IndexRequest(
        store=flags.store.absolute(),
        config=None if config is None else config.absolute(),
        sources=tuple(str(Path(source).expanduser().absolute()) for source in sources),
        collection=collection,
    )


def look_first(request: IndexRequest) -> UnchangedSnapshot | None:
    """Return the current snapshot if nothing has changed; raise what stands in the way of a run.

    It takes no Prefect and no model.
    """
    from ..incremental.preflight import require_ready, unchanged_snapshot

    require_ready(request)
    return unchanged_snapshot(request)


def run_work(flags: Flags, plain: Callable[[], T], flow: Callable[[], T], *, no_prefect: bool) -> T:
    """Return the work's result, done in this process or as a Prefect flow, with its progress shown."""
    from ..run.memory import collect_seldom

    with output.progress(flags.quiet, flags.as_json):
        collect_seldom()
        if no_prefect:
            return plain()
        from ..prefect_server.private import prefect_api

        with prefect_api(flags.store):
            return flow()


def is_plain(same: UnchangedSnapshot | None, no_prefect: bool) -> bool:
    """Return whether the run needs no flow run.

    A run without a change leaves a flow run only where a Prefect server is configured.
    """
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
        output.say("Which files, and why: noctule report")
