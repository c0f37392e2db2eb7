"""A thread or a mapping that cannot be had ends in an error that says so; nothing else is blamed."""

from __future__ import annotations

import errno
import os
import resource
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import faiss
import pyarrow.parquet as pq
import pytest
import typer

from noctule.artifacts.disk.layout import FAISS_INDEX, TABLES, table_file
from noctule.artifacts.query import open as opened
from noctule.artifacts.query.searcher import Searcher
from noctule.artifacts.store.check import blaming, check_deep
from noctule.artifacts.store.store import Store
from noctule.flows.cli import flags as command_flags
from noctule.pipeline.errors import ArtifactError, DamagedSnapshot, OutOfResources
from tests.snapshot_builder import publish_tiny_snapshot


def _refusing(code: int) -> Callable[..., Any]:
    def refuse(*_: object, **__: object) -> Any:
        raise OSError(code, os.strerror(code))

    return refuse


@pytest.mark.parametrize("code", [errno.ENOMEM, errno.EMFILE, errno.EIO, errno.ESTALE])
def test_a_table_that_cannot_be_read_now_is_not_called_damaged(
    code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path / "store")
    publish_tiny_snapshot(store, 0)
    with store.open() as snapshot:
        monkeypatch.setattr(pq, "ParquetFile", _refusing(code))
        for table in TABLES:
            with pytest.raises(ArtifactError, match=os.strerror(code)) as caught:
                snapshot.table(table)
            assert not isinstance(caught.value, DamagedSnapshot)
            assert caught.value.where == str(snapshot.path / table_file(table))


def test_an_index_without_memory_for_it_is_not_called_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: str) -> Any:
        raise MemoryError("std::bad_alloc")

    store = Store(tmp_path / "store")
    publish_tiny_snapshot(store, 0)
    monkeypatch.setattr(faiss, "read_index", refuse)
    with store.open() as snapshot, pytest.raises(ArtifactError, match="bad_alloc") as caught:
        snapshot.index()
    assert not isinstance(caught.value, DamagedSnapshot)
    assert caught.value.where == str(snapshot.path / FAISS_INDEX)


@contextmanager
def _no_more_files() -> Iterator[None]:
    """Let the system refuse every file that this process, or a library in it, opens: a real refusal."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


_READERS: dict[str, Callable[[Searcher], object]] = {
    "faiss": lambda searcher: searcher.corpus.snapshot.index(),
    "arrow": lambda searcher: searcher.corpus.snapshot.table("links"),
    "sql": lambda searcher: searcher.sql("select count(distinct text) from passages").fetchall(),
    "where": lambda searcher: searcher.search("words", mode="keyword", where="len(title) > 1"),
    "facets": lambda searcher: searcher.facets("tags"),
}


@pytest.mark.parametrize("reader", _READERS)
def test_a_library_that_may_open_no_file_blames_neither_the_snapshot_nor_the_query(
    reader: str, tmp_path: Path
) -> None:
    store, ask = Store(tmp_path / "store"), _READERS[reader]
    publish_tiny_snapshot(store, 0)
    with opened(store) as searcher, opened(store) as other:
        ask(other)  # what is imported on the way needs files too
        with _no_more_files(), pytest.raises((ArtifactError, OutOfResources)) as caught:
            ask(searcher)
        assert os.strerror(errno.EMFILE) in caught.value.what and not isinstance(
            caught.value, DamagedSnapshot
        )
        assert str(store.root) in caught.value.where and "open files" in caught.value.hint
        ask(searcher)


@pytest.mark.parametrize("word", ["Stale file handle", "Input/output error", "Connection timed out"])
def test_a_stale_handle_in_a_library_is_told_by_the_words_of_the_system(
    word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FAISS and DuckDB report no number; this is what they say of a read that the kernel refused."""

    def refuse(_: str) -> Any:
        raise RuntimeError(f"Error: 'ret == (1)' failed: read error in x: 0 != 1 ({word})")

    store = Store(tmp_path / "store")
    publish_tiny_snapshot(store, 0)
    with store.open() as snapshot:
        with monkeypatch.context() as patched, pytest.raises(ArtifactError, match=word) as caught:
            patched.setattr(faiss, "read_index", refuse)
            snapshot.index()
        assert not isinstance(caught.value, DamagedSnapshot) and "rollback" not in caught.value.hint
        with pytest.raises(ArtifactError, match=word), blaming(snapshot):
            raise duckdb.IOException(f'IO Error: Could not read from file "terms.parquet": {word}')


class _Starts:
    """Threads that start but for the n-th."""

    def __init__(self, nth: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.nth, self.count, self._start = nth, 0, threading.Thread.start

        def start(thread: threading.Thread) -> None:  # a bound method would not be told of the thread
            self.start(thread)

        monkeypatch.setattr(threading.Thread, "start", start)

    def start(self, thread: threading.Thread) -> None:
        self.count += 1
        if self.count == self.nth:
            raise RuntimeError("can't start new thread")
        self._start(thread)


def test_whichever_thread_cannot_be_started_a_command_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each start of a thread fails in turn while a snapshot is verified, until none is left to fail.

    Without the first thread of a pool nothing can be verified; without others it takes longer.
    """
    store, refused, ended = Store(tmp_path / "store"), 0, 0
    publish_tiny_snapshot(store, 0)
    for nth in range(1, 200):
        with monkeypatch.context() as patched:
            starts = _Starts(nth, patched)
            code = _exit_code(lambda: _check(store))
        if starts.count < nth:
            break
        refused += 1
        said = capsys.readouterr().err
        assert code in (0, 2) and "a bug" not in said, said
        if code:
            ended += 1
            assert "can't start new thread" in said and "limits on" in said
    assert refused > ended > 0


def test_a_snapshot_that_no_thread_can_verify_is_an_error_of_the_house_and_not_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path / "store")
    publish_tiny_snapshot(store, 0)
    with monkeypatch.context() as patched:
        _Starts(1, patched)
        with pytest.raises(OutOfResources, match="can't start new thread") as caught, store.open():
            pass
    assert "limits on processes" in caught.value.hint
    with store.open() as snapshot:
        assert snapshot.manifest


def _check(store: Store) -> None:
    with store.open() as snapshot:
        check_deep(snapshot.path, snapshot.id)


def _exit_code(command: Callable[[], None]) -> int:
    try:
        command_flags._guarded(command_flags.Flags(quiet=True), command)
    except typer.Exit as stop:
        return int(stop.exit_code)
    return 0
