"""The command ``mcp``: search and documents for a program that speaks the Model Context Protocol."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ...pipeline.errors import SettingsError
from .flags import Flags, RequireSigned

if TYPE_CHECKING:
    from ...server.current import CurrentSearcher

# A snapshot that is published meanwhile is served after so many seconds.
_FOLLOW_S = 1.0
MISSING = SettingsError(
    "the protocol's library is not installed", where="mcp", hint="Install it: pip install 'noctule[mcp]'"
)


def mcp(flags: Flags, require_signed: RequireSigned = None) -> None:
    """Serve search and documents to agents, by the Model Context Protocol on standard input and output.

    It offers the tools search_docs, read_doc and browse_docs, and each document as a resource.

    Example, for Claude Code: claude mcp add docs -- noctule mcp --store /path/to/.noctule
    """
    from ...artifacts import query
    from ...server.current import CurrentSearcher
    from ..run.request import read_settings

    if find_spec("mcp") is None:
        raise MISSING
    # The program at the other end shows its user what stands on standard error.
    logging.getLogger("noctule").setLevel(logging.WARNING)
    make = partial(query.open, require_signed=require_signed, silent=True)
    current = CurrentSearcher(flags.open_store(), read_settings(flags.config), make=make)
    current.refresh()
    try:
        asyncio.run(_serve(current))
    finally:
        current.close()


async def _serve(current: CurrentSearcher) -> None:
    from ...server.agents.protocol import serve_stdio

    following = asyncio.create_task(current.follow(_FOLLOW_S))
    try:
        await serve_stdio(current)
    finally:
        following.cancel()
        with suppress(asyncio.CancelledError):
            await following
