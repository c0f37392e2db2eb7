"""The tools over the Model Context Protocol: any revision that the official SDK speaks."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Protocol
from urllib.parse import quote

import anyio
import mcp_types as types
from mcp.server import CacheHint, Server
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from ...artifacts.query.searcher import Searcher
from ...pipeline.errors import NoctuleError, QueryError
from .arguments import schema_of
from .paging import whole
from .references import SCHEME, resource_address
from .tools import TOOLS, Tools, ToolText

_DAY_MS, _MINUTE_MS = 86_400_000, 60_000
_RESOURCES_A_PAGE = 100
_MARKDOWN = "text/markdown"
Context = ServerRequestContext[Any, Any]


class Lent(Protocol):
    """What is lent: a searcher."""

    @property
    def searcher(self) -> Searcher:
        """Return the searcher, open for as long as it is lent."""


class Lender(Protocol):
    """Lends the searcher of the current snapshot, as ``CurrentSearcher`` does."""

    def borrow(self) -> AbstractContextManager[Lent]:
        """Return a context in which the searcher is open."""


def tool_list() -> list[types.Tool]:
    """Return the tools as clients see them: always the same, in the same order."""
    hints = types.ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
    return [
        types.Tool(
            name=each.name,
            description=each.about,
            input_schema=schema_of(each.arguments),
            annotations=hints,
        )
        for each in TOOLS
    ]


class AgentServer:
    """Answers the requests of one server's clients from the searcher that is current at each of them."""

    def __init__(self, lender: Lender, *, shared: bool = True) -> None:
        self._lender, self._tools = lender, Tools()
        # Answers to holders of tokens are for them alone.
        self._scope: Any = "public" if shared else "private"

    def server(self) -> Server[Any]:
        """Return the server for a transport."""
        scope = self._scope
        listed, lasting = CacheHint(_MINUTE_MS, scope), CacheHint(_DAY_MS, scope)
        server: Server[Any] = Server(
            "noctule",
            version=_version(),
            title="Documentation search",
            cache_hints={
                "server/discover": listed,
                "tools/list": listed,
                "resources/list": listed,
                "resources/templates/list": listed,
                "resources/read": lasting,
            },
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
        )
        server.middleware.append(partial(self._with_instructions, server))
        return server

    async def _with_instructions(
        self, server: Server[Any], ctx: Context, call_next: CallNext
    ) -> HandlerResult:
        """Let a client that introduces itself be told of the snapshot that is current then."""
        if ctx.method in ("initialize", "server/discover"):
            server.instructions = await anyio.to_thread.run_sync(self.instructions)
        return await call_next(ctx)

    def instructions(self) -> str:
        """Return what a client is told of the server and its current snapshot."""
        with self._lender.borrow() as lent:
            return self._tools.instructions(lent.searcher)

    async def _list_tools(self, _: Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tool_list())

    async def _call_tool(self, _: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        found = await anyio.to_thread.run_sync(self._answer, params.name, params.arguments or {})
        return types.CallToolResult(content=[types.TextContent(text=found.text)], is_error=found.is_error)

    def _answer(self, name: str, given: dict[str, Any]) -> ToolText:
        try:
            with self._lender.borrow() as lent:
                return self._tools.call(lent.searcher, name, given)
        except NoctuleError as error:
            return ToolText(f"Error: {error}", is_error=True)

    async def _list_resources(
        self, _: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        cursor = params.cursor if params is not None else None
        if cursor is not None and not cursor.isdecimal():
            raise MCPError(types.INVALID_PARAMS, "the cursor is not one of this server's")
        return await anyio.to_thread.run_sync(self._page, int(cursor or 0))

    def _page(self, first: int) -> types.ListResourcesResult:
        with self._lender.borrow() as lent:
            titles = self._tools.of(lent.searcher).documents.titles
            snapshot = str(lent.searcher.corpus.snapshot.id)
        names = list(titles)[first : first + _RESOURCES_A_PAGE]
        last = first + len(names)
        return types.ListResourcesResult(
            resources=[
                types.Resource(
                    uri=resource_address(snapshot, name), name=name, title=titles[name], mime_type=_MARKDOWN
                )
                for name in names
            ],
            next_cursor=str(last) if last < len(titles) else None,
        )

    async def _list_templates(
        self, _: Context, __: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        snapshot = await anyio.to_thread.run_sync(self._snapshot)
        template = types.ResourceTemplate(
            uri_template=f"{SCHEME}{quote(snapshot)}/{{+doc_id}}",
            name="document",
            description="A whole document as markdown, by its ref.",
            mime_type=_MARKDOWN,
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    def _snapshot(self) -> str:
        with self._lender.borrow() as lent:
            return str(lent.searcher.corpus.snapshot.id)

    async def _read_resource(
        self, _: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        address = str(params.uri)
        text = await anyio.to_thread.run_sync(self._whole, address)
        contents = types.TextResourceContents(uri=address, mime_type=_MARKDOWN, text=text)
        return types.ReadResourceResult(contents=[contents])

    def _whole(self, address: str) -> str:
        try:
            with self._lender.borrow() as lent:
                if not address.startswith(SCHEME):
                    hint = f"Addresses begin with {SCHEME}"
                    raise QueryError("this is no resource of this server", where=address, hint=hint)
                snapshot = self._tools.of(lent.searcher)
                return whole(snapshot.documents, snapshot.references, address)
        except NoctuleError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from None


def _version() -> str:
    try:
        return version("noctule")
    except PackageNotFoundError:  # a checkout that is not installed
        return ""


async def serve_stdio(lender: Lender) -> None:
    """Answer one client on standard input and output until it goes away."""
    agent = AgentServer(lender)
    server = agent.server()
    server.instructions = agent.instructions()
    async with stdio_server() as (read_stream, write_stream):
        await server.run(read_stream, write_stream, server.create_initialization_options())
