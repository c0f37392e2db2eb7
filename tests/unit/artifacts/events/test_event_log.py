"""The record of searches: whole lines, whatever writes beside it or fails; only what the settings allow."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from noctule.artifacts.disk import durable
from noctule.artifacts.disk.system_calls import Disk
from noctule.artifacts.events.event_log import EventLog, event_log, read_events
from noctule.pipeline.errors import WriteFailed
from noctule.pipeline.settings.serve import EventSettings

DAY = datetime(2026, 3, 14, 23, 59, 30, tzinfo=UTC)
SEARCH = {
    "kind": "search", "session": "0" * 16, "search": 1, "query": "undo \u202ecommit",
    "hits": ["a.html", "b.html"], "shown": 2,
}  # fmt: skip
CLICK = {"kind": "click", "session": "0" * 16, "search": 1, "hit": "b.html", "rank": 2}


def _log(folder: Path, at: datetime = DAY, **given: Any) -> EventLog:
    log = EventLog(folder, EventSettings(**{"enabled": True, "queries": True, **given}), lambda: at)
    log.begin()
    return log


def test_what_was_recorded_is_read_in_its_order(tmp_path: Path) -> None:
    log = _log(tmp_path / "events")
    assert log.record([SEARCH, CLICK])
    found = read_events(tmp_path / "events")
    first, second = found.events
    assert (first.query, first.hits, first.shown, first.at) == (SEARCH["query"], ("a.html", "b.html"), 2, DAY)
    assert (second.kind, second.hit, second.rank) == ("click", "b.html", 2)
    (file,) = (tmp_path / "events").iterdir()
    assert file.name == "events-2026-03-14.jsonl"
    assert file.read_bytes().isascii(), "what turns the direction of text is written as numbers"
    assert (tmp_path / "events").stat().st_mode & 0o777 == 0o700


def test_without_queries_nothing_is_kept_that_tells_one(tmp_path: Path) -> None:
    _log(tmp_path, queries=False).record([SEARCH, CLICK])
    kept = [json.loads(line) for line in next(tmp_path.iterdir()).read_text().splitlines()]
    assert "hits" not in kept[0] and "query" not in kept[0]
    assert kept[0]["shown"] == 2
    # Nor are hits kept of a page that does not send what was asked.
    _log(tmp_path / "other").record([{**SEARCH, "query": ""}])
    assert read_events(tmp_path / "other").events[0].hits == ()


def test_days_that_are_over_for_long_enough_are_deleted(tmp_path: Path) -> None:
    for ago in range(5):
        _log(tmp_path, DAY - timedelta(days=ago), days=10).record([CLICK])
    (tmp_path / "events-2026-99-99.jsonl").touch()
    (tmp_path / "notes.txt").touch()
    (tmp_path / "events-2031-01-01.jsonl").touch()  # of a clock that was wrong
    _log(tmp_path, days=2)
    kept = sorted(path.name for path in tmp_path.iterdir())
    assert kept == [
        "events-2026-03-13.jsonl", "events-2026-03-14.jsonl", "events-2026-99-99.jsonl",
        "events-2031-01-01.jsonl", "notes.txt",
    ]  # fmt: skip
    assert read_events(tmp_path, date(2026, 3, 14)).days == (date(2026, 3, 14), date(2031, 1, 1))


def test_a_day_takes_only_so_much(tmp_path: Path) -> None:
    log = _log(tmp_path, max_day_bytes=1_000)
    taken = [log.record([CLICK]) for _ in range(20)]
    assert taken[0] and not taken[-1]
    assert next(tmp_path.iterdir()).stat().st_size <= 1_000
    assert len(read_events(tmp_path).events) == sum(taken)


class _Filling(Disk):
    """Takes the first bytes of a write, and then no more."""

    def write(self, descriptor: int, content: bytes | memoryview) -> int:
        if len(content) > 20:
            return super().write(descriptor, content[:20])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_leaves_whole_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = _log(tmp_path)
    log.record([SEARCH])
    with monkeypatch.context() as patch:
        patch.setattr(durable, "disk", _Filling())
        with pytest.raises(WriteFailed, match="No space"):
            log.record([CLICK])
    log.record([CLICK])
    found = read_events(tmp_path)
    assert [each.kind for each in found.events] == ["search", "click"]
    assert found.unreadable == 0


def test_a_folder_that_is_removed_is_made_again(tmp_path: Path) -> None:
    log = event_log(EventSettings(), tmp_path)
    (tmp_path / "events").rmdir()
    assert log.record([CLICK])


@pytest.mark.parametrize(
    "line",
    [
        b'{"at":"2026-03-14T23:59:30Z","kind":"cli', b"[]", b"null", b"\xff\xfe", b"\0\0\0\0", b'"x"',
        b'{"at":"never","kind":"zero","session":"s","search":1}',
        b'{"at":"2026-03-14T23:59:30Z","kind":"buy","session":"s","search":1}',
        b'{"at":"2026-03-14T23:59:30Z","kind":"zero","session":7,"search":1}',
        b'{"at":"2026-03-14T23:59:30Z","kind":"zero","session":"s","search":true}',
        b'{"at":"2026-03-14T23:59:30Z","kind":"search","session":"s","search":1,"hits":"ab"}',
        b'{"at":"2026-03-14T23:59:30Z","kind":"search","session":"s","search":1,"hits":[1]}',
        b'{"at":"2026-03-14T23:59:30Z","kind":"click","session":"s","search":1,"rank":-1}',
        b"[" * 100_000, b"x" * 300_000,
    ],
)  # fmt: skip
def test_a_line_that_is_no_event_is_counted_and_costs_no_other(tmp_path: Path, line: bytes) -> None:
    log = _log(tmp_path)
    log.record([SEARCH])
    with next(tmp_path.iterdir()).open("ab") as file:
        file.write(line)  # torn: without an end
    log.record([CLICK])
    found = read_events(tmp_path)
    assert [each.kind for each in found.events] == ["search", "click"]
    assert found.unreadable >= 1


def _add_many(folder: Path, session: str) -> None:
    log = _log(folder)
    for number in range(200):
        log.record([{**SEARCH, "session": session, "search": number, "query": session * 50}])


def test_two_processes_add_at_once_and_lose_nothing(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_add_many, args=(tmp_path, name * 16)) for name in "ab"]
    for each in writers:
        each.start()
    for each in writers:
        each.join()
        assert each.exitcode == 0
    found = read_events(tmp_path)
    assert found.unreadable == 0
    for name in "ab":
        own = [each.search for each in found.events if each.session == name * 16]
        assert own == list(range(200))
