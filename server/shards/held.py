"""What a server tells a router: which shards it holds of which editions, what it finds in them, and texts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from ...artifacts.query.context import SearchRequest
from ...artifacts.query.model import Mode
from ...artifacts.query.retrieval.filters import parse_filter
from ...artifacts.query.shards.found import shown_of
from ...artifacts.query.shards.wire import MEDIA_TYPE, PROTOCOL, table_bytes, to_bytes
from ...pipeline import __version__
from ...pipeline.errors import NoSnapshot
from ...pipeline.identity import canonical_json, sha256_hex
from ...pipeline.settings.settings import Settings
from ..app import Extension
from ..guard.gate import CLIENT
from ..guard.tokens import Client
from ..observe.requests import record_of
from ..problems import HttpProblem
from ..served import ServedSnapshot
from ..service import SearchService

PATH = "/v1/shards"
FIND, SHOW = f"{PATH}/find", f"{PATH}/show"
# The name of what is no set.
WHOLE = "whole"
_MOST_ROWS = 5_000
_Given = TypeVar("_Given", bound=BaseModel)
# Of the settings of search, those that only the router reads.
_ROUTERS_OWN = {"caches", "calibrate", "rerank", "excerpt_chars"}


class FindParameters(BaseModel):
    """A request of a router: what is asked, of which edition, and how long lists may be."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    snapshot: str
    text: str = Field(max_length=10_000)
    mode: Mode
    limit: int = Field(ge=1, le=100_000)
    filters: tuple[tuple[str, str], ...] = Field(default=(), max_length=1_000)
    hypothesis: str = Field(default="", max_length=10_000)

    def request(self) -> SearchRequest:
        """Return it as a searcher takes it; raise ``QueryError``."""
        filters = tuple(parse_filter(":".join(each)) for each in self.filters)
        return SearchRequest(self.text, self.limit, self.mode, filters, self.hypothesis)


class ShowParameters(BaseModel):
    """Passages by row of an edition, whose texts are wanted."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    snapshot: str
    rows: tuple[int, ...] = Field(max_length=_MOST_ROWS)


def search_digest(settings: Settings) -> str:
    """Return a hash of all that decides how a request is understood and what its lists are."""
    search = settings.search.model_dump(mode="json", exclude=_ROUTERS_OWN)
    given = [PROTOCOL, __version__, search, settings.embed.query_prompt]
    return sha256_hex(canonical_json(given).encode())


def shard_extensions(service: SearchService) -> tuple[Extension, ...]:
    """Return what routers ask of a server."""
    held = _HeldShards(service)
    answers = {PATH: held.describe, FIND: held.find, SHOW: held.show}
    return tuple(Extension(path, _Endpoint(path, answer), "search") for path, answer in answers.items())


class _Endpoint:
    """One of the addresses; a token for some collections opens none, as statistics are of all."""

    def __init__(self, path: str, answer: Any) -> None:
        self._path, self._answer = path, answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        request, client = Request(scope, receive), scope[CLIENT]
        assert isinstance(client, Client)
        method = "GET" if self._path == PATH else "POST"
        record = record_of(scope)
        record.route, record.client = f"{method} {self._path}", client.name
        if request.method != method:
            raise HttpProblem("method-not-allowed", f"Ask with {method}.", headers={"Allow": method})
        if client.collections is not None:
            raise HttpProblem("collection-forbidden", "A router needs a token for all collections.")
        response: ASGIApp = await self._answer(request)
        await response(scope, receive, send)


class _HeldShards:
    """The answers, from the editions that a service holds open."""

    def __init__(self, service: SearchService) -> None:
        self._service = service
        self._digest = search_digest(service.settings)

    async def describe(self, _: Request) -> Response:
        """Say what is held, and by which settings it is searched."""
        editions = [self._described(each) for each in self._service.current.editions]
        told = {"protocol": PROTOCOL, "version": __version__, "search": self._digest, "editions": editions}
        return JSONResponse(told, headers={"Cache-Control": "no-store"})

    def _described(self, served: ServedSnapshot) -> dict[str, Any]:
        snapshot = served.searcher.corpus.snapshot
        manifest = snapshot.manifest
        return {
            "snapshot": served.snapshot,
            "shards": [part.manifest.shard for part in snapshot.parts] if manifest.shards else [WHOLE],
            "all_shards": [each.name for each in manifest.shards] or [WHOLE],
            "languages": list(manifest.languages),
            "addresses": {"collections": manifest.settings.get("collections", {})},
            "collections": served.collections_by_shard or {WHOLE: served.collections},
        }

    async def find(self, request: Request) -> Response:
        """Return the lists of a request as an Arrow stream."""
        given = await _read(FindParameters, request)

        def found() -> bytes:
            with self._borrowed(given.snapshot) as served:
                return to_bytes(served.searcher.find(given.request(), given.limit))

        return Response(await self._service.run(found), media_type=MEDIA_TYPE)

    async def show(self, request: Request) -> Response:
        """Return what hits show of passages as an Arrow stream."""
        given = await _read(ShowParameters, request)

        def shown() -> bytes:
            with self._borrowed(given.snapshot) as served:
                try:
                    return table_bytes(shown_of(given.rows, served.searcher.corpus))
                except IndexError as error:
                    raise HttpProblem("parameter-invalid", str(error)) from None

        return Response(await self._service.run(shown), media_type=MEDIA_TYPE)

    @contextmanager
    def _borrowed(self, snapshot: str) -> Iterator[ServedSnapshot]:
        """Yield an edition; raise ``HttpProblem`` for one that is not held, so that the router asks anew."""
        with ExitStack() as stack:
            try:
                served = stack.enter_context(self._service.current.borrow(snapshot))
            except NoSnapshot as error:
                raise HttpProblem("snapshot-gone", f"{error.what}.", snapshot=snapshot) from None
            yield served


async def _read(model: type[_Given], request: Request) -> _Given:
    try:
        return model.model_validate_json(await request.body())
    except ValidationError as error:
        raise HttpProblem("body-invalid", str(error)) from None
    except ClientDisconnect:
        raise HttpProblem("body-late", "The client has gone.") from None
