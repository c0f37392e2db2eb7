"""Memory management: free memory is returned to the system between stages, and garbage collection is
tuned.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

# A build of fewer leaves less free memory behind than looking for it costs.
MANY_PASSAGES = 10_000


def release_memory() -> None:
    """Return free memory to the system: Python, Arrow and the C library would each keep it for themselves."""
    import pyarrow as pa  # not for every process that only collects seldom

    gc.collect()
    pa.default_memory_pool().release_unused()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it, musl has not
        if trim is not None:
            trim(0)


@contextmanager
def uncollected() -> Iterator[None]:
    """Exempt what exists after the block, such as modules, from garbage collection for good."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_on:
            gc.enable()


def collect_seldom() -> None:
    """Make garbage collection, a tenth of the time of work that makes many objects, rarer."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
