"""The few bytes that say which snapshot is current, since which generation, and which was before it."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass

from ...pipeline.errors import DamagedSnapshot
from ...pipeline.identity import canonical_json
from ...pipeline.model import SnapshotId
from ..disk.layout import SNAPSHOT_ID

MAX_POINTER_BYTES = 4096
_MAX_GENERATION = 1 << 53
_FIELDS = {"id", "generation", "previous"}


@dataclass(frozen=True, slots=True)
class Pointer:
    """The content of ``CURRENT``; ``generation`` rises with each change, whatever the clock does."""

    id: SnapshotId
    generation: int
    previous: SnapshotId | None = None

    def to_bytes(self) -> bytes:
        """Return canonical JSON and a newline."""
        return canonical_json(asdict(self)).encode() + b"\n"

    @staticmethod
    def from_bytes(content: bytes, where: str, hint: str) -> Pointer:
        """Parse a pointer; raises ``DamagedSnapshot`` for anything that ``to_bytes`` cannot have written."""
        with suppress(ValueError, RecursionError):
            value = json.loads(content) if len(content) <= MAX_POINTER_BYTES else None
            if isinstance(value, dict) and set(value) == _FIELDS and _sound(value):
                return Pointer(SnapshotId(value["id"]), value["generation"], value["previous"])
        raise DamagedSnapshot("the file does not name a snapshot", where=where, hint=hint)


def _sound(value: dict[str, object]) -> bool:
    generation, previous = value["generation"], value["previous"]
    return (
        is_snapshot_id(value["id"])
        and type(generation) is int
        and 0 < generation <= _MAX_GENERATION
        and (previous is None or is_snapshot_id(previous))
    )


def is_snapshot_id(value: object) -> bool:
    """Return whether a value is a snapshot's name and nothing else, such as a path."""
    return isinstance(value, str) and SNAPSHOT_ID.fullmatch(value) is not None
