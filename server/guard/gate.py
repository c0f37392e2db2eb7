"""The gate before what is asked: the client's token, scope and rate, and the size of what is sent."""

from __future__ import annotations

import asyncio

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..problems import HttpProblem
from .rate import TokenBuckets, bucket_of, retry_after
from .tokens import ANYBODY, Client, TokenFile

CLIENT = "noctule.client"
_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="noctule"'}


class Guards:
    """What every gate of a server shares: tokens, buckets, the largest body, and how long one may take."""

    def __init__(
        self, tokens: TokenFile | None, buckets: TokenBuckets, max_body_bytes: int, body_s: float
    ) -> None:
        self.tokens, self.buckets, self.max_body_bytes, self.body_s = tokens, buckets, max_body_bytes, body_s

    def admit(self, scope: Scope, needed: str) -> Client:
        """Return who asks; raise ``HttpProblem`` for a token that will not do, or too many requests."""
        peer = bucket_of(scope["client"][0] if scope.get("client") else "")
        if self.tokens is None:
            self.charge(peer)
            return ANYBODY
        token = _token_in(Headers(scope=scope))
        client = self.tokens.client_of(token) if token else None
        if client is None:
            self.charge(peer)  # who guesses is slowed down
            code = "token-wrong" if token else "token-missing"
            detail = "Send it as the header Authorization: Bearer TOKEN."
            raise HttpProblem(code, detail, headers=_CHALLENGE)
        self.charge(f"token {client.name}")
        if needed not in client.scopes:
            raise HttpProblem("scope-missing", f"The token lacks the scope {needed}.")
        return client

    def charge(self, bucket: str, amount: int = 1) -> None:
        """Take from a bucket; raise ``HttpProblem`` if there is not enough in it."""
        wait = self.buckets.take(bucket, amount)
        if wait:
            raise HttpProblem("rate-exceeded", "Wait a moment.", headers=retry_after(wait))

    def charge_more(self, scope: Scope, amount: int) -> None:
        """Take for a request that asks several things what was not taken at the gate."""
        client: Client = scope[CLIENT]
        peer = bucket_of(scope["client"][0] if scope.get("client") else "")
        self.charge(peer if client is ANYBODY else f"token {client.name}", amount)


def _token_in(headers: Headers) -> str:
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


class Gate:
    """Lets requests with the scope through to an application, which finds the client in its scope."""

    def __init__(self, app: ASGIApp, guards: Guards, needed: str) -> None:
        self._app, self._guards, self._needed = app, guards, needed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Admit the request, and hold its body to its bounds; raise ``HttpProblem``."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope[CLIENT] = self._guards.admit(scope, self._needed)
        limit = self._guards.max_body_bytes
        declared = Headers(scope=scope).get("content-length", "0")
        if not declared.isdecimal() or int(declared[:20]) > limit:
            raise _too_large(limit)
        await self._app(scope, _BoundedBody(receive, limit, self._guards.body_s), send)


class _BoundedBody:
    """Receives a body of so many bytes within so many seconds, and then what follows it."""

    def __init__(self, receive: Receive, most_bytes: int, seconds: float) -> None:
        self._receive, self._left, self._most, self._seconds = receive, most_bytes, most_bytes, seconds
        self._deadline = asyncio.get_running_loop().time() + seconds
        self._is_complete = False

    async def __call__(self) -> Message:
        """Return the next message; raise ``HttpProblem`` once the body is too large or too late."""
        if self._is_complete:
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError:
            detail = f"It was not complete within {self._seconds:g} s."
            raise HttpProblem("body-late", detail, headers={"Connection": "close"}) from None
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            raise _too_large(self._most)
        self._is_complete = not message.get("more_body", False)
        return message


def _too_large(limit: int) -> HttpProblem:
    return HttpProblem(
        "body-too-large", f"A body has at most {limit:,} bytes.", headers={"Connection": "close"}
    )
