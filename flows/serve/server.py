"""Runs the web server on this machine until it is told to stop, which it does at once."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import uvicorn

from ...pipeline.errors import SettingsError
from .app import make_app
from .preview import Preview


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
