"""Documents through a router: the server that holds one is asked, and its answer passed on as it is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ..app import Extension
from ..guard.gate import CLIENT
from ..guard.tokens import Client
from ..observe.requests import record_of
from ..problems import HttpProblem
from .asking import GroupAsker
from .backends import HttpReply
from .editions import ServedEdition

_PATH = "/v1/documents/{doc_id:path}"
_PASSED_ON = ("content-type", "etag", "cache-control", "link", "vary")
_ASKED_WITH = ("accept", "if-none-match")
_UNKNOWN = 404


class RoutedDocuments:
    """Answers requests for one document."""

    def __init__(self, served: Callable[[], ServedEdition], asker: GroupAsker) -> None:
        self._served, self._asker = served, asker

    def extension(self) -> Extension:
        """Return where the documents are served."""
        return Extension(_PATH, self, "documents")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what the server that holds the document answers."""
        request = Request(scope, receive)
        client: Client = scope[CLIENT]
        record = record_of(scope)
        record.route, record.client = "GET /v1/documents/{doc_id}", client.name
        if request.method not in ("GET", "HEAD"):
            raise HttpProblem("method-not-allowed", "Ask with GET.", headers={"Allow": "GET, HEAD"})
        doc_id = str(request.path_params["doc_id"])
        if not client.sees(doc_id.partition(":")[0]):
            raise HttpProblem("document-unknown", "There is no such document.")
        query = f"?{request.url.query}" if request.url.query else ""
        path = f"/v1/documents/{quote(doc_id, safe='/:')}{query}"
        headers = {name: request.headers[name] for name in _ASKED_WITH if name in request.headers}
        found = await asyncio.to_thread(self._found, path, headers)
        shown = {name: value for name, value in found.headers.items() if name.lower() in _PASSED_ON}
        await Response(found.content, found.status, shown)(scope, receive, send)

    def _found(self, path: str, headers: Mapping[str, str]) -> HttpReply:
        """Return the answer of the first server that knows the document; raise ``HttpProblem``."""
        served = self._served()
        replies = self._asker.ask(
            served.groups, lambda _, backend, seconds: backend.get(path, headers, seconds)
        )
        answered = [each.value for each in replies.values() if each.value is not None]
        known = [each for each in answered if each.status != _UNKNOWN]
        missing = served.without(frozenset(name for name, each in replies.items() if each.value is not None))
        if known:
            return known[0]
        if missing or not answered:
            detail = f"Shards that do not answer: {', '.join(missing)}."
            raise HttpProblem("shards-missing", detail, headers={"Retry-After": "1"})
        return answered[0]
