"""Connections that do not ask: each is closed in time, and one that asks slowly within it is answered."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import uvicorn
from starlette.responses import PlainTextResponse

from noctule.server import run
from noctule.server.run import CONNECTIONS, TimedConnection

_WEBSOCKET = (
    b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


async def _answer(config: uvicorn.Config, pieces: list[bytes]) -> bytes:
    state = uvicorn.Server(config).server_state
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: TimedConnection(config, state, {}), "127.0.0.1", 0)
    async with server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
        for piece in pieces:
            writer.write(piece)
            await asyncio.sleep(0.05)
        try:
            return await asyncio.wait_for(reader.read(), 3)
        except ConnectionError:  # it was closed while a piece was on its way
            return b""
        finally:
            writer.close()


@pytest.mark.parametrize(
    ("pieces", "is_answered"),
    [
        ([b""], False),
        ([b"GET / HT"], False),
        ([b"GET / HTTP/1.1\r\n", *[b"A: b\r\n"] * 8], False),
        ([b"GET / HTTP/1.1\r\n", b"Host: a\r\nConnection: close\r\n\r\n"], True),
        ([b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", b"GET / H"], True),
        ([b"GET / HTTP/1.1\r\nHost: a\r\n", _WEBSOCKET], True),  # as any other request
    ],
)
def test_who_does_not_ask_in_time_is_left(
    monkeypatch: pytest.MonkeyPatch, pieces: list[bytes], *, is_answered: bool
) -> None:
    monkeypatch.setattr(run, "_REQUEST_HEAD_S", 0.2)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(0.3)  # an answer may take longer than its question
        await PlainTextResponse("heard")(scope, receive, send)

    config = uvicorn.Config(app, **CONNECTIONS, log_config=None, timeout_keep_alive=1)
    config.load()
    assert (b"heard" in asyncio.run(_answer(config, pieces))) == is_answered
