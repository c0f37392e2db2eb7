"""Run records: what each run did and how long it took.

They lie beside the snapshots, not in them: times differ from night to night, and a snapshot's name may not.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ...pipeline.identity import canonical_json
from ..disk import durable
from ..disk.layout import RUNS

_KEPT = 100


def write_run(store: Path, record: Mapping[str, Any]) -> Path:
    """Write the record to a file named by the UTC time, keeping the latest 100; raises ``WriteFailed``."""
    folder = store / RUNS
    durable.make_directory(folder)
    path = folder / f"{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}.json"
    durable.replace_file(path, canonical_json(record).encode() + b"\n")
    # A date in the future comes from a clock that was wrong: those go first.
    for old in sorted(folder.glob("*.json"), key=lambda each: (each.name <= path.name, each.name))[:-_KEPT]:
        durable.remove_file(old)
    return path


def read_runs(store: Path) -> list[dict[str, Any]]:
    """Return every readable record, the latest first."""
    found = []
    for path in sorted((store / RUNS).glob("*.json"), reverse=True):
        with suppress(OSError, ValueError):
            found.append(json.loads(path.read_bytes()) | {"finished": path.stem})
    return found
