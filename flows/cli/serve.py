"""The command ``serve``: a site in the browser, and with ``--watch`` while its documents are written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...pipeline.errors import SourceError
from . import output
from .flags import Flags
from .index import CollectionName, Drafts, Sources
from .runs import request_of
from .site import Out


def serve(  # noqa: PLR0913, PLR0917  # each is a flag
    flags: Flags,
    sources: Sources = None,
    collection: CollectionName = None,
    out: Out = Path("public"),
    drafts: Drafts = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Show documents as they are saved, and build what changed.")
    ] = False,
    host: Annotated[
        str, typer.Option("--host", metavar="NAME", help="The address to listen on.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65535, help="The port; 0 takes a free one.")
    ] = 8000,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the site in the browser.")] = False,
) -> None:
    """Serve a site on this machine; with --watch it follows its documents while you write.

    Examples: noctule serve ; noctule serve --watch docs/ --open
    """
    from ...docsite.build import refuse_other_content
    from ..preview.app import serve as run
    from ..preview.watch import Preview

    site = out.absolute()
    preview = None
    if watch:
        request = request_of(flags, sources=tuple(sources or ()), collection=collection, drafts=drafts)
        request.settings()  # or say at once what is wrong with them
        refuse_other_content(site.resolve())
        preview = Preview(request, site.resolve())
    elif sources or collection or drafts:
        raise SourceError("folders and drafts go with --watch", where="noctule serve", hint="Add --watch.")
    elif not (site / "index.html").is_file():
        raise SourceError("there is no site", where=str(site), hint="Build it first: noctule site")

    def ready(address: str) -> None:
        output.say(f"{'Previewing' if watch else 'Serving'} {site} at {address} (Ctrl-C ends it)")
        if open_browser:
            typer.launch(address)

    run(site.resolve(), host, port, preview, ready)
