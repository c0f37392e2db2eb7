"""Locks: who has one, who may read meanwhile, and what a removed lock file is worth."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from noctule.artifacts.disk import locks
from noctule.artifacts.disk.system_calls import Disk
from noctule.pipeline.errors import StoreBusy
from tests.crash.power_cut import using


def test_the_lock_says_who_holds_it_and_ends_with_the_block(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with locks.exclusive(path, "nightly"):
        with pytest.raises(StoreBusy) as caught, locks.exclusive(path):
            pass
        assert f"process {os.getpid()}" in caught.value.what
        assert "nightly" in caught.value.what
    with locks.exclusive(path):
        pass
    assert path.read_bytes() == b""


@pytest.mark.parametrize("note", [b"", b"[", b"[]", b"{}", b"\xff", b"[" * 5000])
def test_a_lock_whose_note_is_garbage_still_holds(note: bytes, tmp_path: Path) -> None:
    path = tmp_path / "lock"
    lock = locks.try_exclusive(path)
    assert lock is not None
    path.write_bytes(note)
    with pytest.raises(StoreBusy, match="another run holds the lock"), locks.exclusive(path):
        pass
    lock.close()


def test_many_may_read_and_none_may_write_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "pin"
    first, second = locks.shared(path), locks.shared(path)
    assert first is not None
    assert second is not None
    first.close()
    assert locks.try_exclusive(path) is None
    second.close()
    lock = locks.try_exclusive(path)
    assert lock is not None
    with pytest.raises(StoreBusy):
        locks.shared(path)
    lock.close()


def test_without_a_place_for_lock_files_a_reader_goes_without(tmp_path: Path) -> None:
    assert locks.shared(tmp_path / "no such folder" / "pin") is None


class _RemovesAfterOpen(Disk):
    """Another process removes the lock file just after it was opened, once."""

    times = 1

    def open(self, path: Path, flags: int) -> int:
        descriptor = super().open(path, flags)
        if self.times:
            self.times = 0
            path.unlink()
        return descriptor


def test_a_lock_on_a_removed_file_is_taken_again(tmp_path: Path) -> None:
    path = tmp_path / "pin"
    with using(_RemovesAfterOpen()):
        lock = locks.shared(path)
    assert lock is not None
    assert locks.try_exclusive(path) is None
    lock.close()
