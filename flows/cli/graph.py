"""The command ``graph``: the stages of a build as text or Mermaid, and the link graph for other programs."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ...pipeline.errors import QueryError
from . import output
from .flags import Flags, SnapshotOption


class _Format(StrEnum):
    TEXT = "text"
    MERMAID = "mermaid"
    GRAPHML = "graphml"
    GEXF = "gexf"
    JSON = "json"


def graph(
    flags: Flags,
    links: Annotated[
        bool, typer.Option("--links", help="The documents of a snapshot and the links between them.")
    ] = False,
    form: Annotated[
        _Format | None,
        typer.Option(
            "--format", help="Stages: text or mermaid. Links: graphml, gexf or json."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="FILE", help="Write to this file, not to standard output."
        ),
    ] = None,
    snapshot: SnapshotOption = None,
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
    from ...artifacts.disk import durable
    from ..graph import BUILD
    from ..report.drawing import as_mermaid, as_rows, as_text

    if flags.as_json:
        output.emit({"stages": as_rows(BUILD)})
        return
    drawn = as_mermaid(BUILD) if chosen is _Format.MERMAID else as_text(BUILD)
    if out is None:
        output.say(drawn)
    else:
        durable.replace_file(out, drawn.encode())


def _export(flags: Flags, form: _Format, out: Path | None, snapshot: str | None) -> None:
    from ...artifacts.disk import durable
    from ...artifacts.query.graph import FORMATS, link_graph

    with flags.open_snapshot(snapshot) as opened:
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
