"""The command ``trace``: where a passage comes from, and where it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import output
from .flags import Flags, SnapshotOption

if TYPE_CHECKING:
    from ..report.trace import Trace, TracedFile

_MOST_SHOWN = 10


def trace(
    flags: Flags,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A passage, section or document, an address or a path.")
    ],
    site: Annotated[
        Path, typer.Option("--site", metavar="DIR", help="The folder of the site, if there is one.")
    ] = Path("public"),
    snapshot: SnapshotOption = None,
) -> None:
    """Show where a passage comes from: source file, commit, parser, vector row, page, snapshots.

    Examples: noctule trace docs:guide/install.md@2 ; noctule trace https://docs.example.org/install.html
    """
    from ..report.trace import trace as traced
    from ..run.request import read_settings

    found = traced(flags.open_store(), name, read_settings(flags.config), site, snapshot)
    if flags.as_json:
        output.emit(found.as_dict())
        return
    for line in lines(found):
        output.say(line)


def lines(found: Trace) -> Iterator[str]:
    """Yield what is printed of a lineage, a line each."""
    yield f"document  {found.doc_id}  {found.title}"
    yield f"address   {found.url}"
    yield f"source    {found.path}  SHA-256 {found.source_sha256}"
    yield f"on disk   {_file(found.source, 'not known: the settings name no such collection')}"
    yield f"parsed    {found.syntax}  {', '.join(f'{name} {each}' for name, each in found.tools.items())}"
    for each in found.passages[:_MOST_SHOWN]:
        yield (
            f"passage   {each.passage_id}  section {each.section_id}  bytes {each.byte_start}-{each.byte_end}"
            f"  vector row {each.vector_row}  content {each.content_hash}"
        )
    if len(found.passages) > _MOST_SHOWN:
        yield f"          and {len(found.passages) - _MOST_SHOWN:,} more (all of them: --json)"
    yield f"page      {_file(found.site_file, 'not in this site, or there is none')}"
    for held in found.snapshots:
        same = "the same source" if held.is_same else "another source"
        yield f"snapshot  {held.snapshot}  {same}{', current' if held.is_current else ''}"


def _file(found: TracedFile | None, missing: str) -> str:
    if found is None:
        return missing
    if not found.sha256:
        return f"{found.path}  gone, or not readable"
    commit = f"  commit {found.commit}" if found.commit else ""
    return f"{found.path}  {'unchanged' if found.is_same else 'changed since'}{commit}"
