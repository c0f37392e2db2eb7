"""Nightly reports: what changed with a snapshot, in a file beside it of the same name.

They contain times, so they cannot be part of the snapshot: its name may not differ from night to night.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...pipeline.identity import canonical_json
from ...pipeline.model import SnapshotId
from ..disk import durable, folders
from ..disk.layout import REPORTS, SNAPSHOTS


def write_night(store: Path, snapshot: SnapshotId, report: Mapping[str, Any]) -> Path:
    """Write the report to a file and remove those of missing snapshots; raises ``WriteFailed``."""
    folder = store / REPORTS
    durable.make_directory(folder)
    path = folder / f"{snapshot}.json"
    durable.replace_file(path, canonical_json(report).encode() + b"\n")
    for other in folders.entries(folder, "*.json"):
        if other != path and not durable.is_directory(store / SNAPSHOTS / other.stem):
            durable.remove_file(other)
    return path


def nights(store: Path) -> list[dict[str, Any]]:
    """Return the reports of all existing snapshots, in no particular order."""
    names = (path.stem for path in folders.entries(store / REPORTS, "*.json"))
    return [found for name in names if (found := read_night(store, SnapshotId(name))) is not None]


def read_night(store: Path, snapshot: SnapshotId) -> dict[str, Any] | None:
    """Return the report of the night that made the snapshot; ``None`` if no readable one exists."""
    try:
        found = json.loads((store / REPORTS / f"{snapshot}.json").read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
