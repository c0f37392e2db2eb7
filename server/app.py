"""The application: the service's routes behind their guards, beside them a site and extensions."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route, Router, request_response
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from ..pipeline.errors import NoSnapshot
from .api.endpoint import OperationEndpoint
from .api.entity_tags import EntityTags
from .api.openapi import openapi_document
from .api.operations import OPERATIONS, Operation
from .guard.gate import Gate
from .guard.names import HostNames, Origins
from .observe.metrics import MEDIA_TYPE
from .observe.requests import ObservedRequests, ProblemAnswers, record_of
from .problems import HttpProblem, problem_of
from .service import SearchService
from .site_files import SiteFiles

_NO_STORE = {"Cache-Control": "no-store"}


@dataclass(frozen=True, slots=True)
class Extension:
    """An application that is served beside the search, behind the same guards.

    ``scope`` is what a token needs for it; ``lifespan`` is entered before the first request.
    """

    path: str
    app: ASGIApp
    scope: str
    lifespan: Callable[[], AbstractAsyncContextManager[object]] | None = None


def service_app(
    service: SearchService,
    site: Path | None = None,
    extensions: Sequence[Extension] = (),
    operations: Sequence[Operation] = OPERATIONS,
) -> ASGIApp:
    """Return the application that answers searches, and serves the site in a folder beside them."""

    @asynccontextmanager
    async def lifespan(_app: object) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(service.running())
            for each in extensions:
                if each.lifespan is not None:
                    await stack.enter_async_context(each.lifespan())
            yield

    routes = [*_operations(service, operations), *_probes(service, operations)]
    routes += [Route(each.path, Gate(each.app, service.guards, each.scope)) for each in extensions]
    is_shared = bool(service.settings.serve.origins)
    beside = _nothing_here if site is None else _except_below("/v1/", SiteFiles(site, is_shared=is_shared))
    return guarded(Router(routes, default=beside, lifespan=lifespan, redirect_slashes=False), service)


def site_app(site: Path, names: Sequence[str], *, is_shared: bool = False) -> ASGIApp:
    """Return the application that serves the site in a folder, and nothing else."""
    return ProblemAnswers(HostNames(SiteFiles(site, is_shared=is_shared), names))


def guarded(router: ASGIApp, service: SearchService) -> ASGIApp:
    """Return a router behind what holds for every request, the outermost last."""
    serve = service.settings.serve
    app: ASGIApp = Origins(ProblemAnswers(router), serve.origins)
    app = ProblemAnswers(HostNames(app, (serve.host, *serve.hosts)))
    app = ObservedRequests(app, service.metrics, log_queries=serve.log_queries)
    if serve.proxies:
        app = ProxyHeadersMiddleware(app, list(serve.proxies))  # type: ignore[arg-type,assignment]  # as uvicorn types it
    return app


def _except_below(prefix: str, app: ASGIApp) -> ASGIApp:
    """Return an application that has nothing below a prefix, which is the service's."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await (_nothing_here if scope["path"].startswith(prefix) else app)(scope, receive, send)

    return answer


async def _nothing_here(_scope: Scope, _receive: Receive, _send: Send) -> None:
    raise HttpProblem("route-unknown", "See /openapi.json for what there is.")


def _operations(service: SearchService, operations: Sequence[Operation]) -> list[BaseRoute]:
    tags = EntityTags(service.settings)
    found = groupby(operations, key=lambda each: each.path)
    return [_route(path, list(of_path), service, tags) for path, of_path in found]


def _route(path: str, operations: Sequence[Operation], service: SearchService, tags: EntityTags) -> Route:
    answers: dict[str, ASGIApp] = {}
    for each in operations:
        endpoint = request_response(OperationEndpoint(each, service, tags).answer)
        answers[each.method] = Gate(endpoint, service.guards, each.scope)
    pattern = path.replace("{doc_id}", "{doc_id:path}")
    return Route(pattern, _by_method(answers), methods=list(answers))


def _by_method(answers: Mapping[str, ASGIApp]) -> ASGIApp:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        await answers[method](scope, receive, send)

    return _Application(answer)


class _Application:
    """An application of three arguments: Starlette takes a bare function for one of a request."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


def _probes(service: SearchService, operations: Sequence[Operation]) -> list[BaseRoute]:
    description = json.dumps(openapi_document(operations), ensure_ascii=False).encode()

    async def alive(request: Request) -> Response:
        record_of(request.scope).route = "GET /livez"
        return PlainTextResponse("alive\n", headers=_NO_STORE)

    async def ready(request: Request) -> Response:
        record_of(request.scope).route = "GET /readyz"
        return _readiness(service)

    async def metrics(request: Request) -> Response:
        record_of(request.scope).route = "GET /metrics"
        return Response(service.metrics.text(), headers={**_NO_STORE, "Content-Type": MEDIA_TYPE})

    async def openapi(request: Request) -> Response:
        record_of(request.scope).route = "GET /openapi.json"
        return Response(description, headers={"Cache-Control": "no-cache"}, media_type="application/json")

    return [
        Route("/livez", alive),
        Route("/readyz", ready),
        Route("/openapi.json", openapi),
        Route("/metrics", Gate(request_response(metrics), service.guards, "metrics"), methods=["GET"]),
    ]


def _readiness(service: SearchService) -> Response:
    """Say what is served, and why not what is current; raise ``HttpProblem`` if nothing is."""
    failure = service.current.failure
    try:
        with service.current.borrow() as served:
            told = served.status()
    except NoSnapshot as error:
        raise problem_of(failure or error) from error
    if failure is not None:
        told["failure"] = failure.what
    return JSONResponse(told, headers=_NO_STORE)
