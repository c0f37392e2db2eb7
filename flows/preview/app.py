"""The preview's server: the site's files, and the pages of saved documents over them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from html import escape
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Scope

from ...docsite import urls
from ...pipeline.identity import sha256_hex
from ...server.guard.names import HostNames
from ...server.observe.requests import ProblemAnswers
from ...server.run import CONNECTIONS, address_of, listener
from ...server.site_files import SiteFiles
from .edit_search import search_edits
from .watch import Preview

LIVE = "_live"
_SCRIPT = Path(__file__).with_name("live.js")
_NO_STORE = {"Cache-Control": "no-store"}
# A page is sent whole, with its script, whatever a browser has kept.
_CONDITIONS = (b"if-none-match", b"if-modified-since", b"range")
_WAITING = (
    "<!doctype html><html lang=en><meta charset=utf-8><meta name=color-scheme content='light dark'>"
    "<title>{title}</title><h1>{title}</h1><p>{text}</p></html>"
)


def preview_app(out: Path, preview: Preview, host: str) -> ASGIApp:
    """Return the application that serves the site in ``out`` as its documents are."""

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        task = asyncio.create_task(preview.run())
        yield
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    routes = [*_live_routes(preview), Mount("/", PreviewFiles(out, preview))]
    return ProblemAnswers(HostNames(Starlette(routes=routes, lifespan=lifespan), (host,)))


class PreviewFiles(SiteFiles):
    """The files of a site with the pages of edited documents over them, and the script in each page."""

    def __init__(self, out: Path, preview: Preview) -> None:
        super().__init__(out)
        self._preview = preview

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return the file, or a page for what is not there."""
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

    async def _live(self, path: str, scope: Scope) -> Response:
        """Return the file; a page with the script, which is in no file."""
        asked = [each for each in scope["headers"] if each[0] not in _CONDITIONS]
        response = await super().get_response(path, {**scope, "headers": asked})
        if not isinstance(response, FileResponse) or response.media_type != "text/html":
            return await super().get_response(path, scope)
        content = await run_in_threadpool(Path(response.path).read_bytes)
        return _page(content, response.status_code)

    def _nothing_there(self, name: str) -> bytes:
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


def serve(out: Path, host: str, port: int, preview: Preview, ready: Callable[[str], None]) -> None:
    """Serve the site in ``out`` until a signal; call ``ready`` with its address. Raise ``SettingsError``."""
    with listener(host, port) as listening:
        ready(address_of(host, listening))
        # Streams of events stay open for as long as a page does: nothing is waited for.
        config = uvicorn.Config(
            preview_app(out, preview, host),
            log_level="critical",
            access_log=False,
            lifespan="on",
            timeout_graceful_shutdown=0,
            **CONNECTIONS,
        )
        uvicorn.Server(config).run([listening])
