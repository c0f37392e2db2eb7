"""Files exchanged between the driver and its workers: written once, uniquely named, verified by their
hash.
"""

from __future__ import annotations

import io
import time
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pyarrow as pa

from ...artifacts.disk import durable
from ...pipeline.errors import EngineUnavailable
from ...pipeline.identity import sha256_hex

# A file that another machine has just written may take a moment to show on a network file system.
_APPEARS_WITHIN_S = 20.0
_LOOK_AGAIN_S = 0.1


@dataclass(frozen=True, slots=True)
class Receipt:
    """A receipt for a file of the exchange folder: its name and what it must hold."""

    name: str
    sha256: str


def put(folder: Path, content: bytes) -> Receipt:
    """Write the content to a new file in the folder; raise ``WriteFailed``."""
    name = f"{uuid4().hex}.arrow"
    durable.write_file(folder / name, content)
    return Receipt(name, sha256_hex(content))


def take(folder: Path, receipt: Receipt) -> bytes:
    """Return the content that a receipt is for; raise ``EngineUnavailable`` if it is missing or differs."""
    path, deadline = folder / Path(receipt.name).name, time.monotonic() + _APPEARS_WITHIN_S
    while True:
        found = _content(path)
        if found is not None and sha256_hex(found) == receipt.sha256:
            return found
        if time.monotonic() > deadline:
            what = "is not there" if found is None else "differs from what was written"
            raise EngineUnavailable(
                f"a file of the engine {what}",
                where=str(path),
                hint="Driver and workers must access the same folder: set engine.shared to one.",
            )
        time.sleep(_LOOK_AGAIN_S)


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def drop(folder: Path, receipt: Receipt) -> None:
    """Remove a file that is no longer needed."""
    durable.remove_file(folder / Path(receipt.name).name)


def table_bytes(table: pa.Table) -> bytes:
    """Return a table as an Arrow stream."""
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def table_of(content: bytes) -> pa.Table:
    """Return the table that ``table_bytes`` wrote."""
    with pa.ipc.open_stream(pa.BufferReader(content)) as reader:
        return reader.read_all()
