"""Whatever is sent to any route and any tool, it is answered or refused clearly: never an error of ours."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from noctule.server.agents.http import agent_extension
from noctule.server.agents.tools import TOOLS
from noctule.server.api.operations import OPERATIONS, Operation
from noctule.server.problems import KINDS
from tests.unit.server.conftest import Asked, Start, problem_in

STRANGE = (
    "", " ", "\x00", "a\x00b", "\u202eabc", "עברית", "🎉", "\ud800", "a" * 300, "x" * 20_000, "-1", "0", "51",
    "9" * 400, "1e9", "NaN", "true", "null", "[]", "{}", "../../etc/passwd", "%00", "%", "'; --", "\r\nX: y",
    "notes:boats.md", "tag:", "tag:\x1b[31m", "after:2026-99-99", "0" * 20,
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 3.5, 2.0, 10**400, float("inf"), [], {}, [None], [["a"]], {"a": {"b": []}}, *STRANGE
)  # fmt: skip
GETS = [each for each in OPERATIONS if each.method == "GET"]
POSTS = [each for each in OPERATIONS if each.method == "POST"]


@pytest.fixture(scope="module")
def service(start_service: Start) -> Asked:
    return start_service(extensions=(agent_extension,), log_queries=True)


def _queries(operation: Operation) -> Iterator[str]:
    """Each parameter with each value, twice, beside an unknown one, and nothing at all."""
    required = {"q": "boat", "doc_id": "notes:boats.md", "term": "boat"}
    known = operation.parameters.model_fields
    sound = {name: value for name, value in required.items() if name in known}
    yield ""
    for name in known:
        for value in STRANGE:
            yield urlencode(sound | {name: value}, errors="surrogatepass")
        yield urlencode([*sound.items(), (name, "a"), (name, "b")])
    yield from (urlencode(sound | {name: "1"}) for name in ("Q", "\u202e", "\x00", "__class__", "x" * 900))
    yield "=&&=&%ff=%ff;;"


def _is_clear(answer: Any) -> None:
    if answer.status_code in (200, 304):
        assert json.loads(answer.content)
        return
    assert 400 <= answer.status_code < 500, answer.text
    found = problem_in(answer, answer.status_code, answer.json()["code"])
    assert KINDS[found["code"]].status == answer.status_code
    assert found["detail"] and found["detail"].replace("\n", "").isprintable()
    assert len(answer.content) < 4_000


@pytest.mark.parametrize("operation", GETS, ids=lambda each: each.name)
def test_any_query_is_answered_or_refused(service: Asked, operation: Operation, caplog: Any) -> None:
    path = operation.path.replace("{doc_id}", "notes:boats.md")
    with caplog.at_level("INFO", "noctule"):
        for query in _queries(operation):
            _is_clear(service.get(f"{path}?{query}"))
    assert all(record.getMessage().isprintable() for record in caplog.records)


def test_any_name_of_a_document_is_answered_or_refused(service: Asked) -> None:
    for name in STRANGE:
        answer = service.get(f"/v1/documents/{quote(name, safe='', errors='surrogatepass')}")
        _is_clear(answer)
        assert name == "notes:boats.md" or answer.status_code == 404 or not name.strip("/"), name


@pytest.mark.parametrize("operation", POSTS, ids=lambda each: each.name)
def test_any_body_is_answered_or_refused(service: Asked, operation: Operation) -> None:
    kind = {"Content-Type": "application/json"}
    for body in _bodies():
        given = {"searches": [body]} if operation.name == "multiSearch" else body
        _is_clear(service.client.post(operation.path, content=json.dumps(given), headers=kind))


def _bodies() -> Iterator[Any]:
    yield from VALUES
    for name in ("q", "top_n", "mode", "filter", "collection", "hypothesis", "explain", "snapshot", "other"):
        yield from ({"q": "boat", name: value} for value in VALUES)
    yield {"q": "boat", "filter": ["collection:notes"], "collection": ["nowhere"]}


@pytest.mark.parametrize("tool", TOOLS, ids=lambda each: each.name)
def test_any_argument_of_a_tool_is_answered_or_refused(service: Asked, tool: Any) -> None:
    first = tool.arguments[0].name
    accept = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    for name in (*(each.name for each in tool.arguments), "\u202e", "__class__"):
        for value in VALUES:
            given = {first: "boats.md"} | {name: value}
            params = {"name": tool.name, "arguments": given}
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
            answer = service.client.post("/mcp", content=json.dumps(body), headers=accept)
            assert answer.status_code in (200, 400), answer.text
            found = answer.json()
            text = str(found.get("result", {}).get("content", [{}])[0].get("text", found.get("error")))
            assert "an error of the server" not in text and "Traceback" not in text, (name, value, text)
            assert all(line.isprintable() for line in text.split("\n")), (name, value)


@pytest.mark.parametrize("method", ["tools/call", "resources/read", "resources/list", "initialize", "x"])
def test_any_parameters_of_the_protocol_are_answered_or_refused(service: Asked, method: str) -> None:
    accept = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    names = ("name", "uri", "cursor", "arguments", "protocolVersion")
    for given in (*VALUES, *({name: value} for name in names for value in VALUES)):
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": given}
        answer = service.client.post("/mcp", content=json.dumps(body), headers=accept)
        assert answer.status_code in (200, 202, 400), (given, answer.text)
