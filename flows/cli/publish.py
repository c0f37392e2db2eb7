"""The command ``publish``: the current snapshot goes to other places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ..run.progress import size
from . import output
from .flags import Flags, with_flags

if TYPE_CHECKING:
    from ...artifacts.remote.send import Sent


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(with_flags(publish))


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
) -> None:  # fmt: skip
    """Send the current snapshot to folders or addresses: data first, each file verified, the pointer last.

    Examples: noctule publish --to s3://bucket/docs ; noctule publish --to /mnt/mirror --to sftp://host/srv/docs
    """
    from ...pipeline.errors import SettingsError
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
    sent = publish_elsewhere(flags.store, targets, kept, PlainDriver(), deep=deep)
    if flags.as_json:
        output.emit({"published": [as_dict(each) for each in sent]})
        return
    for each in sent:
        output.say(line(each))


def line(sent: Sent) -> str:
    """Return what was sent, as a line for a person."""
    if not sent.changed:
        return f"{sent.target}: snapshot {sent.snapshot_id} is there already"
    return (
        f"{sent.target}: snapshot {sent.snapshot_id} is current there: {sent.sent} files sent "
        f"({size(sent.bytes)}), {sent.kept} were there, {len(sent.removed)} old snapshots removed"
    )


def as_dict(sent: Sent) -> dict[str, object]:
    """Return what was sent, as ``--json`` prints it."""
    return {
        "target": sent.target,
        "snapshot": sent.snapshot_id,
        "changed": sent.changed,
        "files_sent": sent.sent,
        "files_kept": sent.kept,
        "bytes_sent": sent.bytes,
        "removed": list(sent.removed),
    }
