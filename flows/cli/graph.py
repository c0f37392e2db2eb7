"""The command ``graph``: the stages of a build as text or Mermaid, and the link graph for other programs."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...pipeline.errors import QueryError
from . import output
from .flags import Flags, with_flags

if TYPE_CHECKING:
    from ...artifacts.store.snapshot import Snapshot


class _Format(StrEnum):
    TEXT = "text"
    MERMAID = "mermaid"
    GRAPHML = "graphml"
    GEXF = "gexf"
    JSON = "json"


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(with_flags(graph))


def graph(
    flags: Flags,
    links: Annotated[
        bool, typer.Option("--links", help="The documents of a snapshot and the links between them.")
    ] = False,
    form: Annotated[
        _Format | None,
        typer.Option(
            "--format", help="Stages: text or mermaid. Links: graphml, gexf or json.", show_default=False
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="FILE", help="Write to this file, not to standard output.", show_default=False
        ),
    ] = None,
    snapshot: Annotated[
        str | None,
        typer.Option(
            "--snapshot",
            metavar="ID",
            help="A snapshot's id; the current one if not given.",
            show_default=False,
        ),
    ] = None,
) -> None:  # fmt: skip
    """Print the stages of a build and what each needs; with --links export the graph of documents and links.

    Examples: noctule graph ; noctule graph --format mermaid ; noctule graph --links --out links.graphml
    """
    stages = (_Format.TEXT, _Format.MERMAID)
    chosen = form or (_Format.GRAPHML if links else _Format.TEXT)
    if links == (chosen in stages):
        raise QueryError(
            f"--format {chosen} is not for {'links' if links else 'stages'}",
            where="noctule graph",
            hint="Stages: text or mermaid. Links (--links): graphml, gexf or json.",
        )
    if links:
        _export(flags, chosen, out, snapshot)
        return
    from ..graph import BUILD
    from ..report.drawing import as_mermaid, as_rows, as_text

    if flags.as_json:
        output.emit({"stages": as_rows(BUILD)})
    elif out is not None:
        from ...artifacts.disk import durable

        durable.replace_file(out, (as_mermaid if chosen is _Format.MERMAID else as_text)(BUILD).encode())
    else:
        output.say((as_mermaid if chosen is _Format.MERMAID else as_text)(BUILD))


def _export(flags: Flags, form: _Format, out: Path | None, snapshot: str | None) -> None:
    from ...artifacts.disk import durable
    from ...artifacts.query.graph import FORMATS, link_graph

    with _opened(flags, snapshot) as opened:
        found, number = link_graph(opened), opened.id
    text = FORMATS[form](found)
    if out is None:
        sys.stdout.write(text)
        return
    durable.replace_file(out, text.encode("utf-8"))
    counts = {"documents": found.number_of_nodes(), "edges": found.number_of_edges()}
    if flags.as_json:
        output.emit({"snapshot": number, "format": str(form), "out": str(out), **counts})
    elif not flags.quiet:
        output.say(f"{out}: {counts['documents']:,} documents, {counts['edges']:,} edges, as {form}")


def _opened(flags: Flags, named: str | None) -> Snapshot:
    from ...artifacts.store.store import Store
    from ...pipeline.model import SnapshotId

    return Store(flags.store).open(None if named is None else SnapshotId(named))
