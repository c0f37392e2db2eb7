"""The tools behind the service's own bounds: collections of tokens, threads, deadline, log and figures."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from noctule.artifacts.store.store import Store
from noctule.server.agents.http import agent_extension
from tests.unit.server.conftest import Asked, Start, hashed, problem_in

ACCEPT = {"Accept": "application/json, text/event-stream"}
SALARIES = "staff:pay/salaries.md"


def _call(asked: Asked, method: str, params: dict[str, Any], token: str = "") -> dict[str, Any]:
    """The result or the error of a request by the protocol."""
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = {**ACCEPT, **({"Authorization": f"Bearer {token}"} if token else {})}
    answer = asked.client.post("/mcp", json=body, headers=headers)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def _tool(asked: Asked, name: str, token: str = "", **arguments: Any) -> str:
    found = _call(asked, "tools/call", {"name": name, "arguments": arguments}, token)["result"]
    return f"{'error ' if found.get('isError') else ''}{found['content'][0]['text']}"


_HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


@pytest.fixture(scope="module")
def limited(start_service: Start, two_collections: Store, tmp_path_factory: pytest.TempPathFactory) -> Asked:
    """A service over two collections, of which the token ``p`` may see one."""
    tokens = tmp_path_factory.mktemp("limited") / "tokens.txt"
    rights = {"a": "* *", "p": "mcp public", "n": "mcp nothing-here"}
    tokens.write_text("".join(f"{name} {hashed(name)} {each}\n" for name, each in rights.items()))
    return start_service(extensions=(agent_extension,), tokens=str(tokens), over=two_collections)


def test_who_may_see_all_collections_is_told_of_all(limited: Asked) -> None:
    assert "staff (1)" in str(_call(limited, "initialize", _HELLO, "a"))
    assert SALARIES in _tool(limited, "search_docs", "a", query="salaries")
    assert SALARIES in _tool(limited, "browse_docs", "a", depth=5)
    assert "paid on Fridays" in _tool(limited, "read_doc", "a", ref=SALARIES)
    assert "staff" in str(_call(limited, "resources/list", {}, "a"))


@pytest.mark.parametrize("token", ["p", "n"])
def test_a_token_for_some_collections_sees_no_trace_of_others(limited: Asked, token: str) -> None:
    snapshot = limited.service.current.refresh() or _snapshot(limited)
    told = [
        str(_call(limited, "initialize", _HELLO, token)),
        str(_call(limited, "resources/list", {}, token)),
        str(_call(limited, "resources/templates/list", {}, token)),
        _tool(limited, "search_docs", token, query="salaries fridays", limit=20),
        _tool(limited, "search_docs", token, query="salarys"),
        _tool(limited, "search_docs", token, query="raises", path="*"),
        _tool(limited, "search_docs", token, query="fridays", path="pay/*"),
        _tool(limited, "browse_docs", token, depth=5),
    ]
    refused = [
        _tool(limited, "search_docs", token, query="salaries", collection="staff"),
        _tool(limited, "browse_docs", token, path="staff:"),
        *(_tool(limited, "read_doc", token, ref=each) for each in
          (SALARIES, "pay/salaries.md", f"{SALARIES}#raises", f"{SALARIES}@0", "pay/salaries.html")),
        str(_call(limited, "resources/read", {"uri": f"noctule://{snapshot}/{SALARIES}"}, token)["error"]),
    ]  # fmt: skip
    for text in told:
        assert "staff" not in text and "Raises" not in text and "paid" not in text, text
    for text in refused:
        assert ("no such" in text) and "paid" not in text, text
        assert "staff:pay" not in text.partition("Nearest")[2], text


def test_a_token_for_some_collections_finds_reads_and_lists_them(limited: Asked) -> None:
    assert "public (1)" in str(_call(limited, "initialize", _HELLO, "p"))
    assert "public:guide/visits.md" in _tool(limited, "search_docs", "p", query="fridays")
    assert "public:guide/visits.md" in _tool(
        limited, "search_docs", "p", query="fridays", collection="Public"
    )
    assert "Visits are on Fridays" in _tool(limited, "read_doc", "p", ref="guide/visits.md")
    assert "guide/visits.md" in str(_call(limited, "resources/list", {}, "p"))
    uri = f"noctule://{_snapshot(limited)}/public:guide/visits.md"
    assert "Fridays" in str(_call(limited, "resources/read", {"uri": uri}, "p")["result"])


def _snapshot(asked: Asked) -> str:
    with asked.service.current.borrow() as served:
        return str(served.snapshot)


def test_calls_wait_and_end_as_searches_do(start_service: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = start_service(extensions=(agent_extension,), threads=1, queue=1, deadline_s=0.2)
    release = threading.Event()
    with asked.service.current.borrow() as served:
        monkeypatch.setattr(served.searcher, "ask", lambda _request: release.wait(5))
    text = _tool(asked, "search_docs", query="boat")
    assert text.startswith("error Error: it took too long")
    with pytest.MonkeyPatch.context() as full:
        full.setattr(asked.service.execution, "in_flight", 2)
        assert "too many requests are waiting" in _tool(asked, "search_docs", query="boat")
        assert "waiting" in _call(asked, "resources/list", {})["error"]["message"]
        problem_in(asked.get("/v1/search?q=boat"), 503, "overloaded")
    release.set()
    figures = asked.get("/metrics").text
    for line in (
        'noctule_rejected_total{code="deadline-exceeded"} 1.0',
        'noctule_rejected_total{code="overloaded"} 3.0',
        'noctule_requests_total{route="POST /mcp search_docs",status="200"} 2.0',
        'noctule_tool_calls_total{outcome="error",tool="search_docs"} 2.0',
    ):
        assert line in figures, line


def test_an_error_of_ours_is_told_by_its_number_only(
    start_service: Start, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    asked = start_service(extensions=(agent_extension,))
    with asked.service.current.borrow() as served:
        monkeypatch.setattr(served.searcher, "ask", lambda _request: 1 // 0)
    with caplog.at_level("ERROR", "noctule"):
        text = _tool(asked, "search_docs", query="boat")
    assert text.startswith("error Error: an error of the server") and "division" not in text
    assert "ZeroDivisionError" in caplog.text


def test_calls_are_counted_and_logged_by_the_tool(start_service: Start, tmp_path: Path, caplog: Any) -> None:
    asked = start_service(extensions=(agent_extension,), log_queries=True)
    with caplog.at_level("INFO", "noctule.access"):
        _tool(asked, "search_docs", query="whispered \u202e")
        _tool(asked, "drop_tables", query="x")
        _call(asked, "resources/list", {})
        _call(asked, "no/such", {})
    lines = [record.getMessage() for record in caplog.records if record.name == "noctule.access"]
    assert ' "/mcp" search_docs 200 ' in lines[0] and 'q="whispered \\u202e"' in lines[0]
    assert ' "/mcp" 200 ' in lines[1] and ' "/mcp" resources/list 200 ' in lines[2]
    figures = asked.get("/metrics").text
    assert 'noctule_tool_calls_total{outcome="error",tool="unknown"} 1.0' in figures
    assert 'noctule_requests_total{route="POST /mcp",status="200"} 2.0' in figures
    assert 'noctule_stage_seconds_count{stage="fuse"} 1.0' in figures
