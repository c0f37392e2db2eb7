"""The tools over HTTP, at ``/mcp`` of the search service: stateless, JSON answers only, within its bounds."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message, Receive, Scope, Send

from ...pipeline.errors import QueryError
from ..app import Extension
from ..guard.gate import CLIENT
from ..guard.tokens import Client
from ..observe.requests import RequestRecord, observed_problem, record_of
from ..problems import KINDS, HttpProblem
from ..service import SearchService
from .documents import Visible
from .protocol import AgentHost, AgentServer, Context
from .tools import TOOLS, Tools, ToolText

PATH = "/mcp"
_ROUTE = f"POST {PATH}"
_METHODS = ("initialize", "server/discover", "resources/list", "resources/templates/list", "resources/read")
_TOOL_NAMES = frozenset(each.name for each in TOOLS)
_CHECKED_AROUND = TransportSecuritySettings(enable_dns_rebinding_protection=False)
_Result = TypeVar("_Result")


class ServiceHost(AgentHost):
    """Runs calls as the service runs searches: its threads, queue and deadline, its log and its metrics."""

    def __init__(self, service: SearchService) -> None:
        tools = Tools(service.metrics.tell_answer)
        super().__init__(service.current, tools, shared=not service.settings.serve.tokens)
        self._service = service

    def visible(self, context: Context) -> Visible:
        """Return the collections that the client's token allows, ``None`` for all."""
        client: Client = _scope(context)[CLIENT]
        return client.collections

    async def run(self, context: Context, function: Callable[[], _Result]) -> _Result:
        """Return what the function returns; raise ``MCPError`` if it cannot run, fails or is too slow."""
        record = record_of(_scope(context))
        _name(record, context)
        try:
            return await self._service.run(function)
        except QueryError:
            raise
        except Exception as error:
            problem = observed_problem(error, record)
            record.code = problem.code
            told = f"{KINDS[problem.code].title.lower()}. {problem.detail}"
            raise MCPError(INTERNAL_ERROR, told) from None

    def record(self, name: str, found: ToolText) -> None:
        """Count a call of a tool."""
        known = name if name in _TOOL_NAMES else "unknown"
        self._service.metrics.tool_calls.labels(known, "error" if found.is_error else "answered").inc()


def _scope(context: Context) -> Scope:
    assert isinstance(context.request, Request)  # it came over HTTP
    return context.request.scope


def _name(record: RequestRecord, context: Context) -> None:
    """Note what is asked: of names only those that there are, as each has its own metrics."""
    given = context.params or {}
    if context.method in _METHODS:
        record.route = f"{_ROUTE} {context.method}"
    elif given.get("name") in _TOOL_NAMES:
        record.route = f"{_ROUTE} {given['name']}"
        arguments = given.get("arguments") or {}
        record.query = str(next((arguments[each] for each in _QUERIES if each in arguments), ""))


_QUERIES = next((a.name, *a.aliases) for a in TOOLS[0].arguments)


class AgentEndpoint:
    """The ASGI application behind ``/mcp``; the host's lifespan enters :meth:`running`.

    The application around it checks ``Host`` and ``Origin``: a page of somebody else must not ask through a
    reader's browser.
    """

    def __init__(self, service: SearchService) -> None:
        self._manager = StreamableHTTPSessionManager(
            AgentServer(ServiceHost(service)).server(),
            json_response=True,
            stateless=True,
            security_settings=_CHECKED_AROUND,
            max_request_body_size=service.guards.max_body_bytes,
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Answer requests for as long as the block runs; once for each endpoint."""
        async with self._manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; raise ``HttpProblem`` for a body that is too large or too late."""
        client: Client = scope[CLIENT]
        record = record_of(scope)
        record.client = client.name
        if scope["method"] == "POST":
            record.route = _ROUTE
            # Read here, since what is raised within the library would be an error of ours.
            receive = await _received(scope, receive)
        await self._manager.handle_request(scope, receive, send)


async def _received(scope: Scope, receive: Receive) -> Receive:
    """Return what gives the body again, once it has come."""
    try:
        body = await Request(scope, receive).body()
    except ClientDisconnect:
        raise HttpProblem("body-late", "The client has gone.") from None
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return messages.pop() if messages else await receive()

    return again


def agent_extension(service: SearchService) -> Extension:
    """Return the tools as a part of the search service, at ``/mcp`` and behind its guards."""
    endpoint = AgentEndpoint(service)
    return Extension(PATH, endpoint, "mcp", endpoint.running)
