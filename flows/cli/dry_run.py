"""What ``index --dry-run`` prints."""

from __future__ import annotations

from ..report.dry_run import CollectionChanges, Forecast
from ..run.progress import size
from ..run.request import IndexRequest
from . import output
from .flags import Flags

_MAX_SHOWN = 20
_KINDS = {"first": "run(s) over everything", "night": "night(s)", "unchanged": "night(s) without a change"}


def print_plan(request: IndexRequest, flags: Flags) -> None:
    """Print the files new, changed, moved and removed, what is made anew and why, and the likely time."""
    from ...artifacts.store.store import Store
    from ..graph import context_of
    from ..report.dry_run import forecast

    found = forecast(context_of(request), Store(request.store))
    if flags.as_json:
        output.emit(found.as_dict())
        return
    if found.collections:
        names = ("collection", "files", "new", "changed", "moved", "removed", "unchanged")
        output.table(names, [_row(each) for each in found.collections])
    _print_names(found)
    for each in found.rejections[:_MAX_SHOWN]:
        output.say(f"{each.kind}: {each.collection}:{each.path}: {each.reason}")
    if len(found.rejections) > _MAX_SHOWN:
        output.say(f"and {len(found.rejections) - _MAX_SHOWN:,} more")
    for reason in found.rebuilt:
        output.say(str(reason))
    for name, why in found.stopped.items():
        then = (
            "the run would stop"
            if found.stops
            else "it would keep the documents it has, and the run end with code 5"
        )
        output.say(f"{name} would fail, so {then}: {why}")
    _print_time(found)
    read = (
        f"{size(found.bytes)} would be read"
        if found.reads
        else f"No file would be read, from {request.start} on"
    )
    output.say(f"{read}. Nothing was written.")


def _row(each: CollectionChanges) -> tuple[str, ...]:
    counts = (
        each.files,
        len(each.new),
        len(each.changed),
        len(each.moved),
        len(each.removed),
        each.unchanged,
    )
    return (each.collection, *(f"{count:,}" for count in counts))


def _print_names(found: Forecast) -> None:
    """Print the files that are not as they were; of a collection that is all new, print none."""
    lines = [
        f"  {what}: {each.collection}:{path}"
        for each in found.collections
        if each.unchanged or each.removed or each.changed
        for what, paths in (
            ("new", each.new),
            ("changed", each.changed),
            ("moved", each.moved),
            ("removed", each.removed),
        )
        for path in paths
    ]
    for line in lines[:_MAX_SHOWN]:
        output.say(line)
    if len(lines) > _MAX_SHOWN:
        output.say(f"  and {len(lines) - _MAX_SHOWN:,} more (all of them: --json)")


def _print_time(found: Forecast) -> None:
    time = found.time
    if time is None:
        output.say(
            f"About {found.texts:,} texts to encode. No run is on record to tell how long it may take."
        )
        return
    output.say(
        f"About {found.texts:,} texts to encode, {_seconds(time.seconds)} in all "
        f"({_seconds(time.least)} to {_seconds(time.most)}, going by {time.runs} {_KINDS[time.kind]})"
    )
    longest = sorted(time.stages.items(), key=lambda each: (-each[1], each[0]))[:4]
    output.say("  most of it: " + ", ".join(f"{name} {_seconds(seconds)}" for name, seconds in longest))


def _seconds(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"
