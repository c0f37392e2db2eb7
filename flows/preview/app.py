"""The web server: the site's files, and in a preview the pages of saved documents over them."""

from __future__ import annotations

import asyncio
import json
import mimetypes
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from html import escape
from ipaddress import ip_address
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from ...docsite import urls
from ...pipeline.errors import SettingsError
from ...pipeline.identity import sha256_hex
from .edit_search import search_edits
from .watch import Preview

LIVE = "_live"
_SCRIPT = Path(__file__).with_name("live.js")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_NO_STORE = {"Cache-Control": "no-store"}
# Not of the site, though files of its folder; and a worker that would answer from its cache.
_CONDITIONS = (b"if-none-match", b"if-modified-since", b"range")
_HIDDEN = (urls.MARKER, urls.RECORD)
_TYPES = {".js": "text/javascript", ".webmanifest": "application/manifest+json", ".md": "text/markdown"}
_WAITING = (
    "<!doctype html><html lang=en><meta charset=utf-8><meta name=color-scheme content='light dark'>"
    "<title>{title}</title><h1>{title}</h1><p>{text}</p></html>"
)


def make_app(out: Path, preview: Preview | None = None, host: str = "127.0.0.1") -> ASGIApp:
    """Return the application that serves the site in ``out``, with its ``preview`` if it is watched."""
    for ending, kind in _TYPES.items():
        mimetypes.add_type(kind, ending)
    site = SiteFiles(out, preview)
    live = [] if preview is None else _live_routes(preview)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        task = asyncio.create_task(preview.run()) if preview else None
        yield
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    return LocalNames(Starlette(routes=[*live, Mount("/", site)], lifespan=lifespan), host)


class LocalNames:
    """Refuses requests under other names, which a page elsewhere can have lead here (DNS rebinding)."""

    def __init__(self, app: ASGIApp, host: str) -> None:
        self._app, self._names = app, {*_LOOPBACK, host.lower()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 421 to a request whose Host is neither an address nor a name of this machine."""
        if scope["type"] != "http" or self._is_known(Request(scope).headers.get("host", "")):
            await self._app(scope, receive, send)
        else:
            await PlainTextResponse("This server has no such name.\n", 421)(scope, receive, send)

    def _is_known(self, given: str) -> bool:
        """Return whether the name leads here; an address cannot be made to lead elsewhere."""
        name = given.lower().rpartition("]")[0].lstrip("[") or given.lower().partition(":")[0]
        with suppress(ValueError):
            return bool(ip_address(name))
        return name in self._names


class SiteFiles(StaticFiles):
    """The files of a site, which may be replaced at any time; in a preview with the script in each page."""

    def __init__(self, out: Path, preview: Preview | None) -> None:
        super().__init__(directory=out, html=True, check_dir=False)
        self.config_checked = True  # there may be none yet
        self._preview = preview

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return the file, or a page for what is not there."""
        if any(part in _HIDDEN for part in path.split("/")):
            raise HTTPException(404)
        if self._preview is None:
            return await self._static(path, scope)
        if path == urls.SERVICE_WORKER:
            raise HTTPException(404)  # it would answer from its cache
        name = urls.HOME if path == "." else f"{path}/index.html" if scope["path"].endswith("/") else path
        edited = await run_in_threadpool(self._preview.edition.page_of, name)
        if edited is not None:
            return _page(edited)
        try:
            return await self._live(path, scope)
        except HTTPException as error:
            if error.status_code != 404:
                raise
        return _page(self._nothing_there(name), 404 if self._preview.edition.plan else 503)

    async def _static(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = "no-cache"
        return response

    async def _live(self, path: str, scope: Scope) -> Response:
        """Return the file; a page with the script, which is in no file."""
        asked = [each for each in scope["headers"] if each[0] not in _CONDITIONS]
        response = await self._static(path, {**scope, "headers": asked})
        if not isinstance(response, FileResponse) or response.media_type != "text/html":
            return await self._static(path, scope)
        content = await run_in_threadpool(Path(response.path).read_bytes)
        return _page(content, response.status_code)

    def _nothing_there(self, name: str) -> bytes:
        assert self._preview is not None
        is_first = not (Path(str(self.directory)) / urls.HOME).exists()
        title = "The site is being built" if is_first else "There is no such page"
        text = "This page shows it as soon as it is there." if is_first else escape(name)
        return _WAITING.format(title=title, text=text).encode()


def _page(content: bytes, status: int = 200) -> Response:
    """Return a page with the script, and the digest by which it is known to have changed."""
    digest = sha256_hex(content)[:16]
    tag = f'<script src="/{LIVE}/script.js" data-digest="{digest}" defer></script>'.encode()
    head, end, rest = content.partition(b"</head>")
    whole = head + tag + end + rest if end else content + tag
    return Response(whole, status, _NO_STORE | {"X-Page-Digest": digest}, "text/html")


def _live_routes(preview: Preview) -> list[Route]:
    async def events(_request: Request) -> Response:
        return StreamingResponse(_events(preview), media_type="text/event-stream", headers=_NO_STORE)

    async def script(_request: Request) -> Response:
        return Response(_SCRIPT.read_bytes(), media_type="text/javascript", headers=_NO_STORE)

    async def search(request: Request) -> Response:
        found = await run_in_threadpool(
            search_edits, preview.edition, request.query_params.get("q", "")[:300]
        )
        return Response(json.dumps(found), media_type="application/json", headers=_NO_STORE)

    named = {"events": events, "script.js": script, "search": search}
    return [Route(f"/{LIVE}/{name}", answer) for name, answer in named.items()]


async def _events(preview: Preview) -> AsyncIterator[str]:
    """Yield the state of the preview, now and after every change."""
    async for _ in preview.changes():
        state = {
            "building": preview.building,
            "problems": [each.as_dict() for each in preview.problems()],
        }
        yield f"data: {json.dumps(state)}\n\n"


def serve(out: Path, host: str, port: int, preview: Preview | None, ready: Callable[[str], None]) -> None:
    """Serve the site in ``out`` until a signal; call ``ready`` with its address. Raise ``SettingsError``.

    With ``preview`` the site follows its sources.
    """
    listener = _listener(host, port)
    with listener:
        shown = f"[{host}]" if ":" in host else host
        ready(f"http://{shown}:{listener.getsockname()[1]}/")
        # Streams of events stay open for as long as a page does: nothing is waited for.
        config = uvicorn.Config(
            make_app(out, preview, host),
            log_level="critical",
            access_log=False,
            lifespan="on",
            timeout_graceful_shutdown=0,
            server_header=False,
        )
        uvicorn.Server(config).run([listener])


def _listener(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.socket(family)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(128)  # before anybody is told the address
    except (OSError, UnicodeError, OverflowError) as error:
        raise SettingsError(
            f"the server cannot listen there: {getattr(error, 'strerror', None) or error}",
            where=f"{host}:{port}",
            hint="Is another server running? Choose another --port; 0 takes a free one.",
        ) from error
    listener.set_inheritable(False)
    return listener
