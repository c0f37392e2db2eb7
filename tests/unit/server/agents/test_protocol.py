"""The tools by the protocol: the official client in memory and over HTTP, and who may call."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from starlette.routing import Route, Router

from noctule.artifacts.query.searcher import Searcher
from noctule.artifacts.store.store import Store
from noctule.server.agents.http import PATH, AgentEndpoint, agent_extension
from noctule.server.agents.protocol import AgentHost, AgentServer, tool_list
from noctule.server.agents.tools import Tools
from noctule.server.app import guarded as guarded_app
from noctule.server.guard.gate import Gate
from noctule.server.service import SearchService
from tests.library_builder import PLAIN, TODAY, WordEncoder, settings_of
from tests.unit.server.conftest import Asked, Start, bearer

GOLDEN = Path(__file__).with_name("tool_list.json")
REVISION = "2026-07-28"
pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@dataclass(frozen=True)
class _Lender:
    searcher: Searcher

    @contextmanager
    def borrow(self) -> Iterator[_Lender]:
        yield self


@pytest.fixture(scope="module")
def lender(library: Store) -> Iterator[_Lender]:
    made = Searcher(library.open(), settings_of(**PLAIN), WordEncoder(), clock=lambda: TODAY, silent=True)
    with made as opened:
        yield _Lender(opened)


def _dumped(found: Any) -> Any:
    return found.model_dump(by_alias=True, mode="json", exclude_none=True)


async def test_the_list_of_tools_is_always_the_same_and_short(lender: _Lender) -> None:
    listed = [_dumped(each) for each in tool_list()]
    assert listed == json.loads(GOLDEN.read_text("utf-8"))
    counter = Tools().of(lender.searcher).documents.counter
    assert counter.count(json.dumps(listed)) <= 1_000


async def test_a_client_finds_and_reads(lender: _Lender) -> None:
    async with Client(AgentServer(AgentHost(lender)).server()) as client:
        assert client.server_info.name == "noctule" and "notes (13)" in (client.instructions or "")
        listed = await client.list_tools()
        assert [each.name for each in listed.tools] == ["search_docs", "read_doc", "browse_docs"]
        found = await client.call_tool("search_docs", {"query": "cellar"})
        assert not found.is_error and found.structured_content is None
        assert "> Keep apples in a cool cellar" in found.content[0].text
        wrong = await client.call_tool("read_doc", {"ref": "aples.md"})
        assert wrong.is_error and "Nearest: notes:fruit/apples.md" in wrong.content[0].text


async def test_documents_are_resources_of_their_snapshot(lender: _Lender) -> None:
    snapshot = lender.searcher.corpus.snapshot.id
    async with Client(AgentServer(AgentHost(lender)).server()) as client:
        listed = await client.list_resources()
        assert f"noctule://{snapshot}/notes:fruit/apples.md" in [each.uri for each in listed.resources]
        assert listed.ttl_ms == 60_000 and listed.next_cursor is None
        (template,) = (await client.list_resource_templates()).resource_templates
        assert template.uri_template == f"noctule://{snapshot}/{{+doc_id}}"
        read = await client.read_resource(f"noctule://{snapshot}/notes:hebrew.md")
        assert read.contents[0].text.strip().startswith("# עברית") and read.ttl_ms == 86_400_000
        for wrong in (
            f"noctule://{snapshot}/notes:none.md",
            "noctule://0/notes:sea.md",
            "file:///etc/passwd",
        ):
            with pytest.raises(MCPError, match=r"Nearest|not a resource"):
                await client.read_resource(wrong)


@asynccontextmanager
async def _served(service: SearchService) -> AsyncIterator[httpx2.AsyncClient]:
    """The tools of a service, in the loop of the test."""
    endpoint = AgentEndpoint(service)
    routes = Router([Route(PATH, Gate(endpoint, service.guards, "mcp"))])
    transport = httpx2.ASGITransport(guarded_app(routes, service))
    async with (
        endpoint.running(),
        httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http,
    ):
        yield http


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_of_either_era_searches_over_http(asked: Asked, mode: str) -> None:
    async with _served(asked.service) as http:
        transport = streamable_http_client("http://localhost/mcp", http_client=http)
        async with Client(transport, mode=mode) as client:
            assert "notes (13)" in (client.instructions or "")
            found = await client.call_tool("search_docs", {"q": "cellar"})
            assert "> Keep apples in a cool cellar" in found.content[0].text


def _ask() -> dict[str, Any]:
    about = {
        "io.modelcontextprotocol/protocolVersion": REVISION,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": about}}


HEADERS = {
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": REVISION,
    "mcp-method": "tools/list",
}


@pytest.fixture(scope="module")
def guarded(start_service: Start) -> Asked:
    """The tools behind the guards of a service; a page of another port is one of somebody else."""
    origins = ["https://app.example.org", "https://localhost:3000"]
    return start_service(extensions=(agent_extension,), hosts=["docs.example.org"], origins=origins)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "localhost:8000"}, 200),
        ({"host": "127.0.0.1"}, 200),
        ({"host": "[::1]:8000", "origin": "http://[::1]:8000"}, 200),
        ({"host": "[::1]", "origin": "https://localhost:3000"}, 200),
        ({"host": "docs.example.org", "origin": "https://app.example.org"}, 200),
        ({"host": "docs.example.org:8443"}, 200),
        ({"host": "[2001:db8::7]"}, 200),
        ({"host": "evil.example"}, 421),
        ({"host": "localhost.evil.example"}, 421),
        ({"host": "localhost", "origin": "http://evil.example"}, 403),
        ({"host": "localhost", "origin": "http://localhost.evil.example"}, 403),
        ({"host": "localhost", "origin": "null"}, 403),
    ],
)
def test_who_may_call(guarded: Asked, headers: dict[str, str], status: int) -> None:
    answer = guarded.client.post("/mcp", json=_ask(), headers={**HEADERS, **headers})
    assert answer.status_code == status, answer.text
    if status == 200:
        assert answer.headers["content-type"].startswith("application/json")
        assert answer.json()["result"]["cacheScope"] == "public"


async def test_what_is_no_request_is_refused(start_service: Start, token_file: Path) -> None:
    async with _served(start_service(tokens=str(token_file)).service) as http:
        http.headers.update(bearer("all"))
        long = await http.post(
            "/mcp", content=b"x" * 70_000, headers={**HEADERS, "content-type": "application/json"}
        )
        broken = await http.post(
            "/mcp", content=b"{", headers={**HEADERS, "content-type": "application/json"}
        )
        stream = await http.get("/mcp", headers=HEADERS)
        private = await http.post("/mcp", json=_ask(), headers=HEADERS)
    assert (long.status_code, broken.status_code) == (413, 400) and stream.status_code in (405, 406)
    assert private.json()["result"]["cacheScope"] == "private"
