"""Reports of nights: what changed with a snapshot, beside it and named as it is.

Times are in them, so they cannot be in the snapshot: its name may not differ from night to night.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...pipeline.identity import canonical_json
from ...pipeline.model import SnapshotId
from . import durable
from .layout import REPORTS, SNAPSHOTS


def write_night(store: Path, snapshot: SnapshotId, report: Mapping[str, Any]) -> Path:
    """The report as a file; those of snapshots that are gone go too. Raises ``WriteFailed``."""
    folder = store / REPORTS
    durable.make_directory(folder)
    path = folder / f"{snapshot}.json"
    durable.replace_file(path, canonical_json(report).encode() + b"\n")
    for other in sorted(folder.glob("*.json")):
        if other != path and not (store / SNAPSHOTS / other.stem).is_dir():
            durable.remove_file(other)
    return path


def nights(store: Path) -> list[dict[str, Any]]:
    """The reports of all snapshots that are there, in no order."""
    names = (path.stem for path in sorted((store / REPORTS).glob("*.json")))
    return [found for name in names if (found := read_night(store, SnapshotId(name))) is not None]


def read_night(store: Path, snapshot: SnapshotId) -> dict[str, Any] | None:
    """The report of the night that made the snapshot; ``None`` where there is none that can be read."""
    try:
        found = json.loads((store / REPORTS / f"{snapshot}.json").read_bytes())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
