"""The commands of the store: ``check``, ``snapshots``, ``rollback``, ``prune``, ``report``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...pipeline.errors import SettingsError
from ...pipeline.printable import counted
from ..run.progress import size
from . import output
from .flags import Flags, RequireSigned

if TYPE_CHECKING:
    from ...pipeline.model import SnapshotId
    from ..report.store import SnapshotReport, UnresolvedLink

_MAX_SHOWN = 20
_MORE = "  and {} more (all of them: --json)"
_Snapshot = Annotated[
    str | None, typer.Argument(metavar="SNAPSHOT", help="A snapshot's id. By default the current one.")
]


@dataclass(frozen=True, slots=True)
class CheckFlags:
    """What is checked, and how closely."""

    snapshot: _Snapshot = None
    deep: Annotated[
        bool, typer.Option("--deep", help="Read every byte and follow every reference (the default).")
    ] = False
    quick: Annotated[bool, typer.Option("--quick", help="Check only the manifest and the files' sizes.")] = (
        False
    )
    require_signed: RequireSigned = None


def check(
    flags: Flags,
    given: CheckFlags,
    site: Annotated[
        Path | None, typer.Option("--site", metavar="DIR", help="Read every file of this site instead.")
    ] = None,
) -> None:
    """Verify a snapshot or a site: every byte is as it was published, and every reference is valid.

    A snapshot's check includes the exported model that encodes queries.

    Examples: noctule check ; noctule check --quick 3f9c0d2b7a6e5f4d1c0b ; noctule check --site public
    """
    if given.deep and given.quick:
        raise SettingsError("--deep and --quick cannot be combined", where="check", hint="Leave one out.")
    if site is not None:
        from .site import check_files

        check_files(flags, site, alone=given == CheckFlags())
        return
    number, signer = _proved(flags, given)
    if flags.as_json:
        signed = {} if given.require_signed is None else {"signed_by": signer}
        output.emit({"snapshot": number, "deep": not given.quick, "sound": True, **signed})
        return
    quick = "has a sound manifest and files of the right sizes; no bytes were read"
    output.say(f"snapshot {number} {quick if given.quick else 'is sound: every byte and reference'}")
    if given.require_signed is not None:
        output.say(f"signed by {signer}")


def _proved(flags: Flags, given: CheckFlags) -> tuple[SnapshotId, str]:
    """Return the snapshot that is sound, and who signed it where that was asked for; raise if it is not."""
    from ...artifacts.store.check import check_deep, check_structure
    from ...artifacts.store.query_models import require_sound
    from ...artifacts.store.snapshot import read_manifest
    from ..report.store import chosen

    store = flags.open_store()
    number = chosen(store, given.snapshot)
    path = store.path_of(number)
    signer = "" if given.require_signed is None else store.require_signed(number, given.require_signed)
    with output.progress(flags.quiet, flags.as_json) as progress:
        progress.begin("check", 0, "")
        try:
            check_structure(path, number) if given.quick else check_deep(path, number)
            require_sound(store.root, read_manifest(path, number).query_model, quick=given.quick)
        finally:
            progress.end()
    return number, signer


def snapshots(flags: Flags) -> None:
    """List the snapshots in the store, the latest first.

    Example: noctule snapshots --json
    """
    from ..report.store import snapshot_rows

    rows = snapshot_rows(flags.open_store())
    if flags.as_json:
        output.emit({"snapshots": [asdict(row) for row in rows]})
        return
    if not rows:
        output.say("There are no snapshots. Make one: noctule index FOLDER")
        return
    output.table(
        ("", "snapshot", "generation", "documents", "passages", "size", ""),
        [
            (
                "*" if row.current else "",
                row.snapshot,
                str(row.generation),
                f"{row.documents:,}",
                f"{row.passages:,}",
                size(row.bytes),
                row.damage,
            )
            for row in rows
        ],
    )


def rollback(
    flags: Flags,
    snapshot: Annotated[
        str | None,
        typer.Argument(metavar="SNAPSHOT", help="A snapshot's id. By default the previous one."),
    ] = None,
) -> None:
    """Make the previous snapshot, or the one named, current again; a second rollback undoes the first.

    Examples: noctule rollback ; noctule rollback 3f9c0d2b7a6e5f4d1c0b
    """
    from ...pipeline.model import SnapshotId

    now = flags.open_store().rollback(None if snapshot is None else SnapshotId(snapshot))
    if flags.as_json:
        output.emit({"snapshot": now})
        return
    output.say(f"snapshot {now} is current")


@dataclass(frozen=True, slots=True)
class PruneFlags:
    """What is kept of old snapshots and of stored vectors."""

    keep: Annotated[
        int | None,
        typer.Option("--keep", min=0, metavar="N", show_default="store.keep",
                     help="How many to keep besides the current and the previous one."),
    ] = None  # fmt: skip
    embeddings: Annotated[
        bool, typer.Option("--embeddings", help="Also remove stored vectors that no remaining snapshot uses.")
    ] = False
    spare_runs: Annotated[
        int,
        typer.Option("--spare-runs", min=0, metavar="N",
                     help="Keep all vectors made since the start of the N-th last run."),
    ] = 1  # fmt: skip


def prune(flags: Flags, given: PruneFlags) -> None:
    """Remove old snapshots and sites set aside, but not the current and previous snapshot or any in use.

    Examples: noctule prune --keep 2 ; noctule prune --embeddings
    """
    from ..incremental.pruning import prune_store
    from ..run.request import read_settings

    store, settings = flags.open_store(), read_settings(flags.config)
    kept = settings.store.keep if given.keep is None else given.keep
    done = prune_store(store, kept, settings, given.spare_runs if given.embeddings else None)
    freed = done.embeddings
    if flags.as_json:
        output.emit({"removed": list(done.removed), "embeddings": asdict(freed) if freed else None})
        return
    for each in done.removed:
        output.say(f"removed {each}")
    output.say(f"{len(done.removed)} removed, {len(store.snapshots())} left")
    if freed:
        output.say(
            f"embeddings: {counted(freed.vectors, 'vector')} dropped, {size(freed.bytes)} freed, "
            f"{size(freed.kept_bytes)} left"
        )


def report(flags: Flags, snapshot: _Snapshot = None) -> None:
    """Show what a snapshot contains, which files were left out and why, broken links, and the time of stages.

    Example: noctule report --json
    """
    from ..report.store import snapshot_report

    found = snapshot_report(flags.open_store(), snapshot)
    if flags.as_json:
        output.emit(found.as_dict())
        return
    _print_report(found)


def _print_targets(targets: Sequence[UnresolvedLink]) -> None:
    lines = (f"  {t.count:>5,}  {t.target}  (first in {t.first_source}; {t.status})" for t in targets)
    output.say_some([*lines], _MAX_SHOWN, _MORE)


def _print_report(found: SnapshotReport) -> None:
    output.say(f"snapshot {found.snapshot}, settings {found.settings_sha256[:12]}, model {found.model}")
    output.table(("table", "rows"), [(name, f"{rows:,}") for name, rows in found.counts.items()])
    output.say()
    _print_left_out(found)
    output.say()
    output.say(f"Broken links: {found.unresolved:,}")
    _print_targets(found.unresolved_targets)
    if found.other_projects:
        others = sum(each.count for each in found.other_projects)
        output.say(f"Labels of other projects, or of none: {others:,}")
        _print_targets(found.other_projects)
    _print_night(found.night)
    if found.stages:
        output.say()
        output.say(f"The run that made it: {found.finished}, {found.seconds:.1f} s")
        seconds = [(name, f"{seconds:.2f}") for name, seconds in found.stages.items()]
        output.table(("stage", "seconds"), seconds)
    _print_gate("How it answers judged queries:", found.relevance)
    if found.refused:
        relevance = found.refused["relevance"]
        heading = f"Not published, {found.refused['finished']}: snapshot {found.refused['refused']}"
        _print_gate(heading, relevance if isinstance(relevance, dict) else {})


def _print_left_out(found: SnapshotReport) -> None:
    output.say(f"Left out: {found.skipped:,} skipped, {found.quarantined:,} quarantined")
    if any(found.private.values()):
        counts = "{drafts:,} drafts, {unlisted:,} unlisted, {unsearched:,} excluded from search"
        output.say(f"Private by their front matter: {counts.format(**found.private)}")
    if found.directives:
        output.say(f"Directives shown as text or naming a missing file: {found.directives:,}")
    rejected = [f"  {each.kind}: {each.collection}:{each.path}: {each.reason}" for each in found.rejected]
    output.say_some(rejected, _MAX_SHOWN, _MORE)


def _print_night(night: Mapping[str, Any]) -> None:
    """Print what changed with the snapshot, a line for each part; all of it is on the site and in JSON."""
    from ..report.sheets import sheets

    if not night:
        return
    output.say()
    previous = night["previous"]
    output.say(f"Compared with {previous}:" if previous else "The first snapshot of its store:")
    for sheet in sheets(night):
        if sheet.sentence:
            output.say(f"  {sheet.heading}: {sheet.sentence}")


def _print_gate(heading: str, relevance: Mapping[str, object]) -> None:
    from ..report.store import gate_lines

    lines = gate_lines(relevance)
    if lines:
        output.say()
        output.say(heading)
    for line in lines:
        output.say(f"  {line}")
