"""Reading dates as people and note-taking tools write them into calendar days."""

from __future__ import annotations

import datetime
import re

_ISO_DAY = re.compile(r"\s*(\d{4}-\d{2}-\d{2})(?!\d)")
_SECONDS = range(10**8, 10**11)
_MILLISECONDS = range(10**11, 10**14)


def day_of(value: object) -> str | None:
    """Return the day as ``YYYY-MM-DD`` in UTC, or none for what is not a date.

    Reads ISO dates and times, and whole numbers as seconds or milliseconds since 1970 (Dendron writes those).
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and value.strip().isdecimal() and len(value) < 20:
        value = int(value)
    if isinstance(value, int):
        return _epoch_day(value)
    return _iso_day(value) if isinstance(value, str) else None


def _epoch_day(value: int) -> str | None:
    seconds = value / 1000 if value in _MILLISECONDS else value if value in _SECONDS else None
    if seconds is None:
        return None
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).date().isoformat()


def _iso_day(value: str) -> str | None:
    try:
        moment = datetime.datetime.fromisoformat(value.strip())
        if moment.tzinfo is not None:
            moment = moment.astimezone(datetime.UTC)
        return moment.date().isoformat()
    except (ValueError, OverflowError):
        pass
    found = _ISO_DAY.match(value)
    try:
        return datetime.date.fromisoformat(found[1]).isoformat() if found else None
    except ValueError:
        return None
