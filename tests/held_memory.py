"""What a block of code holds in memory, as the allocators know it: without the pages of mapped files."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa


class Held:
    """Bytes of NumPy, Python and Arrow: what a block left behind, and the most that it had at a time."""

    left = peak = 0


@contextmanager
def held_memory() -> Iterator[Held]:
    """Measure the block; the figures are there after it."""
    held, arrow = Held(), pa.total_allocated_bytes()
    tracemalloc.start()
    try:
        yield held
        left, peak = tracemalloc.get_traced_memory()
        grown = pa.total_allocated_bytes() - arrow
        held.left, held.peak = left + grown, peak + grown
    finally:
        tracemalloc.stop()
