"""A pool of threads that goes on with those it has where the machine starts no more."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor


class ThreadPool(ThreadPoolExecutor):
    """A pool that needs its first thread only: work waits for it where no other can be started.

    ``submit`` raises ``RuntimeError`` if not even one can be.
    """

    def _adjust_thread_count(self) -> None:
        # There is no public hook: a pool that is asked for more starts a thread and raises what that raises.
        try:
            super()._adjust_thread_count()
        except RuntimeError:
            if not self._threads:
                raise
