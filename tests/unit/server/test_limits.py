"""Bounds on what runs, waits and is sent; what is beside the search: extensions, a site, a log, figures."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Message

from noctule.artifacts.store.store import Store
from noctule.docsite.build import build_site
from noctule.pipeline.errors import SettingsError
from noctule.pipeline.settings.reading import parse
from noctule.pipeline.settings.site import Site
from noctule.server.app import Extension
from noctule.server.guard.gate import CLIENT, Gate, Guards
from noctule.server.guard.rate import TokenBuckets
from noctule.server.negotiation import preferred
from noctule.server.problems import HttpProblem
from noctule.server.run import ServedParts, require_guarded
from noctule.server.service import BoundedExecution, SearchService
from tests.site_builder import snapshot_of
from tests.unit.server.conftest import Asked, Start, bearer

SEARCH = "/v1/search?q=boat"


def test_what_is_too_slow_or_too_much_is_refused() -> None:
    release = threading.Event()
    execution = BoundedExecution(threads=1, queue=1, deadline_s=0.1)

    async def ask() -> list[str]:
        answers = await asyncio.gather(
            *(execution.run(release.wait) for _ in range(3)), return_exceptions=True
        )
        assert execution.in_flight == 1, "what has begun holds its place"
        release.set()
        while execution.in_flight:
            await asyncio.sleep(0.01)
        assert await execution.run(lambda: True)
        return [each.code for each in answers if isinstance(each, HttpProblem)]

    assert asyncio.run(ask()) == ["deadline-exceeded", "deadline-exceeded", "overloaded"]
    execution.close()


def test_a_large_body_is_refused_whatever_it_says_of_itself(asked: Asked) -> None:
    kind = {"Content-Type": "application/json"}
    large = b'{"q": "' + b"x" * 70_000 + b'"}'
    asked.problem("/v1/search", 413, "body-too-large", method="POST", content=large, headers=kind)
    parts = (large[at : at + 1_000] for at in range(0, len(large), 1_000))
    asked.problem("/v1/search", 413, "body-too-large", method="POST", content=parts, headers=kind)


def test_a_body_that_does_not_come_is_not_waited_for() -> None:
    async def receive() -> Message:
        await asyncio.sleep(9)
        return {}

    async def app(scope: Any, receive: Any, _send: Any) -> None:
        await receive()

    async def send(_message: Message) -> None:
        raise AssertionError

    gate = Gate(app, Guards(None, TokenBuckets(0, 1), max_body_bytes=9, body_s=0.05), "search")
    with pytest.raises(HttpProblem, match="body-late"):
        asyncio.run(gate({"type": "http", "headers": []}, receive, send))


def test_an_error_of_ours_tells_nothing_but_its_number(
    asked: Asked, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    with asked.service.current.borrow() as served:
        monkeypatch.setattr(served.searcher, "ask", lambda _request: 1 // 0)
    with caplog.at_level("ERROR", "noctule"):
        found = asked.problem(SEARCH, 500, "internal")
    assert "ZeroDivision" not in str(found)


def test_an_extension_is_behind_the_same_guards(start_service: Start, token_file: Path) -> None:
    entered = []

    @asynccontextmanager
    async def lifespan() -> AsyncIterator[None]:
        entered.append(True)
        yield

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await PlainTextResponse(f"{scope['path']} {scope[CLIENT].name}")(scope, receive, send)

    extension = Extension("/mcp", app, "mcp", lifespan)
    asked = start_service(extensions=(lambda _: extension,), tokens=str(token_file))
    assert entered
    assert asked.client.post("/mcp", headers=bearer("all")).text == "/mcp all"
    asked.problem("/mcp", 401, "token-missing", method="POST")
    asked.problem("/mcp", 403, "scope-missing", method="POST", headers=bearer("notes"))
    asked.problem("/mcp", 403, "origin-forbidden", method="POST", headers={"Origin": "https://evil.example"})


def test_a_page_is_markdown_for_who_prefers_that(start_service: Start, tmp_path: Path) -> None:
    documents = {"notes": {"index.md": "# Home\n", "guide/owl.md": "# Owl\n\nHoot.\n"}}
    build_site(snapshot_of(documents), tmp_path / "site", Site())
    asked = start_service(tmp_path / "site")
    html, markdown = "text/html,*/*;q=0.8", "text/markdown, text/html;q=0.9"
    page = asked.get("/guide/owl.html", headers={"Accept": html})
    twin = asked.get("/guide/owl.html", headers={"Accept": markdown})
    assert page.headers["Content-Type"].startswith("text/html")
    assert twin.headers["Content-Type"].startswith("text/markdown")
    assert twin.text.endswith("\n\n# Owl\n\nHoot.\n")
    assert page.headers["Vary"].startswith("Accept")
    assert twin.headers["Vary"].startswith("Accept")
    again = {"Accept": markdown, "If-None-Match": twin.headers["ETag"]}
    assert asked.get("/guide/owl.html", headers=again).status_code == 304
    crossed = {"Accept": markdown, "If-None-Match": page.headers["ETag"]}
    assert asked.get("/guide/owl.html", headers=crossed).status_code == 200
    assert asked.get("/", headers={"Accept": markdown}).text.endswith("# Home\n")
    assert asked.get(SEARCH).status_code == 200
    asked.problem("/v1/none", 404, "route-unknown")
    assert asked.get("/.noctule-record").status_code == 404


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [("", "a/a"), ("*/*", "a/a"), ("b/b", "b/b"), ("a/a;q=0.5, b/b", "b/b"), ("b/*;q=1, */*;q=0.1", "b/b"),
     ("a/a;q=0, */*", "b/b"), ("c/c", None), ("a/a;q=x", None), (",;,=", None)],
)  # fmt: skip
def test_the_form_that_is_liked_best_is_taken(accept: str, wanted: str | None) -> None:
    assert preferred(accept, ("a/a", "b/b")) == wanted


def test_the_log_holds_no_question_unless_asked_and_nothing_unescaped(
    asked: Asked, start_service: Start, caplog: Any
) -> None:
    path = "/v1/documents/notes:%1b%5b31m%E2%80%AE%0aforged?section=secret"
    with caplog.at_level("INFO", "noctule.access"):
        asked.get("/v1/search?q=whispered")
        asked.get(path)
        assert "whispered" not in caplog.text
        assert "secret" not in caplog.text
        start_service(log_queries=True).get("/v1/search?q=whispered+%E2%80%AE")
    lines = [record.getMessage() for record in caplog.records]
    assert any('q="whispered \\u202e"' in line for line in lines)
    assert all(line.isprintable() for line in lines)


def test_one_of_several_processes_is_ready_before_it_accepts(library: Store) -> None:
    service = SearchService(library, parse({"serve": {"workers": 2, "poll_s": 9}}, where="test"))

    async def is_ready() -> bool:
        async with service.running():
            with service.current.borrow() as served:
                return bool(served.snapshot)

    assert asyncio.run(is_ready())


def test_figures_are_told(asked: Asked) -> None:
    asked.get("/v1/search?q=zzzz&filter=tag:nowhere")
    asked.get("/v1/search?q=figures")
    text = asked.get("/metrics").text
    for line in (
        'noctule_requests_total{route="GET /v1/search",status="200"}', "noctule_zero_hits_total",
        'noctule_stage_seconds_bucket{le="0.001",stage="fuse"}', "noctule_generation 1.0",
        'noctule_swaps_total{result="opened"} 1.0', "noctule_snapshot_info{snapshot=",
    ):  # fmt: skip
        assert line in text


def test_the_description_is_sound(asked: Asked) -> None:
    found = asked.get("/openapi.json").json()
    for schema in found["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    assert set(found["paths"]) >= {"/v1/search", "/v1/documents/{doc_id}", "/v1/snapshot"}
    parameters = found["paths"]["/v1/search"]["get"]["parameters"]
    assert {each["name"] for each in parameters if each["required"]} == {"q"}


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "docs.example.org", "::"])
def test_a_search_is_not_opened_to_a_network_by_accident(host: str, tmp_path: Path) -> None:
    parts = ServedParts(parse({"serve": {"host": host}}, where="test"), tmp_path)
    with pytest.raises(SettingsError, match="anyone"):
        require_guarded(parts, allow_anonymous=False)
    require_guarded(parts, allow_anonymous=True)
    require_guarded(
        ServedParts(parse({"serve": {"host": host, "tokens": "t"}}, where="test"), tmp_path),
        allow_anonymous=False,
    )
    require_guarded(ServedParts(parse({}, where="test"), tmp_path), allow_anonymous=False)


@pytest.mark.parametrize(
    "wrong",
    [
        {"hosts": ["a b"]},
        {"origins": ["example.org"]},
        {"proxies": ["10.0.0.0/99"]},
        {"drain_s": 60},
        {"port": -1},
    ],
)
def test_settings_that_cannot_be_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=next(iter(wrong))):
        parse({"serve": wrong}, where="test")
