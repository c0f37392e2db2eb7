"""The names under which the server answers, and the sites whose scripts may ask it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from ..problems import HttpProblem

LOOPBACK = ("localhost", "127.0.0.1", "::1")
ANY = "*"


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches what listens there."""
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return host.lower() == "localhost"


class HostNames:
    """Refuses requests under other names, which a page elsewhere can have lead here (DNS rebinding)."""

    def __init__(self, app: ASGIApp, names: Sequence[str]) -> None:
        self._app, self._names = app, {*LOOPBACK, *(name.lower().strip("[]") for name in names)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; raise ``HttpProblem`` if its Host is neither an address nor a name of ours."""
        if scope["type"] != "http" or self._is_known(Headers(scope=scope).getlist("host")):
            await self._app(scope, receive, send)
            return
        detail = "Ask by an address of the server, or list the name in serve.hosts."
        raise HttpProblem("host-unknown", detail)

    def _is_known(self, given: Sequence[str]) -> bool:
        """Return whether the name leads here; an address cannot be made to lead elsewhere."""
        if ANY in self._names:
            return True
        if len(given) != 1:
            return False
        host = given[0].lower()
        name = host.rpartition("]")[0].lstrip("[") if host.startswith("[") else host.partition(":")[0]
        with suppress(ValueError):
            return bool(ip_address(name))
        return name in self._names


class Origins:
    """Answers scripts of listed sites as CORS asks, and refuses those of other sites."""

    def __init__(self, app: ASGIApp, origins: Sequence[str]) -> None:
        self._origins = frozenset(origins)
        self._app = CORSMiddleware(
            app,
            allow_origins=list(origins),
            allow_methods=["GET", "HEAD", "POST"],
            allow_headers=["Authorization", "Content-Type", "If-None-Match"],
            expose_headers=["ETag", "Retry-After", "Server-Timing", "X-Request-Id"],
            max_age=600,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; raise ``HttpProblem`` for a script of a site neither this one nor listed."""
        if scope["type"] != "http" or self._is_allowed(scope):
            await self._app(scope, receive, send)
            return
        detail = "Scripts of other sites may ask if their origin is listed in serve.origins."
        raise HttpProblem("origin-forbidden", detail)

    def _is_allowed(self, scope: Scope) -> bool:
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        if origin is None or ANY in self._origins or origin.lower() in self._origins:
            return True
        try:
            parts = urlsplit(origin.lower())
        except ValueError:
            return False
        return parts.scheme in ("http", "https") and parts.netloc == headers.get("host", "").lower()
