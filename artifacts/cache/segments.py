"""Segments of what is remembered: files that are named by their own SHA-256, so that a damaged one is known and left out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from ...pipeline.identity import sha256_hex
from ..store import durable


def write(folder: Path, content: pa.Buffer, suffix: str) -> Path:
    """The content in a file of the folder, on the disk when this returns; raises ``WriteFailed``."""
    path = folder / f"{_name(content)}{suffix}"
    durable.make_directory(folder)
    durable.replace_file(path, memoryview(content))
    return path


def read(path: Path, decode: Callable[[pa.Buffer], pa.Table]) -> pa.Table | None:
    """The rows of a segment, read where they lie; nothing where it cannot be read, or holds other bytes than were written."""
    try:
        with pa.memory_map(str(path)) as file:
            content = file.read_buffer()
        return decode(content) if _name(content) == path.stem else None
    except MemoryError:  # Arrow's is an exception of Arrow's too, and no damage
        raise
    except (OSError, pa.ArrowException):
        return None


def _name(content: pa.Buffer) -> str:
    return sha256_hex(memoryview(content))[:32]
