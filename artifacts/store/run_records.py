"""Run records: what each run did and how long it took.

They lie beside the snapshots, not in them: times differ from night to night, and a snapshot's name may not.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ...pipeline.identity import canonical_json
from ..disk import durable, folders
from ..disk.layout import RUNS

_KEPT = 100
_FORMAT = 1
_log = logging.getLogger("noctule")


def write_run(store: Path, record: Mapping[str, Any]) -> Path:
    """Write the record to a file named by the UTC time, keeping the latest 100; raises ``WriteFailed``."""
    folder = store / RUNS
    durable.make_directory(folder)
    path = folder / f"{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}.json"
    named = {"kind": "run", "format": _FORMAT, "finished": path.stem}
    durable.replace_file(path, canonical_json({**record, **named}).encode() + b"\n")
    # A date in the future comes from a clock that was wrong: those go first.
    records = folders.entries(folder, "*.json")
    for old in sorted(records, key=lambda each: (each.name <= path.name, each.name))[:-_KEPT]:
        durable.remove_file(old)
    return path


def read_runs(store: Path) -> list[dict[str, Any]]:
    """Return every readable record, the latest first; a line in the log says how many are not."""
    paths = folders.entries(store / RUNS, "*.json")[::-1]
    read = [_read(path) for path in paths]
    if None in read:
        _log.warning(
            "%s of %s files in %s are not valid run records", read.count(None), len(read), store / RUNS
        )
    return [each for each in read if each is not None]


def _read(path: Path) -> dict[str, Any] | None:
    """Return a record, ``None`` if it is damaged, of another run or of another format.

    One of an older noctule names neither kind nor format, nor when the run ended.
    """
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    expected = {"kind": "run", "format": _FORMAT, "finished": path.stem}
    if not isinstance(found, dict) or {**expected, **found} != {**found, **expected}:
        return None
    return found | {"finished": path.stem}
