"""What is known of files' hashes may be written by several processes at once: no lock is held for it."""

from __future__ import annotations

import hashlib
import logging
from pathlib import Path

import pytest

from noctule.artifacts.cache.source_hashes import SourceHashes
from tests.forked import context

_FILES, _TIMES = 60, 25


def _key(number: int) -> bytes:
    return hashlib.sha256(f"key {number}".encode()).digest()[:16]


def _digest(number: int) -> str:
    return hashlib.sha256(f"file {number}".encode()).hexdigest()


def _require_right(known: SourceHashes, numbers: list[int]) -> list[int]:
    """Return the files that are not known; what is known is right."""
    found = known.known([_key(each) for each in numbers])
    assert all(digest in (None, _digest(each)) for each, digest in zip(numbers, found, strict=True))
    return [each for each, digest in zip(numbers, found, strict=True) if digest is None]


def look_at_files(store: Path, first: int) -> None:
    """Look up, add and forget hashes as runs do; others know a part of these files, and some more."""
    numbers = list(range(first, first + _FILES))
    for time in range(_TIMES):
        known = SourceHashes(store)
        unknown = _require_right(known, numbers)
        wanted = unknown or numbers[time % _FILES :][:5]  # what is known, once more, as with --from hash
        known.add([_key(each) for each in wanted], [_digest(each) for each in wanted])
        assert not _require_right(known, numbers)
        known.forget_all_but([_key(each) for each in numbers])


def test_processes_that_write_at_once_lose_no_more_than_what_they_know(tmp_path: Path) -> None:
    processes = [context.Process(target=look_at_files, args=(tmp_path, first)) for first in (0, 20, 40)]
    for each in processes:
        each.start()
    for each in processes:
        each.join(300)
    assert [each.exitcode for each in processes] == [0, 0, 0]
    _require_right(SourceHashes(tmp_path), list(range(100)))


def test_a_segment_that_another_run_removes_is_not_called_damaged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    SourceHashes(tmp_path).add([_key(1)], [_digest(1)])
    [segment] = (tmp_path / "source-hashes").iterdir()
    listed = [segment, segment.with_stem("0")]
    monkeypatch.setattr("noctule.artifacts.disk.folders.entries", lambda *_: listed)
    with caplog.at_level(logging.WARNING, "noctule"):
        assert SourceHashes(tmp_path).known([_key(1)]) == [_digest(1)]
    assert "1 removed meanwhile" in caplog.text and "damaged" not in caplog.text
