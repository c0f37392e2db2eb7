"""Cache segments: files that say what they hold, named by their own SHA-256.

Damaged ones, and those of another model, format or purpose, are recognized, left out and said to be.
"""

from __future__ import annotations

import errno
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

from ...pipeline.errors import is_transient
from ...pipeline.identity import sha256_hex
from ..disk import durable
from ..disk.manifest import unreadable

T = TypeVar("T")
_PREFIX = b"noctule."
_log = logging.getLogger("noctule")


class UnusableSegment(Exception):
    """Why a segment is not used."""


def marked(table: pa.Table, holds: Mapping[str, str]) -> pa.Table:
    """Return the rows with what they are in the metadata of their schema."""
    metadata = {_PREFIX + name.encode(): value.encode() for name, value in sorted(holds.items())}
    return table.replace_schema_metadata(metadata)


def marks(schema: pa.Schema) -> dict[str, str]:
    """Return what a segment says that its rows are; empty if it is of an older noctule."""
    found = schema.metadata or {}
    return {
        name.removeprefix(_PREFIX).decode("utf-8", "replace"): value.decode("utf-8", "replace")
        for name, value in found.items()
        if name.startswith(_PREFIX)
    }


def write(folder: Path, content: pa.Buffer, suffix: str) -> Path:
    """Write the content to a file in the folder, on disk on return; raises ``WriteFailed``."""
    path = folder / f"{_name(content)}{suffix}"
    durable.make_directory(folder)
    durable.replace_file(path, memoryview(content))
    return path


def read(path: Path, decode: Callable[[pa.Buffer], T]) -> T:
    """Return what is decoded of a memory-mapped segment; raises ``UnusableSegment`` if it is damaged or gone.

    Raises ``ArtifactError`` where the machine cannot map it now: to leave it out would cost what it holds.
    """
    try:
        with pa.memory_map(str(path)) as file:
            content = file.read_buffer()
        if _name(content) != path.stem:
            raise UnusableSegment("damaged")
        return decode(content)
    except FileNotFoundError:  # by a run that began since the folder was listed
        raise UnusableSegment("removed meanwhile") from None
    except MemoryError:  # Arrow's is also one of Arrow's own exceptions, and no sign of damage
        raise
    except (OSError, pa.ArrowException) as error:
        # A bad sector is the file's own.
        if is_transient(error) and getattr(error, "errno", None) != errno.EIO:
            raise unreadable(error, path) from error
        raise UnusableSegment("damaged") from None


def read_all(
    paths: Sequence[Path], read_one: Callable[[Path], T], where: Path, consequence: str
) -> dict[Path, T]:
    """Read every segment that can be used; one line in the log says how many cannot, and why."""
    found, refused = dict[Path, T](), Counter[str]()
    for path in paths:
        try:
            found[path] = read_one(path)
        except UnusableSegment as refusal:
            refused[str(refusal)] += 1
    if refused:
        reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(refused.items()))
        _log.warning("%s of %s segments in %s are not used, so %s: %s", refused.total(), len(paths), where,
                     consequence, reasons)  # fmt: skip
    return found


def _name(content: pa.Buffer) -> str:
    return sha256_hex(memoryview(content))[:32]
