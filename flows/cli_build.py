"""The commands that make something: ``init``, ``index``, ``site``, ``nightly``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from flows import output
from flows.flags import Flags, with_flags
from pipeline.errors import SettingsError

if TYPE_CHECKING:
    from docsite.build import SiteResult
    from flows.outcome import BuildResult
    from flows.request import IndexRequest
    from flows.work import Night

T = TypeVar("T")

_Sources = Annotated[
    list[str] | None, typer.Argument(metavar="SOURCE", help="Folders of documents.", show_default=False)
]
_Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder of the site.")]
_NoPrefect = Annotated[
    bool,
    typer.Option("--no-prefect", help="Do the same work without Prefect: the same snapshot, no run history."),
]
_AllowEmpty = Annotated[
    bool, typer.Option("--allow-empty", help="Publish although a collection holds no document.")
]
_AcceptDrop = Annotated[
    bool,
    typer.Option("--accept-drop", help="Publish although judged queries are answered worse than before."),
]
_AcceptShrink = Annotated[
    bool,
    typer.Option("--accept-shrink", help="Publish although a collection lost many of its documents."),
]
_Engine = Annotated[
    str | None,
    typer.Option("--engine", metavar="NAME",
                 help="Where batches are computed: inline, processes, dask[://HOST:PORT], ray[://HOST:PORT]."),
]  # fmt: skip
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
    for command in (init, index, site, nightly):
        app.command()(with_flags(command))


def init(flags: Flags) -> None:
    """Write a noctule.toml for the documents in this folder.

    Example: cd my-notes; noctule init; noctule index
    """
    from flows.starter import write_settings

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
    no_prefect: _NoPrefect = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Say what would be done and how long it may take, and write nothing."),
    ] = False,
    allow_empty: _AllowEmpty = False,
    accept_drop: _AcceptDrop = False,
    accept_shrink: _AcceptShrink = False,
    engine: _Engine = None,
    start: _From = None,
) -> None:
    """Turn folders of documents into a snapshot and make it the current one.

    Examples: noctule index docs/ ; noctule index ~/vault --collection notes ; noctule index --config mdn.toml
    """
    request = _request(flags, tuple(sources or ()), collection)
    request = replace(
        request,
        allow_empty=allow_empty,
        accept_drop=accept_drop,
        accept_shrink=accept_shrink,
        engine=engine,
        start=_stage(start),
    )
    if dry_run:
        from flows.cli_plan import print_plan

        print_plan(request, flags)
        return
    work = _index_plain if no_prefect else _index_flow
    result = _ready(request, flags, no_prefect, work, lambda done: done)
    if flags.as_json:
        from flows.report import as_json

        output.emit(as_json(result))
    else:
        _print_build(result)
        output.say('Next: noctule search "your question"')
    _require_whole(result)


def site(
    flags: Flags,
    out: _Out = Path("public"),
    no_prefect: _NoPrefect = False,
    full: Annotated[
        bool, typer.Option("--full", help="Make every file anew, also those that did not change.")
    ] = False,
    search_only: Annotated[
        bool,
        typer.Option(
            "--search-only", help="Only the search, for a folder of HTML that something else built."
        ),
    ] = False,
    insert: Annotated[
        bool, typer.Option("--insert", help="With --search-only: also put the script line into every page.")
    ] = False,
) -> None:
    """Render the current snapshot as a static site; it replaces an older one at once.

    Examples: noctule site --out public, then open public/index.html ; noctule site --search-only --out html
    """
    from artifacts.store import Store
    from flows.request import read_settings

    settings = read_settings(flags.config)
    Store(flags.store).open().close()
    if search_only:
        from flows.cli_search_only import search_only as build

        build(flags, out, settings, no_prefect=no_prefect, insert=insert)
        return
    if insert:
        raise SettingsError(
            "--insert goes with --search-only", where="noctule site", hint="A site of its own needs no line."
        )

    def work() -> SiteResult:
        if no_prefect:
            from flows.steps import PlainSteps
            from flows.work import build_site

            return build_site(flags.store, out, settings.site, PlainSteps(), settings.search, full=full)
        from flows.site import site as flow

        store, folder = str(flags.store.absolute()), str(out.absolute())
        return flow(config=_path(flags.config), store=store, out=folder, full=full)

    built = run_work(flags, no_prefect, work)
    if flags.as_json:
        output.emit(_site_json(built))
        return
    _print_site(built)


def nightly(
    flags: Flags,
    out: _Out = Path("public"),
    no_prefect: _NoPrefect = False,
    allow_empty: _AllowEmpty = False,
    accept_drop: _AcceptDrop = False,
    accept_shrink: _AcceptShrink = False,
    engine: _Engine = None,
) -> None:
    """Index what the settings describe, then build the site: the command for a timer.

    Example: noctule nightly --config /srv/docs/noctule.toml --out /srv/www (configs/noctule.timer runs it)
    """
    from flows.report import as_json

    request = _request(flags, (), None)
    request = replace(
        request, allow_empty=allow_empty, accept_drop=accept_drop, accept_shrink=accept_shrink, engine=engine
    )

    def plain(request: IndexRequest) -> Night:
        from flows.display import current
        from flows.steps import PlainSteps
        from flows.work import build_night

        return build_night(request, out, PlainSteps, current())

    def flow(request: IndexRequest) -> Night:
        from flows.nightly import nightly as run

        config, store = _path(request.config), str(request.store)
        folder = str(out.absolute())
        return run(
            config=config,
            store=store,
            out=folder,
            allow_empty=allow_empty,
            accept_drop=accept_drop,
            accept_shrink=accept_shrink,
            engine=engine,
        )

    def unchanged(done: BuildResult) -> Night:
        from flows.steps import PlainSteps
        from flows.work import Night, night_site

        return Night(done, night_site(request, out, PlainSteps()))

    night = _ready(request, flags, no_prefect, plain if no_prefect else flow, unchanged)
    if flags.as_json:
        output.emit(as_json(night.build) | {"site": _site_json(night.site)})
    else:
        _print_build(night.build)
        _print_site(night.site)
    _require_whole(night.build)


def _stage(name: str | None) -> str | None:
    """The stage's name; raises ``SettingsError`` for another."""
    if name not in (None, "parse", "embed", "links"):
        from pipeline.errors import SettingsError

        raise SettingsError(
            f"no stage {name!r} to begin from", where="--from", hint="There are parse, embed and links."
        )
    return name


