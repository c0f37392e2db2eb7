"""The tools over HTTP, as an ASGI application to mount: stateless, JSON answers only."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from ipaddress import IPv6Address
from urllib.parse import urlsplit

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from ..app import Extension
from ..guard.gate import CLIENT
from ..guard.tokens import ANYBODY, Client
from ..problems import HttpProblem
from ..service import SearchService
from .protocol import AgentServer, Lender

PATH = "/mcp"
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_MOST_BYTES = 64 * 1024
_UNCHECKED = TransportSecuritySettings(enable_dns_rebinding_protection=False)


class AgentEndpoint:
    """The ASGI application behind ``/mcp``; the host's lifespan enters :meth:`running`.

    ``hosts`` are the names, with a port if it is not any, under which browsers may reach it beside those of
    this machine; ``origins`` the pages that may call it. Requests with another ``Host`` are answered 421,
    those with another ``Origin`` 403: a page of somebody else must not ask through a reader's browser.
    ``guarded`` leaves both to the application around it. ``shared`` tells caches whether its answers are
    the same for everybody.
    """

    def __init__(
        self,
        lender: Lender,
        *,
        hosts: Sequence[str] = (),
        origins: Sequence[str] = (),
        shared: bool = True,
        guarded: bool = False,
    ) -> None:
        self._manager = StreamableHTTPSessionManager(
            AgentServer(lender, shared=shared).server(),
            json_response=True,
            stateless=True,
            security_settings=_UNCHECKED if guarded else allowed(hosts, origins),
            max_request_body_size=_MOST_BYTES,
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Answer requests for as long as the block runs; once for each endpoint."""
        async with self._manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; raise ``HttpProblem`` for a token that may not see every collection."""
        client: Client = scope.get(CLIENT, ANYBODY)
        if client.collections is not None:
            hint = "The tools answer from all collections: give the token all of them, or ask /v1/search."
            raise HttpProblem("collection-forbidden", hint)
        await self._manager.handle_request(scope, receive, send)

    def route(self, path: str = PATH) -> Route:
        """Return the route at which an application of Starlette answers with it."""
        return Route(path, endpoint=self)


def agent_extension(service: SearchService) -> Extension:
    """Return the tools as a part of the search service, at ``/mcp`` and behind its guards."""
    endpoint = AgentEndpoint(service.current, shared=not service.settings.serve.tokens, guarded=True)
    return Extension(PATH, endpoint, "mcp", endpoint.running)


def allowed(hosts: Sequence[str], origins: Sequence[str]) -> TransportSecuritySettings:
    """Return which values of ``Host`` and ``Origin`` are answered: those of this machine, and those given."""
    named = [*_LOOPBACK, *map(_in_brackets, hosts)]
    own = [f"{scheme}://{host}" for scheme in ("http", "https") for host in named]
    return TransportSecuritySettings(
        allowed_hosts=_any_port(named),
        allowed_origins=_any_port([*own, *(each.rstrip("/") for each in origins)]),
    )


def _any_port(names: Sequence[str]) -> list[str]:
    """Return names, and those without a port with any port too."""
    found = []
    for name in names:
        has_port = urlsplit(name if "://" in name else f"//{name}").port is not None
        found += [name] if has_port else [name, f"{name}:*"]
    return found


def _in_brackets(host: str) -> str:
    try:
        return f"[{IPv6Address(host)}]"
    except ValueError:
        return host
