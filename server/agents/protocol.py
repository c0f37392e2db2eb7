"""The tools over the Model Context Protocol: any revision that the official SDK speaks."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal, Protocol, TypeVar
from urllib.parse import quote

import anyio
import mcp_types as types
from mcp.server import CacheHint, Server
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from ...artifacts.query.searcher import Searcher
from ...pipeline.errors import NoctuleError, QueryError
from ...pipeline.printable import bounded
from .arguments import schema_of
from .documents import Visible
from .paging import whole
from .references import SCHEME, resource_address
from .tools import TOOLS, Tools, ToolText

_DAY_MS, _MINUTE_MS = 86_400_000, 60_000
_RESOURCES_A_PAGE = 100
_MARKDOWN = "text/markdown"
_CURSOR = re.compile(r"[0-9]{1,9}")
Context = ServerRequestContext[Any, Any]
_Result = TypeVar("_Result")


class Lent(Protocol):
    """What is lent: a searcher."""

    @property
    def searcher(self) -> Searcher:
        """Return the searcher, open for as long as it is lent."""


class Lender(Protocol):
    """Lends the searcher of the current snapshot, as ``CurrentSearcher`` does."""

    def borrow(self) -> AbstractContextManager[Lent]:
        """Return a context in which the searcher is open."""


class AgentHost:
    """Where calls run: at this one in any thread, for somebody who may see every collection.

    ``shared`` tells caches whether answers are the same for everybody.
    """

    def __init__(self, lender: Lender, tools: Tools | None = None, *, shared: bool = True) -> None:
        self.lender, self.tools, self.shared = lender, tools or Tools(), shared

    def visible(self, _: Context) -> Visible:
        """Return the collections that the client may see, ``None`` for all."""
        return None

    async def run(self, _: Context, function: Callable[[], _Result]) -> _Result:
        """Return what the function returns; raise ``MCPError`` if it is not run."""
        return await anyio.to_thread.run_sync(function)

    def record(self, name: str, found: ToolText) -> None:
        """Record how a call of a tool was answered."""


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

    def __init__(self, host: AgentHost) -> None:
        self._host, self._tools, self._listed = host, host.tools, tool_list()

    def server(self) -> Server[Any]:
        """Return the server for a transport."""
        scope: Literal["public", "private"] = "public" if self._host.shared else "private"
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
        server.middleware.append(self._with_instructions)
        return server

    async def _ask(self, ctx: Context, function: Callable[[Searcher, Visible], _Result]) -> _Result:
        """Return what the function finds in the current snapshot; raise ``MCPError``."""
        visible = self._host.visible(ctx)

        def found() -> _Result:
            with self._host.lender.borrow() as lent:
                return function(lent.searcher, visible)

        try:
            return await self._host.run(ctx, found)
        except NoctuleError as error:
            code = types.INVALID_PARAMS if isinstance(error, QueryError) else types.INTERNAL_ERROR
            raise MCPError(code, str(error)) from None

    async def _with_instructions(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Tell a client that introduces itself of the snapshot that is current then, as far as it sees it."""
        found = await call_next(ctx)
        if ctx.method in ("initialize", "server/discover") and isinstance(found, dict):
            return {**found, "instructions": await self._ask(ctx, self._tools.instructions)}
        return found

    async def _list_tools(self, _: Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=self._listed)

    async def _call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        def call(searcher: Searcher, visible: Visible) -> ToolText:
            return self._tools.call(searcher, params.name, params.arguments or {}, visible)

        try:
            found = await self._ask(ctx, call)
        except MCPError as error:  # a model reads the text of an answer, and of an error at most the number
            found = ToolText(f"Error: {error.error.message}", is_error=True)
        self._host.record(params.name, found)
        return types.CallToolResult(content=[types.TextContent(text=found.text)], is_error=found.is_error)

    async def _list_resources(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        cursor = params.cursor if params is not None else None
        if cursor is not None and not _CURSOR.fullmatch(cursor):
            raise MCPError(types.INVALID_PARAMS, "the cursor is not one of this server's")
        return await self._ask(ctx, partial(self._page, int(cursor or 0)))

    def _page(self, first: int, searcher: Searcher, visible: Visible) -> types.ListResourcesResult:
        titles = self._tools.of(searcher, visible).documents.titles
        snapshot = str(searcher.corpus.snapshot.id)
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
        self, ctx: Context, _: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        snapshot = await self._ask(ctx, lambda searcher, _: str(searcher.corpus.snapshot.id))
        template = types.ResourceTemplate(
            uri_template=f"{SCHEME}{quote(snapshot)}/{{+doc_id}}",
            name="document",
            description="A whole document as markdown, by its ref.",
            mime_type=_MARKDOWN,
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def _read_resource(
        self, ctx: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        address = str(params.uri)
        text = await self._ask(ctx, partial(self._whole, address))
        contents = types.TextResourceContents(uri=address, mime_type=_MARKDOWN, text=text)
        return types.ReadResourceResult(contents=[contents])

    def _whole(self, address: str, searcher: Searcher, visible: Visible) -> str:
        if not address.startswith(SCHEME):
            hint = f"Addresses begin with {SCHEME}"
            raise QueryError("this is not a resource of this server", where=bounded(address, 200), hint=hint)
        snapshot = self._tools.of(searcher, visible)
        return whole(snapshot.documents, snapshot.references, address)


def _version() -> str:
    try:
        return version("noctule")
    except PackageNotFoundError:  # a checkout that is not installed
        return ""


async def serve_stdio(lender: Lender) -> None:
    """Answer one client on standard input and output until it goes away."""
    server = AgentServer(AgentHost(lender)).server()
    async with stdio_server() as (read_stream, write_stream):
        await server.run(read_stream, write_stream, server.create_initialization_options())
