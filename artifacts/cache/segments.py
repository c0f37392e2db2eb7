"""Cache segments: files named by their own SHA-256, so that damaged ones are recognized and ignored."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from ...pipeline.identity import sha256_hex
from ..disk import durable


def write(folder: Path, content: pa.Buffer, suffix: str) -> Path:
    """Write the content to a file in the folder, on disk on return; raises ``WriteFailed``."""
    path = folder / f"{_name(content)}{suffix}"
    durable.make_directory(folder)
    durable.replace_file(path, memoryview(content))
    return path


def read(path: Path, decode: Callable[[pa.Buffer], pa.Table]) -> pa.Table | None:
    """Return the memory-mapped rows of a segment; none if it cannot be read or has unexpected bytes."""
    try:
        with pa.memory_map(str(path)) as file:
            content = file.read_buffer()
        return decode(content) if _name(content) == path.stem else None
    except MemoryError:  # Arrow's is also one of Arrow's own exceptions, and no sign of damage
        raise
    except (OSError, pa.ArrowException):
        return None


def _name(content: pa.Buffer) -> str:
    return sha256_hex(memoryview(content))[:32]
