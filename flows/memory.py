"""Memory that a stage has let go of, given back to the system before the next one needs as much."""

from __future__ import annotations

import ctypes
import gc
import sys

import pyarrow as pa


def give_back() -> None:
    """Returns free memory to the system: Python, Arrow and the C library would each keep it for themselves."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it, musl has not
        if trim is not None:
            trim(0)
