"""The command ``graph``: the link graph of a snapshot, in formats that other programs read."""

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
        _Format, typer.Option("--format", help="How the link graph is written.")
    ] = _Format.GRAPHML,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write to this file, not to standard output.", show_default=False),
    ] = None,
    snapshot: Annotated[
        str | None,
        typer.Option(
            "--snapshot", metavar="ID", help="A snapshot's id; the current one if not given.", show_default=False
        ),
    ] = None,
) -> None:  # fmt: skip
    """Export the graph of documents and links, for networkx, Gephi, Cytoscape or yEd.

    Examples: noctule graph --links --out links.graphml ; noctule graph --links --format json
    """
    if not links:
        raise QueryError(
            "it is not said which graph is wanted",
            where="graph",
            hint="The documents and the links between them: noctule graph --links",
        )
    _export(flags, form, out, snapshot)


def _export(flags: Flags, form: _Format, out: Path | None, snapshot: str | None) -> None:
    from ...artifacts.query.graph import FORMATS, link_graph
    from ...artifacts.store import durable

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
