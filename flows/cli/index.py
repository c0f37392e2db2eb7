"""The command ``index``: folders of documents become a snapshot; ``--dry-run`` prints what would be done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ...pipeline.printable import counted
from ..run.progress import size
from . import output, runs
from .flags import Flags
from .runs import BuildFlags, SourceFlags

if TYPE_CHECKING:
    from ..job import JobResult
    from ..report.dry_run import CollectionChanges, DryRun
    from ..report.history import Estimate
    from ..report.result import BuildResult
    from ..run.request import IndexRequest
    from ..run.stage import Driver, Progress

_MAX_SHOWN = 20
Drafts = Annotated[
    bool, typer.Option("--drafts", help="Include drafts: documents that are not published yet.")
]
_DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Show what would be done and how long it may take; write nothing."),
]
_From = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="STAGE",
        help="Repeat this stage and all that need it; noctule graph lists them. "
        "From a stage that needs parse on, the sources are not read (except for a corpus in shards).",
    ),
]


def index(
    flags: Flags,
    given: SourceFlags,
    build: BuildFlags,
    dry_run: _DryRun = False,
    start: _From = None,
    drafts: Drafts = False,
) -> None:
    """Turn folders of documents into a snapshot, make it the current one, and send it to publish.targets.

    Examples: noctule index docs/ ; noctule index ~/vault --collection notes ; noctule index --config mdn.toml
    """
    request = runs.request_of(flags, given, build, start=start, drafts=drafts)
    if dry_run:
        print_plan(request, flags)
        return
    result = _build(flags, request, build.no_prefect)
    if flags.as_json:
        from ..report.summary import as_json

        output.emit(as_json(result))
    else:
        runs.print_build(result)
        output.say('Next: noctule search "your question"')
    from ..report.result import require_whole

    require_whole(result)


def _build(flags: Flags, request: IndexRequest, no_prefect: bool) -> BuildResult:
    from ..incremental.preflight import preflight

    run, same = preflight(request)
    own = {
        "sources": list(request.sources),
        "collection": request.collection,
        "start": request.options.start,
        "drafts": request.drafts,
    }

    def work(driver: Driver, progress: Progress) -> JobResult:
        from ..job import run_job

        return run_job(run, driver, progress, same=same)

    plain, parameters = runs.is_plain(same, no_prefect), runs.parameters_of(request) | own
    built = runs.run_work(flags, run, work, "index:index", parameters, no_prefect=plain).build
    assert built is not None
    return built


def print_plan(request: IndexRequest, flags: Flags) -> None:
    """Print the files new, changed, moved and removed, what is made anew and why, and the likely time."""
    from ..graph import context_of
    from ..report.dry_run import dry_run

    found = dry_run(context_of(request), flags.open_store())
    if flags.as_json:
        output.emit(found.as_dict())
        return
    if found.collections:
        names = ("collection", "files", "new", "changed", "moved", "removed", "unchanged")
        output.table(names, [_row(each) for each in found.collections])
    _print_names(found)
    output.say_some(
        [f"{each.kind}: {each.collection}:{each.path}: {each.reason}" for each in found.rejections],
        _MAX_SHOWN,
    )
    for reason in found.rebuilt:
        output.say(str(reason))
    stops = "the run would stop"
    then = stops if found.stops else "it would keep the documents it has, and the run end with code 5"
    for name, why in found.stopped.items():
        output.say(f"{name} would fail, so {then}: {why}")
    _print_time(found)
    unread = f"No file would be read, from {request.options.start} on"
    output.say(f"{f'{size(found.bytes)} would be read' if found.reads else unread}. Nothing was written.")


def _row(each: CollectionChanges) -> tuple[str, ...]:
    changes = map(len, (each.new, each.changed, each.moved, each.removed))
    return (each.collection, *(f"{count:,}" for count in (each.files, *changes, each.unchanged)))


def _print_names(found: DryRun) -> None:
    """Print the files that are not as they were; of a collection that is all new, print none."""
    lines = [
        f"  {what}: {each.collection}:{path}"
        for each in found.collections
        if each.unchanged or each.removed or each.changed
        for what in ("new", "changed", "moved", "removed")
        for path in getattr(each, what)
    ]
    output.say_some(lines, _MAX_SHOWN, "  and {} more (all of them: --json)")


def _print_time(found: DryRun) -> None:
    time = found.time
    if _is_quiet(found) and (time is None or time.kind == "unchanged"):
        output.say("Nothing has changed: the run would end as soon as it had compared the files.")
        return
    if time is None:
        output.say("How long it would take is not known: this store has no record of a run.")
        return
    output.say(
        f"About {counted(found.texts, 'text')} to encode, {_seconds(time.seconds)} in all "
        f"({_seconds(time.least)} to {_seconds(time.most)}, estimated from {_runs(time)})"
    )
    longest = sorted(time.stages.items(), key=lambda each: (-each[1], each[0]))[:4]
    output.say("  most of it: " + ", ".join(f"{name} {_seconds(seconds)}" for name, seconds in longest))


def _is_quiet(found: DryRun) -> bool:
    changes = any(each.new or each.changed or each.moved or each.removed for each in found.collections)
    return bool(found.collections) and not changes and not found.rebuilt


def _runs(time: Estimate) -> str:
    return f"{time.runs} {time.kind} run{'s' if time.runs > 1 else ''}"


def _seconds(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"
