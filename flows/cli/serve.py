"""The command ``serve``: searches and a site over HTTP, or with ``--watch`` a site while it is written."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...pipeline.errors import NoSnapshot, SettingsError, SourceError
from ..run.signals import ending_by_itself
from . import output
from .flags import Flags
from .index import CollectionName, Drafts, Sources
from .runs import request_of

if TYPE_CHECKING:
    from ...pipeline.settings.settings import Settings
    from ...server.run import ServedParts
    from ..run.request import IndexRequest

_DEFAULT_SITE = Path("public")
_SiteFolder = Annotated[
    Path | None,
    typer.Option("--site", "--out", metavar="DIR", help="The folder of the site.",
                 show_default="./public if there is one"),
]  # fmt: skip
_NoSite = Annotated[bool, typer.Option("--no-site", help="Serve searches alone.")]
_Host = Annotated[
    str | None,
    typer.Option("--host", metavar="NAME", help="The address to listen on.", show_default="127.0.0.1"),
]
_Port = Annotated[
    int | None,
    typer.Option("--port", metavar="N", min=0, max=65535, help="The port; 0 takes a free one.",
                 show_default="8000"),
]  # fmt: skip
_Workers = Annotated[
    int | None,
    typer.Option("--workers", metavar="N", min=1, max=64, help="Processes that answer searches.",
                 show_default="1"),
]  # fmt: skip
_Shards = Annotated[
    str | None,
    typer.Option("--shards", metavar="WHICH", help="Of a set, open these shards: 0,1,4-7 or a part, 1/2.",
                 show_default="all"),
]  # fmt: skip
_Router = Annotated[
    str | None,
    typer.Option("--router", metavar="URL,URL", help="Ask these servers, which hold some shards each."),
]
_Tokens = Annotated[
    Path | None,
    typer.Option("--tokens", metavar="FILE", help="Only who has a token of this file may search."),
]
_Anonymous = Annotated[
    bool, typer.Option("--allow-anonymous", help="Listen beyond this machine although nobody needs a token.")
]
_LogQueries = Annotated[bool, typer.Option("--log-queries", help="Log what is asked, too.")]
_Watch = Annotated[
    bool, typer.Option("--watch", help="Show documents as they are saved, and build what changed.")
]


def serve(  # noqa: PLR0913, PLR0917  # each is a flag
    flags: Flags,
    sources: Sources = None,
    collection: CollectionName = None,
    site: _SiteFolder = None,
    no_site: _NoSite = False,
    drafts: Drafts = False,
    watch: _Watch = False,
    host: _Host = None,
    port: _Port = None,
    workers: _Workers = None,
    shards: _Shards = None,
    router: _Router = None,
    tokens: _Tokens = None,
    allow_anonymous: _Anonymous = False,
    log_queries: _LogQueries = False,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the site in the browser.")] = False,
) -> None:
    """Serve searches of the store at /v1/, and beside them the site; with --watch preview documents.

    Examples: noctule serve ; noctule serve --no-site --tokens tokens.txt ; noctule serve --watch docs/ --open
    """
    from ...server.run import ServedParts, require_guarded, run

    listening = {"host": host, "port": port}
    named = str(tokens) if tokens else None
    asking: dict[str, object] = {"workers": workers, "tokens": named, "log_queries": log_queries or None}
    asking |= {"shards": shards, "router.backends": tuple(router.split(",")) if router else None}
    settings = _settings(flags, listening | asking)
    if watch:
        if no_site or allow_anonymous or any(each is not None for each in asking.values()):
            what = "--watch shows a site, and answers no searches at /v1/"
            raise SourceError(
                what, where="noctule serve", hint="Leave out the flags for searches, or --watch."
            )
        request = request_of(flags, sources=tuple(sources or ()), collection=collection, drafts=drafts)
        _preview(settings, site or _DEFAULT_SITE, open_browser, request)
        return
    if sources or collection or drafts:
        raise SourceError("folders and drafts go with --watch", where="noctule serve", hint="Add --watch.")
    folder = None if no_site else _site_folder(site)
    store = None if settings.serve.is_router else _store(flags, folder)
    parts = ServedParts(settings, store, folder, flags.quiet or flags.as_json)
    require_guarded(parts, allow_anonymous=allow_anonymous)
    with ending_by_itself():
        run(parts, lambda address: _tell(parts, address, open_browser))


def _settings(flags: Flags, given: Mapping[str, object]) -> Settings:
    """Return the settings with what the command line says of serving; raise ``SettingsError``."""
    from pydantic import ValidationError

    from ...pipeline.settings.serve import Serve
    from ..run.request import read_settings

    settings = read_settings(flags.config)
    named = {name: value for name, value in given.items() if value is not None}
    try:
        backends = named.pop("router.backends", settings.serve.router.backends)
        routed = settings.serve.router.model_dump() | {"backends": backends}
        serve = Serve.model_validate(settings.serve.model_dump() | named | {"router": routed})
    except ValidationError as error:
        first = error.errors()[0]
        where = f"noctule serve: {'.'.join(map(str, first['loc']))}"
        raise SettingsError(first["msg"].removeprefix("Value error, "), where=where) from None
    return settings.model_copy(update={"serve": serve})


def _site_folder(given: Path | None) -> Path | None:
    """Return the folder of the site; raise ``SourceError`` if one is named that is none."""
    folder = (given or _DEFAULT_SITE).absolute()
    if (folder / "index.html").is_file():
        return folder.resolve()
    if given is not None:
        raise SourceError("there is no site", where=str(folder), hint="Build it first: noctule site")
    return None


def _store(flags: Flags, site: Path | None) -> Path | None:
    """Return the store if it has a snapshot, ``None`` if there is a site to serve without one.

    Raise ``NoSnapshot`` if there is neither.
    """
    if flags.open_store().current() is not None:
        return flags.store.absolute()
    if site is None:
        hint = "Index documents first, noctule index; or build a site, noctule site."
        what = "there is nothing to serve: no snapshot, and no site"
        raise NoSnapshot(what, where=str(flags.store), hint=hint)
    return None


def _tell(parts: ServedParts, address: str, open_browser: bool) -> None:
    if parts.settings.serve.is_router:
        output.say(f"Asking {', '.join(parts.settings.serve.router.backends)} at {address}v1/search?q=")
    if parts.store is not None:
        output.say(f"Searching {parts.store} at {address}v1/search?q=")
    if parts.site is not None:
        output.say(f"Serving {parts.site} at {address}")
    output.say("Ctrl-C ends it.")
    sys.stdout.flush()
    if open_browser:
        typer.launch(address)


def _preview(settings: Settings, out: Path, open_browser: bool, request: IndexRequest) -> None:
    from ...docsite.build import refuse_other_content
    from ..preview.app import serve as run
    from ..preview.watch import Preview

    request.settings()  # or say at once what is wrong with them
    site = out.absolute().resolve()
    refuse_other_content(site)

    def ready(address: str) -> None:
        output.say(f"Previewing {site} at {address} (Ctrl-C ends it)")
        if open_browser:
            typer.launch(address)

    run(site, settings.serve.host, settings.serve.port, Preview(request, site), ready)
