"""What every request has around it: a number, a line in the access log, metrics, and an answer."""

from __future__ import annotations

import json
import logging
import time
from dataclasses import dataclass
from secrets import token_hex
from typing import cast

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...pipeline.errors import NoctuleError
from ...pipeline.printable import bounded, json_printable
from ..problems import HttpProblem, problem_of
from .metrics import Metrics

RECORD = "noctule.record"
_log = logging.getLogger("noctule.access")
_MOST_SHOWN = 200
# An address beside the time would say whose event it was.
_NAMELESS = ("/v1/events",)
# Asked every few seconds.
_PROBES = ("GET /livez", "GET /readyz", "GET /metrics", "GET /v1/shards")


@dataclass(slots=True)
class RequestRecord:
    """A request on its way: which route answers, who asks, and what.

    A route is a method, a path and, where one path answers several things, which of them.
    """

    request_id: str
    route: str = "other"
    client: str = "-"
    query: str = ""
    status: int = 0
    sent: int = 0
    code: str = ""


def record_of(scope: Scope) -> RequestRecord:
    """Return the record of a request."""
    return cast(RequestRecord, scope[RECORD])


class ProblemAnswers:
    """Answers by a problem where one is raised, and by one without details where an error of ours is."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; what has begun to be answered can only be broken off."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            await self._app(scope, receive, send)
        except Exception as error:
            record = scope.get(RECORD) or RequestRecord("")
            problem = observed_problem(error, record)
            if record.status:
                raise
            record.code = problem.code
            await problem.response(record.request_id)(scope, receive, send)


class ObservedRequests:
    """Numbers requests, and records how each was answered."""

    def __init__(self, app: ASGIApp, metrics: Metrics, *, log_queries: bool) -> None:
        self._app, self._metrics, self._log_queries = app, metrics, log_queries

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and record how it was answered."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        record, started = RequestRecord(token_hex(8)), time.perf_counter()
        scope[RECORD], scope["app"] = record, self  # with an "app", Starlette raises a 405 as an error

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                record.status = message["status"]
                MutableHeaders(scope=message)["X-Request-Id"] = record.request_id
            record.sent += len(message.get("body", b""))
            await send(message)

        try:
            await self._app(scope, receive, counted)
        finally:
            self._tell(scope, record, time.perf_counter() - started)

    def _tell(self, scope: Scope, record: RequestRecord, seconds: float) -> None:
        self._metrics.requests.labels(record.route, str(record.status)).inc()
        self._metrics.request_seconds.labels(record.route).observe(seconds)
        if record.code:
            self._metrics.rejected.labels(record.code).inc()
        if record.route not in _PROBES and _log.isEnabledFor(logging.INFO):
            _log.info("%s", self._line(scope, record, seconds))

    def _line(self, scope: Scope, record: RequestRecord, seconds: float) -> str:
        is_named = scope.get("client") and scope["path"] not in _NAMELESS
        peer = scope["client"][0] if is_named else "-"
        parts = [
            bounded(peer, 64), record.client, bounded(scope["method"], 16), _quoted(scope["path"]),
            *record.route.split(" ")[2:], str(record.status), f"{record.sent}B", f"{seconds * 1000:.1f}ms",
            record.request_id,
        ]  # fmt: skip
        if record.code:
            parts.append(record.code)
        if self._log_queries and record.query:
            parts.append(f"q={_quoted(record.query)}")
        return " ".join(parts)


def _quoted(text: str) -> str:
    """Return a text that a client chose as a JSON string: one line, nothing that moves a terminal."""
    shown = text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"
    return json_printable(json.dumps(shown, ensure_ascii=False))


def observed_problem(error: Exception, record: RequestRecord) -> HttpProblem:
    """Return the problem that an error is to a client; one of ours is logged under the request's number."""
    if isinstance(error, HttpProblem):
        return error
    if isinstance(error, NoctuleError):
        return problem_of(error)
    if isinstance(error, HTTPException):
        code = {404: "route-unknown", 405: "method-not-allowed"}.get(error.status_code, "body-invalid")
        return HttpProblem(code, "See /openapi.json.", headers=dict(error.headers or {}))
    _log.error("request %s failed", record.request_id, exc_info=error)
    return HttpProblem("internal", "The server's log says more under this request's number.")
