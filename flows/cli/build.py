"""The commands that make a snapshot: ``init``, ``index``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...pipeline.errors import SettingsError
from . import output
from .flags import Flags, with_flags
from .runs import (
    AcceptDrop,
    AcceptShrink,
    AllowEmpty,
    Engine,
    NoPrefect,
    path_text,
    print_build,
    ready,
    request_of,
)

if TYPE_CHECKING:
    from ..run.request import IndexRequest
    from ..run.result import BuildResult

_Sources = Annotated[
    list[str] | None, typer.Argument(metavar="SOURCE", help="Folders of documents.", show_default=False)
]
_From = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="STAGE",
        help="Do this stage and all after it anew: parse, embed, or links. embed and links do not look at the sources.",
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
        start=_stage(start),
    )
    if dry_run:
        from .dry_run import print_plan

        print_plan(request, flags)
        return
    work = _index_plain if no_prefect else _index_flow
    result = ready(request, flags, no_prefect, work, _unchanged(request))
    if flags.as_json:
        from ..report.summary import as_json

        output.emit(as_json(result))
    else:
        print_build(result)
        output.say('Next: noctule search "your question"')
    from ..run.result import require_whole

    require_whole(result)


def _stage(name: str | None) -> str | None:
    """The stage's name; raises ``SettingsError`` for another."""
    if name not in (None, "parse", "embed", "links"):
        raise SettingsError(
            f"no stage {name!r} to begin from", where="--from", hint="There are parse, embed and links."
        )
    return name


def _index_plain(request: IndexRequest) -> BuildResult:
    from ..run.progress import current
    from ..run.steps import PlainSteps
    from ..run.work import build_index, publish_as_set

    result = build_index(request, PlainSteps(), current())
    publish_as_set(request, result, PlainSteps())
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


def _unchanged(request: IndexRequest) -> Callable[[BuildResult], BuildResult]:
    """What is left of a run with nothing to do: a publishing target may have missed the last one."""

    def sent(done: BuildResult) -> BuildResult:
        from ..run.steps import PlainSteps
        from ..run.work import publish_as_set

        publish_as_set(request, done, PlainSteps())
        return done

    return sent
