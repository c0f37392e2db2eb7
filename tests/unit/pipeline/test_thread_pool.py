"""Pools of threads on a machine that starts no more."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from noctule.artifacts.store.snapshot import hash_files
from noctule.pipeline.errors import OutOfResources
from noctule.pipeline.thread_pool import ThreadPool


def _starts(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """The machine starts so many threads, and no more."""
    start, left = threading.Thread.start, [most]

    def refuse(thread: threading.Thread) -> None:
        if not left[0]:
            raise RuntimeError("can't start new thread")
        left[0] -= 1
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)


def test_one_thread_does_what_eight_would(monkeypatch: pytest.MonkeyPatch) -> None:
    _starts(monkeypatch, 1)
    with ThreadPool(8) as pool:
        assert list(pool.map(abs, range(-40, 0))) == list(range(40, 0, -1))
        assert len(pool._threads) == 1


def test_without_any_thread_the_work_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    _starts(monkeypatch, 0)
    with ThreadPool(8) as pool, pytest.raises(RuntimeError, match="new thread"):
        pool.submit(abs, 1)


def test_files_are_hashed_with_the_threads_that_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [tmp_path / str(at) for at in range(20)]
    for path in paths:
        path.write_text(path.name)
    expected = hash_files(paths)
    with monkeypatch.context() as patched:
        _starts(patched, 1)
        assert hash_files(paths) == expected
    _starts(monkeypatch, 0)
    with pytest.raises(OutOfResources):
        hash_files(paths)
