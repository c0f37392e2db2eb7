"""The search service without its routes: the current searcher, who may ask it, and its figures."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from ..artifacts.store.store import Store
from ..pipeline.settings.settings import Settings
from .current import CurrentSearcher, Swap
from .execution import BoundedExecution
from .guard.gate import Guards
from .guard.rate import TokenBuckets
from .guard.tokens import TokenFile
from .observe.metrics import Metrics

_log = logging.getLogger("noctule")


class SearchService:
    """What answers searches over HTTP; raise ``SettingsError`` for a file of tokens that cannot be read."""

    def __init__(self, store: Store, settings: Settings) -> None:
        serve = settings.serve
        self.settings, self.metrics = settings, Metrics()
        tokens = TokenFile(Path(serve.tokens)) if serve.tokens else None
        buckets = TokenBuckets(serve.requests_per_second, serve.burst)
        self.guards = Guards(tokens, buckets, serve.max_body_bytes)
        self.execution = BoundedExecution.of(serve)
        self.current = CurrentSearcher(store, settings, on_swap=self._tell)

    def _tell(self, swap: Swap) -> None:
        self.metrics.tell_swap(swap)
        if swap.failure is None:
            with self.current.borrow() as served:
                self.metrics.tell_served(served)
                what = "serving snapshot %s, generation %d, opened in %.2f s"
                _log.info(what, served.snapshot, served.generation, swap.seconds)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Open the current snapshot beside the block, and follow the store until it ends."""
        following = asyncio.create_task(self.current.follow(self.settings.serve.poll_s))
        try:
            yield
        finally:
            following.cancel()
            with suppress(asyncio.CancelledError):
                await following
            self.execution.close()
            self.current.close()
