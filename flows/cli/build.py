"""The commands that make a snapshot: ``init``, ``index``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import output
from .flags import Flags, with_flags
from .runs import (
    AcceptDrop,
    AcceptShrink,
    AllowEmpty,
    Engine,
    NoPrefect,
    is_plain,
    look_first,
    path_text,
    print_build,
    request_of,
    run_work,
)

if TYPE_CHECKING:
    from ..incremental.unchanged import UnchangedSnapshot
    from ..report.result import BuildResult
    from ..run.request import IndexRequest

_Sources = Annotated[
    list[str] | None, typer.Argument(metavar="SOURCE", help="Folders of documents.", show_default=False)
]
_From = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="STAGE",
        help="Do this stage again and all that need it; noctule graph lists them. "
        "After parse the sources are not looked at.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    for command in (init, index):
        app.command()(with_flags(command))


def init(flags: Flags) -> None:
    """Write a noctule.toml for the documents in this folder.

    Example: cd my-notes; noctule init; noctule index
    """
    from .init import write_settings

    written = write_settings(Path.cwd())
    if flags.as_json:
        output.emit({"config": str(written.path), "collection": written.collection, "root": written.root})
        return
    output.say(f"Wrote {written.path.name}: collection {written.collection!r}, folder {written.root!r}")
    output.say(f"Found {written.found}. Next: noctule index")


def index(  # noqa: PLR0913, PLR0917  # each is a flag
    flags: Flags,
    sources: _Sources = None,
    collection: Annotated[
        str | None, typer.Option("--collection", metavar="NAME", help="A name for the folder's documents.")
    ] = None,
    no_prefect: NoPrefect = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Say what would be done and how long it may take, and write nothing."),
    ] = False,
    allow_empty: AllowEmpty = False,
    accept_drop: AcceptDrop = False,
    accept_shrink: AcceptShrink = False,
    engine: Engine = None,
    start: _From = None,
) -> None:
    """Turn folders of documents into a snapshot and make it the current one.

    Examples: noctule index docs/ ; noctule index ~/vault --collection notes ; noctule index --config mdn.toml
    """
    request = request_of(flags, tuple(sources or ()), collection)
    request = replace(
        request,
        allow_empty=allow_empty,
        accept_drop=accept_drop,
        accept_shrink=accept_shrink,
        engine=engine,
        start=start,
    )
    if dry_run:
        from .dry_run import print_plan

        print_plan(request, flags)
        return
    same = look_first(request)
    result = run_work(
        flags,
        lambda: _index_plain(request, same),
        lambda: _index_flow(request),
        no_prefect=is_plain(same, no_prefect),
    )
    if flags.as_json:
        from ..report.summary import as_json

        output.emit(as_json(result))
    else:
        print_build(result)
        output.say('Next: noctule search "your question"')
    from ..report.result import require_whole

    require_whole(result)


def _index_plain(request: IndexRequest, same: UnchangedSnapshot | None) -> BuildResult:
    from ..graph import context_of
    from ..job import run_job
    from ..run.plain import PlainDriver
    from ..run.progress import current

    result = run_job(context_of(request), PlainDriver(), current(), same=same).build
    assert result is not None
    return result


def _index_flow(request: IndexRequest) -> BuildResult:
    from ..index import index as flow

    return flow(
        config=path_text(request.config),
        sources=list(request.sources),
        collection=request.collection,
        store=str(request.store),
        allow_empty=request.allow_empty,
        accept_drop=request.accept_drop,
        accept_shrink=request.accept_shrink,
        engine=request.engine,
        start=request.start,
        allow_partial=True,
    )
