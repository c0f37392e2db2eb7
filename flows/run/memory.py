"""Memory: given back to the system between stages, and not looked through for what is not there."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager


def give_back() -> None:
    """Returns free memory to the system: Python, Arrow and the C library would each keep it for themselves."""
    import pyarrow as pa  # not for every process that only collects seldom

    gc.collect()
    pa.default_memory_pool().release_unused()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it, musl has not
        if trim is not None:
            trim(0)


@contextmanager
def uncollected() -> Iterator[None]:
    """What the block makes is to stay, as modules do: neither it nor what was there before is looked through for cycles,
    now or later."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_on:
            gc.enable()


def collect_seldom() -> None:
    """For work that makes many objects which die together: looking for cycles among them takes a tenth of its time."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