def _require_whole(result: BuildResult) -> None:
    """Returns if every collection did well; raises ``PartialFailure``."""
    if result.failed:
        from pipeline.errors import PartialFailure

        raise PartialFailure(
            f"{len(result.failed)} of the collections failed, the others are published",
            where=", ".join(result.failed),
            hint=" ".join(f"{name}: {what}" for name, what in result.failed.items()),
        )


def _request(flags: Flags, sources: tuple[str, ...], collection: str | None) -> IndexRequest:
    from flows.request import IndexRequest, found_settings

    config = flags.config or found_settings()
    return IndexRequest(
        store=flags.store.absolute(),
        config=None if config is None else config.absolute(),
        sources=tuple(str(Path(source).expanduser().absolute()) for source in sources),
        collection=collection,
    )


def _ready(
    request: IndexRequest,
    flags: Flags,
    no_prefect: bool,
    work: Callable[[IndexRequest], T],
    unchanged: Callable[[BuildResult], T],
) -> T:
    """The work's result; what is plain to see is said before Prefect takes seconds to start."""
    from flows.steps import PlainSteps
    from flows.work import look_ahead, require_ready

    require_ready(request)
    done = look_ahead(request, PlainSteps())
    if done is not None:
        return unchanged(done)
    return run_work(flags, no_prefect, lambda: work(request), meanwhile=_imports)


def run_work(
    flags: Flags, no_prefect: bool, work: Callable[[], T], meanwhile: Callable[[], None] = lambda: None
) -> T:
    """The work's result, done in this process or as a Prefect flow, with its progress shown."""
    with output.progress(flags.quiet, flags.as_json):
        if no_prefect:
            return work()
        from flows.runtime import prefect_api

        with prefect_api(flags.store, meanwhile=meanwhile):
            return work()


def _imports() -> None:
    """The slow imports of an index run, for the seconds in which Prefect's server starts."""
    import sentence_transformers  # noqa: F401

    import flows.nightly  # noqa: F401


def _index_plain(request: IndexRequest) -> BuildResult:
    from flows.display import current
    from flows.steps import PlainSteps
    from flows.work import build_index, publish_as_set

    result = build_index(request, PlainSteps(), current())
    publish_as_set(request, PlainSteps())
    return result


def _index_flow(request: IndexRequest) -> BuildResult:
    from flows.index import index as flow

    return flow(
        config=_path(request.config),
        sources=list(request.sources),
        collection=request.collection,
        store=str(request.store),
        allow_empty=request.allow_empty,
        accept_drop=request.accept_drop,
        accept_shrink=request.accept_shrink,
        engine=request.engine,
        start=request.start,
    )


def _path(path: Path | None) -> str | None:
    return None if path is None else str(path.absolute())


def _print_build(result: BuildResult) -> None:
    from flows.report import lines

    for line in lines(result):
        output.say(line)
    if result.rejections:
        output.say("Which files, and why: noctule report")


def _site_json(built: SiteResult) -> dict[str, object]:
    return {
        "pages": built.pages,
        "files": built.files,
        "written": built.written,
        "bytes": built.bytes,
        "index": str(built.index),
    }


def _print_site(built: SiteResult) -> None:
    files = f"{built.files:,} files ({built.written:,} new)"
    output.say(f"site: {built.pages:,} pages, {files}, {output.size(built.bytes)}")
    output.say(f"Open {built.index}")
