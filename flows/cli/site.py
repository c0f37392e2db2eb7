"""The commands that make a site: ``site``, ``nightly``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...pipeline.errors import SettingsError
from ..run.progress import size
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
    from ...docsite.build import SiteResult
    from ...docsite.verify import SiteCheck
    from ..job import JobResult

_MAX_SHOWN = 20
_Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder of the site.")]


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    for command in (site, nightly):
        app.command()(with_flags(command))


def site(
    flags: Flags,
    out: _Out = Path("public"),
    no_prefect: NoPrefect = False,
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
    from ...artifacts.store.store import Store
    from ..run.request import read_settings

    settings = read_settings(flags.config)
    Store(flags.store).open().close()
    if search_only:
        from .search_only import search_only as build

        build(flags, out, settings, no_prefect=no_prefect, insert=insert)
        return
    if insert:
        raise SettingsError(
            "--insert goes with --search-only", where="noctule site", hint="A site of its own needs no line."
        )

    def plain() -> SiteResult:
        from ..job import run_job
        from ..run.context import BuildOptions, RunContext
        from ..run.plain import PlainDriver
        from ..run.progress import current

        run = RunContext(settings, flags.store.absolute(), BuildOptions(full=full), out.absolute())
        built = run_job(run, PlainDriver(), current(), index=False, publish=False).site
        assert built is not None
        return built

    def flow() -> SiteResult:
        from ..site import site as run

        store, folder = str(flags.store.absolute()), str(out.absolute())
        return run(config=path_text(flags.config), store=store, out=folder, full=full)

    built = run_work(flags, plain, flow, no_prefect=no_prefect)
    if flags.as_json:
        output.emit(_site_json(built))
        return
    _print_site(built)


def nightly(
    flags: Flags,
    out: _Out = Path("public"),
    no_prefect: NoPrefect = False,
    allow_empty: AllowEmpty = False,
    accept_drop: AcceptDrop = False,
    accept_shrink: AcceptShrink = False,
    engine: Engine = None,
) -> None:
    """Index what the settings describe, then build the site: the command for a timer.

    Example: noctule nightly --config /srv/docs/noctule.toml --out /srv/www (configs/noctule.timer runs it)
    """
    request = request_of(flags, (), None)
    request = replace(
        request, allow_empty=allow_empty, accept_drop=accept_drop, accept_shrink=accept_shrink, engine=engine
    )

    def plain() -> JobResult:
        from ..graph import context_of
        from ..job import run_job
        from ..run.plain import PlainDriver
        from ..run.progress import current

        return run_job(context_of(request, out.absolute()), PlainDriver(), current(), same=same)

    def flow() -> JobResult:
        from ..nightly import nightly as run

        return run(
            config=path_text(request.config),
            store=str(request.store),
            out=str(out.absolute()),
            allow_empty=allow_empty,
            accept_drop=accept_drop,
            accept_shrink=accept_shrink,
            engine=engine,
            allow_partial=True,
        )

    same = look_first(request)
    night = run_work(flags, plain, flow, no_prefect=is_plain(same, no_prefect))
    assert night.build is not None and night.site is not None
    # Not before: they take half a second, for which Prefect's server would wait.
    from ..report.result import require_whole
    from ..report.summary import as_json

    if flags.as_json:
        output.emit(as_json(night.build) | {"site": _site_json(night.site)})
    else:
        print_build(night.build)
        _print_site(night.site)
    require_whole(night.build)


def check_files(flags: Flags, folder: Path, *, alone: bool) -> None:
    """Check the files of a site against its record and print what was found; raise ``DamagedSite``."""
    from ...docsite.verify import check_site, require_sound

    if not alone:
        raise SettingsError(
            "--site goes neither with a snapshot nor with --deep",
            where="noctule check",
            hint="Check the store and the site by two commands.",
        )
    with output.progress(flags.quiet, flags.as_json) as progress:
        try:
            found = check_site(folder, lambda files: progress.begin("check", files, "files"))
        finally:
            progress.end()
    if flags.as_json:
        output.emit(found.as_dict())
    else:
        _print_check(found)
    require_sound(found)


def _print_check(found: SiteCheck) -> None:
    for kind, names in found.kinds().items():
        for name, fault in list(names.items())[:_MAX_SHOWN]:
            output.say(f"{kind}: {name}{f': {fault}' if fault else ''}")
        if len(names) > _MAX_SHOWN:
            output.say(f"{kind}: {len(names) - _MAX_SHOWN:,} more (all of them: --json)")
    if not found.faults:
        files = f"{found.files:,} files, {size(found.bytes)}"
        output.say(f"site {found.folder} is sound: every byte of {files}, of snapshot {found.snapshot}")


def _site_json(built: SiteResult) -> dict[str, object]:
    return {
        "pages": built.pages,
        "files": built.files,
        "written": built.written,
        "healed": built.healed,
        "bytes": built.bytes,
        "index": str(built.index),
    }


def _print_site(built: SiteResult) -> None:
    files = f"{built.files:,} files ({built.written:,} new)"
    output.say(f"site: {built.pages:,} pages, {files}, {size(built.bytes)}")
    if built.healed:
        output.say(f"{built.healed:,} files were not as they had been written and are made anew")
    output.say(f"Open {built.index}")
