"""The socket that a service listens on."""

from __future__ import annotations

import asyncio
import socket

from noctule.server.run import listener


def test_an_answer_does_not_wait_for_its_head_to_be_acknowledged() -> None:
    """Nagle's algorithm is off on each connection: it held every body back for 40 ms."""

    async def is_at_once() -> bool:
        found: asyncio.Queue[int] = asyncio.Queue()

        async def answer(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            connection = writer.get_extra_info("socket")
            await found.put(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        with listener("127.0.0.1", 0) as listening:
            async with await asyncio.start_server(answer, sock=listening):
                _, writer = await asyncio.open_connection(*listening.getsockname())
                asked = await found.get()
                writer.close()
                await writer.wait_closed()
                return asked == 1

    assert asyncio.run(is_at_once())
