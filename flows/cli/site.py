"""The commands that build a site: ``site``, of the current snapshot, and ``nightly``, of a new one."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...pipeline.errors import SettingsError
from ...pipeline.printable import counted
from ..run.progress import size
from . import output, runs
from .flags import Flags
from .runs import BuildFlags, NoPrefect, Out

if TYPE_CHECKING:
    from ...docsite.build import SiteResult
    from ...docsite.search_only import SearchOnlyResult
    from ...docsite.verify import SiteCheck
    from ..job import JobResult
    from ..run.context import RunContext
    from ..run.stage import Driver, Progress

_MAX_SHOWN = 20


@dataclass(frozen=True, slots=True)
class SiteFlags:
    """What of a site is made, and under which names."""

    full: Annotated[bool, typer.Option("--full", help="Rebuild every file, including unchanged ones.")] = (
        False
    )
    search_only: Annotated[
        bool,
        typer.Option(
            "--search-only", help="Build only the search, for a folder of HTML made by another tool."
        ),
    ] = False
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Fail if a document shows a directive as text or an included file is missing."
        ),
    ] = False
    version: Annotated[
        str | None,
        typer.Option("--version", metavar="NAME", show_default="site.version",
                     help="The site is this version, in a folder of this name below --out."),
    ] = None  # fmt: skip
    alias: Annotated[
        list[str] | None,
        typer.Option("--alias", metavar="NAME", show_default="site.aliases",
                     help="Another name of the version, such as latest; may be repeated."),
    ] = None  # fmt: skip
    insert: Annotated[
        bool, typer.Option("--insert", help="With --search-only: add the script line to every page.")
    ] = False

    def require_compatible(self) -> None:
        """Raise ``SettingsError`` if flags are given that exclude each other."""
        if self.insert and not self.search_only:
            what, hint = "--insert needs --search-only", "A whole site needs no script line."
            raise SettingsError(what, where="noctule site", hint=hint)
        if self.search_only and (self.version or self.alias):
            what = "--version and --alias cannot be combined with --search-only"
            hint = "Give the folder of that version's pages as --out."
            raise SettingsError(what, where="noctule site", hint=hint)

    def flow(self) -> tuple[str, dict[str, object]]:
        """Return the Prefect flow that does this, and its own parameters."""
        if self.search_only:
            return "site:search_only", {"insert": self.insert}
        return "site:site", {"full": self.full, "version": self.version, "aliases": self.alias}


def site(flags: Flags, what: SiteFlags, out: Out = Path("public"), no_prefect: NoPrefect = False) -> None:
    """Render the current snapshot as a static site, replacing an older one in one step.

    Examples: noctule site --out public, then open public/index.html ; noctule site --search-only --out html
    """
    from ...pipeline.directives import is_fault, require_followed
    from ..report.store import remarks_of

    what.require_compatible()
    run = _context(flags, what, out)
    with flags.open_store().open() as snapshot:
        remarks = remarks_of(snapshot)
    if what.strict:
        require_followed(remarks)
    done = _build(flags, run, what, no_prefect=no_prefect)
    if done.search is not None:
        _print_search(flags, done.search, what.insert)
    elif done.site is not None:
        _print_site(flags, done.site)
        if left := sum(is_fault(remark) for _, remark in remarks):
            output.say(
                f"{left:,} directives are shown as text or name a missing file; noctule report lists them"
            )


def _context(flags: Flags, what: SiteFlags, out: Path) -> RunContext:
    from ...docsite.build import refuse_other_content
    from ..run.context import BuildOptions, RunContext
    from ..run.request import read_settings, with_version

    settings = with_version(read_settings(flags.config), what.version, what.alias or [])
    if not (what.search_only or settings.site.version):
        refuse_other_content(out.resolve())  # now, not after the search index is made
    return RunContext(settings, flags.store.absolute(), BuildOptions(full=what.full), out.absolute())


def _build(flags: Flags, run: RunContext, what: SiteFlags, *, no_prefect: bool) -> JobResult:
    def work(driver: Driver, progress: Progress) -> JobResult:
        from ..job import run_job, run_search_only

        if what.search_only:
            return run_search_only(run, driver, insert=what.insert)
        return run_job(run, driver, progress, index=False, publish=False)

    flow, own = what.flow()
    given = {"config": runs.path_text(flags.config), "store": str(run.store), "out": str(run.out)}
    return runs.run_work(flags, run, work, flow, given | own, no_prefect=no_prefect)


def nightly(flags: Flags, build: BuildFlags, out: Out = Path("public")) -> None:
    """Index the collections in the settings, build the site, and send the snapshot to publish.targets.

    This is the command for a timer.

    Example: noctule nightly --config /srv/docs/noctule.toml --out /srv/www (configs/noctule.timer runs it)
    """
    from ..incremental.preflight import preflight

    request = runs.request_of(flags, build=build)
    run, same = preflight(request, out.absolute())

    def work(driver: Driver, progress: Progress) -> JobResult:
        from ..job import run_job

        return run_job(run, driver, progress, same=same)

    plain, parameters = (
        runs.is_plain(same, build.no_prefect),
        runs.parameters_of(request) | {"out": str(run.out)},
    )
    _print_night(flags, runs.run_work(flags, run, work, "nightly:nightly", parameters, no_prefect=plain))


def _print_night(flags: Flags, night: JobResult) -> None:
    # Not before: they take half a second, for which Prefect's server would wait.
    from ..report.result import require_whole
    from ..report.summary import as_json

    assert night.build is not None and night.site is not None
    if flags.as_json:
        output.emit(as_json(night.build) | {"site": _site_json(night.site)})
    else:
        runs.print_build(night.build)
        _print_site(flags, night.site)
    require_whole(night.build)


def check_files(flags: Flags, folder: Path, *, alone: bool) -> None:
    """Check the files of a site against its record and print what was found; raise ``DamagedSite``."""
    from ...docsite.verify import check_site, require_sound

    if not alone:
        raise SettingsError(
            "--site cannot be combined with a snapshot or its options",
            where="noctule check",
            hint="Check the store and the site with two commands.",
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
        files = f"{counted(found.files, 'file')}, {size(found.bytes)}"
        output.say(f"site {found.folder} is sound: every byte of {files}, of snapshot {found.snapshot}")


def _site_json(built: SiteResult) -> dict[str, object]:
    return asdict(built) | {"index": str(built.index)}


def _print_site(flags: Flags, built: SiteResult) -> None:
    if flags.as_json:
        output.emit(_site_json(built))
        return
    files = f"{counted(built.files, 'file')} ({built.written:,} new)"
    output.say(f"site: {counted(built.pages, 'page')}, {files}, {size(built.bytes)}")
    if built.healed:
        output.say(f"{built.healed:,} damaged files were rebuilt")
    output.say(f"Open {built.index}")


def _print_search(flags: Flags, built: SearchOnlyResult, insert: bool) -> None:
    """Print what the search holds, and the line that pages need for it."""
    if flags.as_json:
        output.emit(asdict(built) | {"folder": str(built.folder)})
        return
    files = f"{counted(built.files, 'file')} ({built.written:,} new)"
    output.say(f"search: {counted(built.pages, 'page')}, {files}, {size(built.bytes)} in {built.folder}")
    if built.missing:
        output.say(f"Pages that are not in the folder: {built.missing:,}. Index it again.")
    if insert:
        output.say(
            f"{counted(built.inserted, 'page')} got the script line; others already have it or are not HTML."
        )
        return
    output.say(
        "Add this line to every page (../ before _noctule for each folder a page lies in), "
        "or run it with --insert:"
    )
    output.say(f"  {built.line}")
