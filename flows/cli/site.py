"""The commands that bring documents to readers elsewhere: ``site``, ``nightly``, ``publish``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...pipeline.errors import SettingsError
from ...pipeline.printable import counted
from ..run.progress import size
from . import output, runs
from .flags import Flags
from .runs import AcceptDrop, AcceptShrink, AllowEmpty, Engine, NoPrefect

if TYPE_CHECKING:
    from ...artifacts.remote.send import Sent
    from ...docsite.build import SiteResult
    from ...docsite.search_only import SearchOnlyResult
    from ...docsite.verify import SiteCheck
    from ..job import JobResult
    from ..run.stage import Driver, Progress

_MAX_SHOWN = 20
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder of the site.")]


def site(  # noqa: PLR0913, PLR0917  # what the command line offers
    flags: Flags,
    out: Out = Path("public"),
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
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Fail where a document shows a directive, or lacks what it includes."),
    ] = False,
    version: Annotated[
        str | None,
        typer.Option("--version", metavar="NAME", show_default="site.version",
                     help="The site is this version, in a folder of this name below --out."),
    ] = None,
    alias: Annotated[
        list[str] | None,
        typer.Option("--alias", metavar="NAME", show_default="site.aliases",
                     help="Another name of the version, such as latest; again for more."),
    ] = None,
    insert: Annotated[
        bool, typer.Option("--insert", help="With --search-only: also put the script line into every page.")
    ] = False,
) -> None:  # fmt: skip
    """Render the current snapshot as a static site; it replaces an older one at once.

    Examples: noctule site --out public, then open public/index.html ; noctule site --search-only --out html
    """
    from ...docsite.build import refuse_other_content
    from ...pipeline.directives import is_fault, require_followed
    from ..report.store import remarks_of
    from ..run.context import BuildOptions, RunContext
    from ..run.request import read_settings, with_version

    settings = with_version(read_settings(flags.config), version, alias or [])
    with flags.open_store().open() as snapshot:
        remarks = remarks_of(snapshot)
    if strict:
        require_followed(remarks)
    if insert and not search_only:
        raise SettingsError(
            "--insert goes with --search-only", where="noctule site", hint="A site of its own needs no line."
        )
    if search_only and (version or alias):
        raise SettingsError(
            "--version and --alias do not go with --search-only",
            where="noctule site",
            hint="Give the folder of that version's pages as --out.",
        )
    if not (search_only or settings.site.version):
        refuse_other_content(out.resolve())  # now, not after the search index is made
    run = RunContext(settings, flags.store.absolute(), BuildOptions(full=full), out.absolute())

    def work(driver: Driver, progress: Progress) -> JobResult:
        from ..job import run_job, run_search_only

        if search_only:
            return run_search_only(run, driver, insert=insert)
        return run_job(run, driver, progress, index=False, publish=False)

    given = {"config": runs.path_text(flags.config), "store": str(run.store), "out": str(run.out)}
    flow, own = (
        ("site:search_only", {"insert": insert})
        if search_only
        else ("site:site", {"full": full, "version": version, "aliases": alias})
    )
    done = runs.run_work(flags, run, work, flow, given | own, no_prefect=no_prefect)
    if done.search is not None:
        _print_search(flags, done.search, insert)
    elif done.site is not None:
        _print_site(flags, done.site)
        if left := sum(is_fault(remark) for _, remark in remarks):
            output.say(f"{left:,} directives stand as text or name a missing file: noctule report names them")


def nightly(
    flags: Flags,
    out: Out = Path("public"),
    no_prefect: NoPrefect = False,
    allow_empty: AllowEmpty = False,
    accept_drop: AcceptDrop = False,
    accept_shrink: AcceptShrink = False,
    engine: Engine = None,
) -> None:
    """Index what the settings describe, then build the site: the command for a timer.

    Example: noctule nightly --config /srv/docs/noctule.toml --out /srv/www (configs/noctule.timer runs it)
    """
    from ..incremental.preflight import preflight
    from ..run.context import BuildOptions

    request = runs.request_of(flags, BuildOptions(allow_empty, accept_drop, accept_shrink), engine)
    run, same = preflight(request, out.absolute())

    def work(driver: Driver, progress: Progress) -> JobResult:
        from ..job import run_job

        return run_job(run, driver, progress, same=same)

    plain, parameters = runs.is_plain(same, no_prefect), runs.parameters_of(request) | {"out": str(run.out)}
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
            "--site goes neither with a snapshot nor with its options",
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
        output.say(f"{built.healed:,} files were not as they had been written and are made anew")
    output.say(f"Open {built.index}")


def _print_search(flags: Flags, built: SearchOnlyResult, insert: bool) -> None:
    """Print what the search holds, and the line that pages need for it."""
    if flags.as_json:
        output.emit(asdict(built) | {"folder": str(built.folder)})
        return
    files = f"{counted(built.files, 'file')} ({built.written:,} new)"
    output.say(f"search: {counted(built.pages, 'page')}, {files}, {size(built.bytes)} in {built.folder}")
    if built.missing:
        output.say(f"{built.missing:,} of these pages are not in the folder: index it again.")
    if insert:
        output.say(f"{built.inserted:,} pages got the script line; the others have it or are no HTML.")
        return
    output.say(
        "Add this line to every page (../ before _noctule for each folder a page lies in), "
        "or run it with --insert:"
    )
    output.say(f"  {built.line}")


def publish(
    flags: Flags,
    to: Annotated[
        list[str] | None,
        typer.Option("--to", metavar="TARGET", help="A folder or an address; again for more.",
                     show_default="publish.targets"),
    ] = None,
    keep: Annotated[
        int | None,
        typer.Option("--keep", min=0, metavar="N", show_default="publish.keep",
                     help="How many snapshots stay there besides the current and the previous one."),
    ] = None,
    deep: Annotated[
        bool, typer.Option("--deep", help="Read back what is there already, and mend what is damaged.")
    ] = False,
    sign: Annotated[
        str | None,
        typer.Option("--sign", metavar="KEY", show_default="publish.sign",
                     help="Sign the manifest there with this key, by ssh-keygen -Y sign."),
    ] = None,
) -> None:  # fmt: skip
    """Send the current snapshot to folders or addresses: data first, each file verified, the pointer last.

    Examples: noctule publish --to s3://bucket/docs ; noctule publish --to /mnt/mirror --to sftp://host/srv/docs
    """
    from ..run.plain import PlainDriver
    from ..run.request import read_settings
    from ..stages.publish import publish_elsewhere

    settings = read_settings(flags.config).publish
    targets = tuple(to or settings.targets)
    if not targets:
        raise SettingsError(
            "there is no target to publish to",
            where="publish.targets",
            hint="Name one: noctule publish --to s3://bucket/docs",
        )
    kept = settings.keep if keep is None else keep
    key = sign or settings.sign
    sent = publish_elsewhere(
        flags.store, targets, kept, PlainDriver(), deep=deep, sign_with=Path(key) if key else None
    )
    if flags.as_json:
        output.emit({"published": [_sent_json(each) for each in sent]})
        return
    for each in sent:
        output.say(_sent_line(each))


def _sent_line(sent: Sent) -> str:
    if not sent.changed:
        return f"{sent.target}: snapshot {sent.snapshot_id} is there already"
    return (
        f"{sent.target}: snapshot {sent.snapshot_id} is current there: {sent.sent} files sent "
        f"({size(sent.bytes)}), {sent.kept} were there, {len(sent.removed)} old snapshots removed"
    )


def _sent_json(sent: Sent) -> dict[str, object]:
    return {
        "target": sent.target,
        "snapshot": sent.snapshot_id,
        "changed": sent.changed,
        "files_sent": sent.sent,
        "files_kept": sent.kept,
        "bytes_sent": sent.bytes,
        "removed": list(sent.removed),
    }
