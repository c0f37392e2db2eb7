"""The commands ``graph``, for the stages of a build or the link graph, and ``links``, for broken links."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...pipeline.errors import QueryError
from ...pipeline.printable import counted
from . import output
from .flags import Flags, SnapshotOption
from .runs import SourceFlags, request_of

if TYPE_CHECKING:
    from ..report.broken_links import BrokenLink


class _Format(StrEnum):
    TEXT = "text"
    MERMAID = "mermaid"
    GRAPHML = "graphml"
    GEXF = "gexf"
    JSON = "json"


def graph(
    flags: Flags,
    links: Annotated[
        bool, typer.Option("--links", help="Export a snapshot's documents and links instead of the stages.")
    ] = False,
    form: Annotated[
        _Format | None,
        typer.Option("--format", help="Stages: text or mermaid. Links: graphml, gexf or json."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write to this file instead of standard output."),
    ] = None,
    snapshot: SnapshotOption = None,
) -> None:
    """Print the stages of a build and what each needs; with --links, export the link graph of a snapshot.

    Examples: noctule graph ; noctule graph --format mermaid ; noctule graph --links --out links.graphml
    """
    chosen = form or (_Format.GRAPHML if links else _Format.TEXT)
    if links == (chosen in (_Format.TEXT, _Format.MERMAID)):
        what = f"--format {chosen} is not available for {'links' if links else 'stages'}"
        hint = "Stages: text or mermaid. Links (--links): graphml, gexf or json."
        raise QueryError(what, where="noctule graph", hint=hint)
    if links:
        _export(flags, chosen, out, snapshot)
    else:
        _draw(flags, chosen, out)


def _draw(flags: Flags, form: _Format, out: Path | None) -> None:
    from ...artifacts.disk import durable
    from ..graph import BUILD
    from ..report.drawing import as_mermaid, as_rows, as_text

    if flags.as_json:
        output.emit({"stages": as_rows(BUILD)})
        return
    drawn = as_mermaid(BUILD) if form is _Format.MERMAID else as_text(BUILD)
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
        documents, edges = counted(counts["documents"], "document"), counted(counts["edges"], "edge")
        output.say(f"{out}: {documents}, {edges}, as {form}")


def links(
    flags: Flags,
    given: SourceFlags,
    warn: Annotated[bool, typer.Option("--warn", help="Exit with code 0 even if links are broken.")] = False,
) -> None:
    """List broken links, without indexing anything; exit with code 2 if there are any.

    Examples: noctule links docs/ ; noctule links --json
    """
    from ..report.broken_links import broken_links

    found = broken_links(request_of(flags, given).described())
    if flags.as_json:
        output.emit(found.as_dict())
    else:
        for each in found.broken:
            output.say(_line(each))
        for name, reason in found.left_out.items():
            output.complain(f"left out: {name}: {reason}")
        if not flags.quiet:
            links, documents = counted(found.links, "link"), counted(found.documents, "document")
            output.complain(f"broken: {len(found.broken):,} of {links} in {documents}")
    if found.broken and not warn:
        raise typer.Exit(2)


def _line(link: BrokenLink) -> str:
    place = f"{link.path}:{link.line}" if link.line else link.path
    return f"{place}: no such {link.missing}: {link.target}"
