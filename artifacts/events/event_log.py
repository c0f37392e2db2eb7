"""The record of searches: one file a day of lines in JSON, added to by any number of processes.

A line has no address and no clock of the client. Whole days are deleted when they are too old.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from ...pipeline.errors import ArtifactError, WriteFailed
from ...pipeline.settings.serve import EventSettings
from ..disk import durable
from ..disk.layout import EVENTS

_FILE = re.compile(r"events-([0-9]{4}-[0-9]{2}-[0-9]{2})\.jsonl")
_MAX_LINE_BYTES = 200_000
# No text that the service records is longer.
_MAX_TEXT = 1_000
_OWNER_ONLY = 0o700
_HALF = re.compile("[\ud800-\udfff]")
KINDS = ("search", "zero", "click")


def now() -> datetime:
    """Return the time in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Event:
    """A search with ``hits`` (``shown`` is their number), one without (``zero``), or the ``click`` on a hit.

    A search that is not ``sure`` has hits that are hardly what was asked for.

    ``search`` is the search's number within its session. Without the text of the query, ``hits`` is empty
    too: who knows the hits can try queries until one has them.
    """

    at: datetime
    kind: str
    session: str
    search: int
    query: str = ""
    hits: tuple[str, ...] = ()
    shown: int = 0
    hit: str = ""
    rank: int = 0
    snapshot: str = ""
    sure: bool = True


@dataclass(frozen=True, slots=True)
class RecordedEvents:
    """The events of a folder in the order in which they were recorded, and the lines that are none."""

    events: tuple[Event, ...]
    days: tuple[date, ...] = ()
    unreadable: int = 0


class EventLog:
    """Records events in a folder as the settings allow, and deletes those of days that are long over."""

    def __init__(self, folder: Path, settings: EventSettings, clock: Callable[[], datetime] = now) -> None:
        self.folder, self._settings, self._clock = folder, settings, clock

    def begin(self) -> None:
        """Make the folder, which others may not look into; raise ``WriteFailed``."""
        if not durable.is_directory(self.folder):
            durable.make_directory(self.folder)
            with durable.refusals(self.folder, "close to others"):
                durable.disk.chmod(self.folder, _OWNER_ONLY)
        self.delete_old()

    def record(self, events: Sequence[Mapping[str, Any]]) -> bool:
        """Record events with the time; return whether there was room left today. Raise ``WriteFailed``."""
        at = self._clock()
        stamp = at.strftime("%Y-%m-%dT%H:%M:%SZ")
        allowed = [{"at": stamp, **self._allowed(each)} for each in events]
        lines = "".join(json.dumps(each, separators=(",", ":")) + "\n" for each in allowed).encode()
        path = self.folder / f"events-{at.date().isoformat()}.jsonl"
        try:
            return durable.append(path, lines, self._settings.max_day_bytes)
        except WriteFailed:
            if self.folder.is_dir():
                raise
            self.begin()  # the folder was removed while the service ran
            return durable.append(path, lines, self._settings.max_day_bytes)

    def _allowed(self, event: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what may be kept; hits go with the query, which searching for many would find again."""
        if self._settings.queries and event.get("query"):
            return event
        return {name: value for name, value in event.items() if name not in ("query", "hits")}

    def delete_old(self) -> None:
        """Delete the files of days before the last ones; raise ``WriteFailed``."""
        first = self._clock().date() - timedelta(days=self._settings.days)
        for day, path in _files(self.folder):
            if day <= first:
                durable.remove_file(path)


def event_log(settings: EventSettings, store: Path) -> EventLog:
    """Return the record that the settings ask for, ready to be written; raise ``WriteFailed``."""
    log = EventLog(events_folder(settings, store), settings)
    log.begin()
    return log


def events_folder(settings: EventSettings, store: Path) -> Path:
    """Return the folder of events: the one that is named, else one in the store."""
    return Path(settings.folder).expanduser() if settings.folder else store / EVENTS


def read_events(folder: Path, first: date | None = None) -> RecordedEvents:
    """Read the events since a day; raise ``ArtifactError`` for a file that cannot be read.

    Lines that are no events are counted: one that was torn by a crash, say.
    """
    events: list[Event] = []
    days, unreadable = [], 0
    for day, path in _files(folder):
        if first is not None and day < first:
            continue
        days.append(day)
        for line in _lines(path):
            event = _event(line)
            if event is None:
                unreadable += 1
            else:
                events.append(event)
    return RecordedEvents(tuple(events), tuple(days), unreadable)


def _files(folder: Path) -> list[tuple[date, Path]]:
    """Return the files of days, oldest first; others in the folder are nobody's business."""
    found = []
    for path in folder.glob("events-*.jsonl"):
        named = _FILE.fullmatch(path.name)
        try:
            day = date.fromisoformat(named[1]) if named else None
        except ValueError:
            continue
        if day is not None and path.is_file():
            found.append((day, path))
    return sorted(found)


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            while line := file.readline(_MAX_LINE_BYTES):
                if line.strip():
                    yield line
    except FileNotFoundError:
        return  # its day has just ended
    except OSError as error:
        hint = "Look at the disk, or remove the file."
        raise ArtifactError(f"cannot be read: {error.strerror}", where=str(path), hint=hint) from None


def _event(line: bytes) -> Event | None:
    """Return the event of a line; ``None`` if it is none."""
    try:
        given = json.loads(line)
        at = datetime.strptime(given["at"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
        kind, session, search = given["kind"], given["session"], given["search"]
        texts = tuple(given.get(name, "") for name in ("query", "hit", "snapshot"))
        hits, rank = given.get("hits", ()), given.get("rank", 0)
        shown = given.get("shown", len(hits))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    numbers = (search, rank, shown)
    is_one = (
        kind in KINDS
        and isinstance(hits, list | tuple)
        and all(_is_text(each) for each in (session, *texts, *hits))
        and all(type(each) is int and 0 <= each <= 1_000_000 for each in numbers)
    )
    if not is_one:
        return None
    query, hit, snapshot = texts
    sure = given.get("sure") is not False
    return Event(at, kind, session, search, query, tuple(hits), shown, hit, rank, snapshot, sure)


def _is_text(value: object) -> bool:
    """Return whether a value is text that can be written again: half a surrogate pair cannot."""
    return isinstance(value, str) and len(value) <= _MAX_TEXT and _HALF.search(value) is None
