"""The server's processes: one that answers by itself, or several at one socket, until a signal ends them."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.supervisors import Multiprocess

from ..artifacts.store.store import Store
from ..pipeline.errors import SettingsError
from ..pipeline.printable import PrintableFormatter
from ..pipeline.settings.settings import Settings
from ..pipeline.settings.shard_choice import ShardChoice
from .guard.names import is_loopback

if TYPE_CHECKING:
    from .app import Extension
    from .service import SearchService

# Connections that never ask would otherwise take all of these.
_REQUEST_HEAD_S = 10.0
# As prometheus_client reads it, which is not to be imported before it is there.
_SHARED_METRICS = "PROMETHEUS_MULTIPROC_DIR"


@dataclass(frozen=True, slots=True)
class ServedParts:
    """What a server serves: searches of a store, a site, or both; it may be sent to another process."""

    settings: Settings
    store: Path | None = None
    site: Path | None = None
    is_quiet: bool = False


class TimedConnection(H11Protocol):
    """A connection that is closed if the head of a request is not complete in time."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Give the first request its time."""
        super().connection_made(transport)
        self._timer = self.loop.call_later(_REQUEST_HEAD_S, self._close_if_idle)

    def data_received(self, data: bytes) -> None:
        """Give a request that begins its time, which what follows of its head does not prolong."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._end_timer()
        elif self._timer is None:
            self._timer = self.loop.call_later(_REQUEST_HEAD_S, self._close_if_idle)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._end_timer()
        super().connection_lost(exc)

    def _end_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _close_if_idle(self) -> None:
        self._timer = None
        if self.conn.their_state is h11.IDLE:
            self.timeout_keep_alive_handler()


# What holds for each connection of every server. A process may open 1,024 files on most systems.
CONNECTIONS: Mapping[str, Any] = {
    "http": TimedConnection,
    "ws": "none",
    "limit_concurrency": 800,
    "server_header": False,
}


def require_guarded(parts: ServedParts, *, allow_anonymous: bool) -> None:
    """Raise ``SettingsError`` if anyone who can reach this machine could search."""
    serve = parts.settings.serve
    searches = parts.store is not None or serve.is_router
    if not searches or serve.tokens or allow_anonymous or is_loopback(serve.host):
        return
    raise SettingsError(
        "anyone who can reach this machine could search",
        where=f"host {serve.host}, and no tokens",
        hint="Name a file of tokens with --tokens, or allow it with --allow-anonymous.",
    )


def run(parts: ServedParts, ready: Callable[[str], None]) -> None:
    """Serve until a signal, and let requests end; ``ready`` is told the address. Raise ``SettingsError``."""
    serve = parts.settings.serve
    app = application(parts) if serve.workers == 1 else None  # its errors come before anybody is told
    with listener(serve.host, serve.port) as listening:
        ready(address_of(serve.host, listening))
        if app is not None:
            uvicorn.Server(_config(app, parts)).run([listening])
            return
        with tempfile.TemporaryDirectory(prefix="noctule-metrics-") as shared:
            os.environ[_SHARED_METRICS] = shared
            Multiprocess(_config(partial(_worker, parts), parts), [listening]).run()


def application(parts: ServedParts) -> ASGIApp:
    """Return the application that serves the parts; raise ``SettingsError``."""
    from .app import service_app, site_app
    from .service import SearchService

    serve = parts.settings.serve
    if serve.is_router:
        return _router(parts)
    if parts.store is None:
        assert parts.site is not None
        return site_app(parts.site, (serve.host, *serve.hosts), is_shared=bool(serve.origins))
    shards = ShardChoice.parse(serve.shards) if serve.shards else None
    service = SearchService(Store(parts.store, shards), parts.settings)
    return service_app(service, parts.site, _extensions(service))


def _router(parts: ServedParts) -> ASGIApp:
    """Return the application that asks other servers; raise ``SettingsError`` if its library is missing."""
    if find_spec("urllib3") is None:
        hint = "Install it: pip install 'noctule[router]'"
        raise SettingsError("a router needs urllib3", where="serve.router", hint=hint)
    from .shards.router import router_app

    return router_app(parts.settings, parts.site)


def _extensions(service: SearchService) -> tuple[Extension, ...]:
    """Return what is served beside the search, as far as the libraries for it are installed."""
    from .shards.held import shard_extensions

    found = shard_extensions(service)
    if find_spec("mcp") is None:
        return found
    from .agents.http import agent_extension

    return (*found, agent_extension(service))


def _worker(parts: ServedParts) -> ASGIApp:
    """Return the application in a process of its own, which ends with the one that started it."""
    _log_to_stderr(parts.is_quiet)
    threading.Thread(target=_end_with_parent, name="noctule-parent", daemon=True).start()
    return application(parts)


def _end_with_parent() -> None:
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(1)
    os.kill(os.getpid(), signal.SIGTERM)


def _log_to_stderr(is_quiet: bool) -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(PrintableFormatter("%(asctime)s %(message)s", "%H:%M:%S"))
    logger = logging.getLogger("noctule")
    logger.handlers, logger.propagate = [handler], False
    logger.setLevel(logging.WARNING if is_quiet else logging.INFO)


def _config(app: ASGIApp | Callable[[], ASGIApp], parts: ServedParts) -> uvicorn.Config:
    serve = parts.settings.serve
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    return uvicorn.Config(
        app,
        **CONNECTIONS,
        factory=serve.workers > 1,
        workers=serve.workers,
        log_config=None,
        access_log=False,
        lifespan="on",
        proxy_headers=False,  # the application's own layer believes only the named ones
        timeout_graceful_shutdown=serve.drain_s,  # type: ignore[arg-type]  # seconds for wait_for
    )


def address_of(host: str, listening: socket.socket) -> str:
    """Return the address under which a socket of a host is reached."""
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{listening.getsockname()[1]}/"


def listener(host: str, port: int) -> socket.socket:
    """Return a socket that listens there; raise ``SettingsError`` if none can."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        # Named, or asyncio does not take it for TCP: a body waited 40 ms for the head to be acknowledged.
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(128)  # before anybody is told the address
    except (OSError, UnicodeError, OverflowError) as error:
        raise SettingsError(
            f"the server cannot listen there: {getattr(error, 'strerror', None) or error}",
            where=f"{host}:{port}",
            hint="Is another server running? Choose another --port; 0 takes a free one.",
        ) from error
    listening.set_inheritable(False)
    return listening
