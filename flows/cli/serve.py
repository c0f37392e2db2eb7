"""The command ``serve``: searches and a site over HTTP, or with ``--watch`` a site while it is written."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...pipeline.errors import NoSnapshot, SettingsError, SourceError
from ..run.signals import ending_by_itself
from . import output
from .flags import Flags
from .index import Drafts
from .runs import SourceFlags, request_of

if TYPE_CHECKING:
    from ...pipeline.settings.settings import Settings
    from ...server.run import ServedParts
    from ..run.request import IndexRequest

_DEFAULT_SITE = Path("public")


@dataclass(frozen=True, slots=True)
class SiteFolderFlags:
    """The site that is served, and whether a browser opens it."""

    site: Annotated[
        Path | None,
        typer.Option("--site", "--out", metavar="DIR", help="The folder of the site.",
                     show_default="./public if there is one"),
    ] = None  # fmt: skip
    no_site: Annotated[bool, typer.Option("--no-site", help="Serve searches alone.")] = False
    open_browser: Annotated[bool, typer.Option("--open", help="Open the site in the browser.")] = False


@dataclass(frozen=True, slots=True)
class WatchFlags:
    """Whether documents are shown as they are written."""

    watch: Annotated[
        bool, typer.Option("--watch", help="Show documents as they are saved, and build what changed.")
    ] = False
    drafts: Drafts = False


@dataclass(frozen=True, slots=True)
class AddressFlags:
    """Where the server listens."""

    host: Annotated[
        str | None,
        typer.Option("--host", metavar="NAME", help="The address to listen on.", show_default="127.0.0.1"),
    ] = None
    port: Annotated[
        int | None,
        typer.Option("--port", metavar="N", min=0, max=65535, help="The port; 0 takes a free one.",
                     show_default="8000"),
    ] = None  # fmt: skip


@dataclass(frozen=True, slots=True)
class SearchFlags:
    """How searches are answered, and whom."""

    workers: Annotated[
        int | None,
        typer.Option("--workers", metavar="N", min=1, max=64, help="Processes that answer searches.",
                     show_default="1"),
    ] = None  # fmt: skip
    shards: Annotated[
        str | None,
        typer.Option("--shards", metavar="WHICH",
                     help="Open only these shards of a set: 0,1,4-7 or a part, 1/2.", show_default="all"),
    ] = None  # fmt: skip
    router: Annotated[
        str | None,
        typer.Option("--router", metavar="URL,URL", help="Query these servers, which hold some shards each."),
    ] = None
    tokens: Annotated[
        Path | None,
        typer.Option("--tokens", metavar="FILE", help="Require a token from this file for searches."),
    ] = None
    allow_anonymous: Annotated[
        bool,
        typer.Option("--allow-anonymous", help="Listen beyond this machine without tokens."),
    ] = False
    log_queries: Annotated[
        bool, typer.Option("--log-queries", help="Also write queries to the access log.")
    ] = False

    def settings(self) -> dict[str, object]:
        """Return what is given of the settings ``serve``, by key."""
        given = {
            "workers": self.workers,
            "tokens": str(self.tokens) if self.tokens else None,
            "log_queries": self.log_queries or None,
            "shards": self.shards,
            "router.backends": tuple(self.router.split(",")) if self.router else None,
        }
        return {name: value for name, value in given.items() if value is not None}


def serve(
    flags: Flags,
    sources: SourceFlags,
    folder: SiteFolderFlags,
    watching: WatchFlags,
    address: AddressFlags,
    searches: SearchFlags,
) -> None:
    """Serve search at /v1/ and the site; with --watch, preview documents as they are saved.

    Examples: noctule serve ; noctule serve --no-site --tokens tokens.txt ; noctule serve --watch docs/ --open
    """
    settings = _settings(flags, asdict(address) | searches.settings())
    if watching.watch:
        if folder.no_site or searches.allow_anonymous or searches.settings():
            what = "--watch previews a site and does not answer searches at /v1/"
            hint = "Leave out --watch, or the flags for searches."
            raise SourceError(what, where="noctule serve", hint=hint)
        _preview(settings, folder, request_of(flags, sources, drafts=watching.drafts))
        return
    if sources.sources or sources.collection or watching.drafts:
        raise SourceError("folders and --drafts need --watch", where="noctule serve", hint="Add --watch.")
    _answer(flags, settings, folder, allow_anonymous=searches.allow_anonymous)


def _answer(flags: Flags, settings: Settings, given: SiteFolderFlags, *, allow_anonymous: bool) -> None:
    from ...server.run import ServedParts, require_guarded, run

    site = None if given.no_site else _site_folder(given.site)
    store = None if settings.serve.is_router else _store(flags, site)
    parts = ServedParts(settings, store, site, flags.quiet or flags.as_json)
    require_guarded(parts, allow_anonymous=allow_anonymous)
    with ending_by_itself():
        run(parts, lambda address: _tell(parts, address, given.open_browser))


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
        # The file's own were checked when it was read.
        first = error.errors()[0]
        where = f"noctule serve --{str(first['loc'][0]).replace('_', '-')}"
        what = first["msg"].removeprefix("Value error, ")
        raise SettingsError(what, where=where, hint="See: noctule serve --help") from None
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
        hint = "Index documents first: noctule index"
        what = "there is nothing to serve: no snapshot and no site"
        raise NoSnapshot(what, where=str(flags.store), hint=hint)
    return None


def _tell(parts: ServedParts, address: str, open_browser: bool) -> None:
    if parts.settings.serve.is_router:
        output.say(f"Asking {', '.join(parts.settings.serve.router.backends)} at {address}v1/search?q=")
    if parts.store is not None:
        output.say(f"Searching {parts.store} at {address}v1/search?q=")
    if parts.site is not None:
        output.say(f"Serving {parts.site} at {address}")
    output.say("Ctrl-C stops it.")
    sys.stdout.flush()
    if open_browser:
        typer.launch(address)


def _preview(settings: Settings, folder: SiteFolderFlags, request: IndexRequest) -> None:
    from ...docsite.build import refuse_other_content
    from ..preview.app import serve as run
    from ..preview.watch import Preview

    request.settings()  # or say at once what is wrong with them
    site = (folder.site or _DEFAULT_SITE).absolute().resolve()
    refuse_other_content(site)

    def ready(address: str) -> None:
        output.say(f"Previewing {site} at {address} (Ctrl-C stops it)")
        if folder.open_browser:
            typer.launch(address)

    run(site, settings.serve.host, settings.serve.port, Preview(request, site), ready)
