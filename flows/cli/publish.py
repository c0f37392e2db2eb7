"""The command ``publish``: the current snapshot is sent to folders or addresses."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...pipeline.errors import SettingsError
from ...pipeline.printable import counted
from ..run.progress import size
from . import output
from .flags import Flags

if TYPE_CHECKING:
    from ...artifacts.remote.send import Sent


@dataclass(frozen=True, slots=True)
class PublishFlags:
    """Where snapshots are sent, and how."""

    to: Annotated[
        list[str] | None,
        typer.Option("--to", metavar="TARGET", help="A folder or an address; may be repeated.",
                     show_default="publish.targets"),
    ] = None  # fmt: skip
    keep: Annotated[
        int | None,
        typer.Option("--keep", min=0, metavar="N", show_default="publish.keep",
                     help="How many snapshots to keep there besides the current and the previous one."),
    ] = None  # fmt: skip
    deep: Annotated[
        bool, typer.Option("--deep", help="Read back the files already there, and repair damaged ones.")
    ] = False
    sign: Annotated[
        str | None,
        typer.Option("--sign", metavar="KEY", show_default="publish.sign",
                     help="Sign the manifest there with this OpenSSH key (ssh-keygen -Y sign)."),
    ] = None  # fmt: skip


def publish(flags: Flags, given: PublishFlags) -> None:
    """Copy the current snapshot to folders or addresses: data first, each file verified, the pointer last.

    Examples: noctule publish --to s3://bucket/docs ; noctule publish --to /mnt/mirror --to sftp://host/srv/docs
    """
    from ..run.plain import PlainDriver
    from ..run.request import read_settings
    from ..stages.publish import publish_elsewhere

    settings = read_settings(flags.config).publish
    targets = tuple(given.to or settings.targets)
    if not targets:
        hint = "Name one: noctule publish --to s3://bucket/docs"
        raise SettingsError("there is no target to publish to", where="publish.targets", hint=hint)
    kept, key = settings.keep if given.keep is None else given.keep, given.sign or settings.sign
    sent = publish_elsewhere(
        flags.store, targets, kept, PlainDriver(), deep=given.deep, sign_with=Path(key) if key else None
    )
    if flags.as_json:
        output.emit({"published": [_sent_json(each) for each in sent]})
        return
    for each in sent:
        output.say(f"{_sent_line(each)}{', signed' if key else ''}")


def _sent_line(sent: Sent) -> str:
    if not sent.changed:
        return f"{sent.target}: snapshot {sent.snapshot_id} is there already"
    removed = counted(len(sent.removed), "old snapshot")
    return (
        f"{sent.target}: snapshot {sent.snapshot_id} is current there: {counted(sent.sent, 'file')} sent "
        f"({size(sent.bytes)}), {sent.kept:,} already there, {removed} removed"
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
