"""How a request becomes a call, and the reply an answer: parameters, conditions, deadline, caching."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from ..guard.gate import CLIENT
from ..guard.tokens import ANYBODY, Client
from ..negotiation import preferred
from ..observe.requests import record_of
from ..problems import HttpProblem
from ..served import ServedSnapshot
from ..service import SearchService
from .calls import JSON, Call, Reply
from .entity_tags import EntityTags, named_tags
from .operations import Operation
from .parameters import MultiSearchParameters, Parameters, of_body, of_query

_YEAR_S = 31_536_000


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request whose parameters are sound; ``key`` stands for its address without the query."""

    parameters: Parameters
    client: Client
    target: str
    form: str
    key: str


class OperationEndpoint:
    """Answers the requests of one operation."""

    def __init__(self, operation: Operation, service: SearchService, tags: EntityTags) -> None:
        self._operation, self._service, self._tags = operation, service, tags

    async def answer(self, request: Request) -> Response:
        """Return the answer; one that the client has already is not made again. Raise as :meth:`_run`."""
        asked = await self._asked(request)
        had = named_tags(request.headers.getlist("if-none-match")) if request.method != "POST" else ()
        if had:
            with self._borrowed(asked) as served:
                tag = self._tag(asked, served)
            if tag in had:
                return self._not_modified(asked, tag)
        reply, tag = await self._service.run(lambda: self._run(asked))
        if "*" in had:  # whatever is there, but something must be
            return self._not_modified(asked, tag)
        headers = self._caching(asked, tag) if reply.is_kept else {"Cache-Control": "no-store"}
        return Response(reply.content, headers={**headers, **reply.headers}, media_type=reply.media_type)

    def _not_modified(self, asked: _Asked, tag: str) -> Response:
        self._service.metrics.not_modified.inc()
        return Response(status_code=304, headers=self._caching(asked, tag))

    async def _asked(self, request: Request) -> _Asked:
        operation, record = self._operation, record_of(request.scope)
        client: Client = request.scope[CLIENT]
        record.route, record.client = f"{operation.method} {operation.path}", client.name
        form = preferred(request.headers.get("accept", ""), operation.forms)
        if form is None:
            raise HttpProblem("not-acceptable", f"It comes as {' or '.join(operation.forms)}.")
        given = await self._parameters(request)
        record.query = str(getattr(given, "q", "") or getattr(given, "term", ""))
        if isinstance(given, MultiSearchParameters):
            self._service.guards.charge_more(request.scope, len(given.searches) - 1)
        target = request.path_params.get("doc_id", "")
        return _Asked(given, client, target, form, f"{operation.path} {target}")

    async def _parameters(self, request: Request) -> Parameters:
        if self._operation.method == "GET":
            return of_query(self._operation.parameters, request.query_params.multi_items())
        if request.query_params:
            raise HttpProblem("parameter-invalid", "Parameters are in the body or in the query, not in both.")
        kind = request.headers.get("content-type", JSON).partition(";")[0].strip().lower()
        if kind not in self._operation.takes:
            raise HttpProblem("media-type-unknown", f"The body must be {' or '.join(self._operation.takes)}.")
        try:
            content = await request.body()
        except ClientDisconnect:
            raise HttpProblem("body-late", "The client has gone.") from None
        return of_body(self._operation.parameters, content)

    def _run(self, asked: _Asked) -> tuple[Reply, str]:
        """Return the reply and its tag, both of one snapshot; raise ``HttpProblem`` or ``NoctuleError``."""
        with self._borrowed(asked) as served:
            call = Call(
                asked.parameters, served, asked.client, self._service.metrics, self._service.events,
                asked.target, asked.form,
            )  # fmt: skip
            return self._operation.answer(call), self._tag(asked, served)

    @contextmanager
    def _borrowed(self, asked: _Asked) -> Iterator[ServedSnapshot]:
        """Yield what is served; raise ``NoSnapshot`` if nothing is, ``HttpProblem`` if it may not answer."""
        wanted = asked.parameters.snapshot
        with self._service.current.borrow() as served:
            if wanted and wanted != served.snapshot:
                detail = f"Snapshot {wanted} is not served; ask {served.snapshot}, or without a snapshot."
                raise HttpProblem("snapshot-gone", detail, snapshot=served.snapshot)
            yield served

    def _tag(self, asked: _Asked, served: ServedSnapshot) -> str:
        return self._tags.tag(asked.key, asked.parameters, served, asked.client, asked.form)

    def _caching(self, asked: _Asked, tag: str) -> dict[str, str]:
        """Return the headers that let an answer be kept, and asked for again at no cost."""
        if self._operation.method != "GET":
            return {"Cache-Control": "no-store"}
        audience = "public" if asked.client is ANYBODY else "private"
        # A snapshot's documents never change; how they are ranked may, by settings and versions.
        is_for_ever = bool(asked.parameters.snapshot) and self._operation.scope == "documents"
        how_long = f"max-age={_YEAR_S}, immutable" if is_for_ever else "no-cache"
        return {"ETag": tag, "Cache-Control": f"{audience}, {how_long}", "Vary": "Accept, Authorization"}
