"""The tools over HTTP, as an ASGI application to mount: stateless, JSON answers only."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import Receive, Scope, Send

from ..app import Extension
from ..guard.gate import CLIENT
from ..guard.tokens import ANYBODY, Client
from ..problems import HttpProblem
from ..service import SearchService
from .protocol import AgentServer, Lender

PATH = "/mcp"
_MOST_BYTES = 64 * 1024
_CHECKED_AROUND = TransportSecuritySettings(enable_dns_rebinding_protection=False)


class AgentEndpoint:
    """The ASGI application behind ``/mcp``; the host's lifespan enters :meth:`running`.

    The application around it checks ``Host`` and ``Origin``: a page of somebody else must not ask through a
    reader's browser. ``shared`` tells caches whether its answers are the same for everybody.
    """

    def __init__(self, lender: Lender, *, shared: bool = True) -> None:
        self._manager = StreamableHTTPSessionManager(
            AgentServer(lender, shared=shared).server(),
            json_response=True,
            stateless=True,
            security_settings=_CHECKED_AROUND,
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


def agent_extension(service: SearchService) -> Extension:
    """Return the tools as a part of the search service, at ``/mcp`` and behind its guards."""
    endpoint = AgentEndpoint(service.current, shared=not service.settings.serve.tokens)
    return Extension(PATH, endpoint, "mcp", endpoint.running)
