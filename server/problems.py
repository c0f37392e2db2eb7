"""Errors as HTTP answers: problem details (RFC 9457), each with a code that stays."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import Response

from ..pipeline.errors import NoctuleError, NoSnapshot, QueryError
from ..pipeline.printable import bounded, json_printable

MEDIA_TYPE = "application/problem+json"
_MOST_SHOWN = 300
_FIELDS_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of problem: the status of its answer, and what it is in one line."""

    status: int
    title: str


KINDS: Mapping[str, Kind] = {
    "query-empty": Kind(400, "The query is empty"),
    "query-too-long": Kind(400, "The query is too long"),
    "query-invalid": Kind(400, "The query cannot be understood"),
    "filter-unknown": Kind(400, "There is no such filter"),
    "filter-invalid": Kind(400, "The filter cannot be"),
    "parameter-unknown": Kind(400, "There is no such parameter"),
    "parameter-missing": Kind(400, "A parameter is missing"),
    "parameter-repeated": Kind(400, "A parameter is given twice"),
    "parameter-invalid": Kind(400, "A parameter's value cannot be"),
    "body-invalid": Kind(400, "The body is not a JSON object"),
    "token-missing": Kind(401, "A token is required"),
    "token-wrong": Kind(401, "The token is not known"),
    "scope-missing": Kind(403, "The token does not allow this"),
    "collection-forbidden": Kind(403, "The token does not allow this collection"),
    "origin-forbidden": Kind(403, "Scripts of that site may not ask"),
    "route-unknown": Kind(404, "There is nothing at this address"),
    "document-unknown": Kind(404, "There is no such document"),
    "section-unknown": Kind(404, "The document has no such section"),
    "collection-unknown": Kind(404, "There is no such collection"),
    "events-off": Kind(404, "No events are recorded here"),
    "method-not-allowed": Kind(405, "The address does not take this method"),
    "not-acceptable": Kind(406, "It is not available in this form"),
    "body-late": Kind(408, "The body did not come in time"),
    "snapshot-gone": Kind(410, "The snapshot is not served"),
    "body-too-large": Kind(413, "The body is too large"),
    "media-type-unknown": Kind(415, "The body is not JSON"),
    "host-unknown": Kind(421, "This server has no such name"),
    "rate-exceeded": Kind(429, "Too many requests"),
    "internal": Kind(500, "An error of the server"),
    "not-ready": Kind(503, "No snapshot is open yet"),
    "overloaded": Kind(503, "Too many requests are waiting"),
    "unavailable": Kind(503, "The snapshot cannot be read now"),
    "shards-missing": Kind(503, "Some shards do not answer"),
    "events-full": Kind(503, "Too much was recorded today"),
    "deadline-exceeded": Kind(504, "It took too long"),
}


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """What is wrong with one parameter, and the valid names that are nearest."""

    parameter: str
    detail: str
    nearest: Sequence[str] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON has it; names that an attacker chose are bounded."""
        shown = {"parameter": self.parameter, "detail": self.detail}
        named: dict[str, Any] = {name: bounded(text, _MOST_SHOWN) for name, text in shown.items()}
        return named | ({"nearest": list(self.nearest)} if self.nearest else {})


@dataclass(slots=True)
class HttpProblem(Exception):
    """A request that is answered by a problem; ``code`` is a key of ``KINDS``."""

    code: str
    detail: str
    fields: Sequence[FieldProblem] = ()
    nearest: Sequence[str] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    snapshot: str = ""

    @property
    def status(self) -> int:
        """Return the status of the answer."""
        return KINDS[self.code].status

    def as_dict(self, request_id: str = "") -> dict[str, Any]:
        """Return the problem as JSON has it."""
        found: dict[str, Any] = {
            "type": f"urn:noctule:problem:{self.code}",
            "title": KINDS[self.code].title,
            "status": self.status,
            "detail": bounded(self.detail, 2 * _MOST_SHOWN),
            "code": self.code,
        }
        if request_id:
            found["instance"] = f"urn:noctule:request:{request_id}"
        if self.snapshot:
            found["snapshot"] = self.snapshot
        if self.nearest:
            found["nearest"] = [bounded(each, _MOST_SHOWN) for each in self.nearest]
        if self.fields:
            found["errors"] = [each.as_dict() for each in self.fields[:_FIELDS_SHOWN]]
        return found

    def response(self, request_id: str = "") -> Response:
        """Return the answer; nothing keeps it."""
        content = json_printable(json.dumps(self.as_dict(request_id), ensure_ascii=False))
        return Response(
            content.encode(), self.status, {"Cache-Control": "no-store", **self.headers}, MEDIA_TYPE
        )


def problem_of(error: NoctuleError) -> HttpProblem:
    """Return the problem that one of noctule's own errors is to a client; it names no path of the server."""
    if isinstance(error, QueryError):
        return HttpProblem("query-invalid", f"{error.what}. {error.hint}".strip())
    if isinstance(error, NoSnapshot):
        return HttpProblem("not-ready", "No snapshot is open yet.", headers={"Retry-After": "1"})
    return HttpProblem("unavailable", error.what, headers={"Retry-After": "5"})
