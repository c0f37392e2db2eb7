"""Faults of stores and their readers: rows 47, 49 and 54 of docs/store/fault-matrix.md, where no other test
proves them.
"""

from __future__ import annotations

import errno
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from noctule.artifacts.disk.layout import SNAPSHOTS
from noctule.artifacts.query.searcher import Searcher
from noctule.artifacts.store.check import check_deep
from noctule.artifacts.store.store import Store
from noctule.pipeline.errors import ArtifactError, NoctuleError, WriteFailed
from tests.command_line import REPOSITORY
from tests.crash.failing_disk import FailingDisk
from tests.crash.power_cut import using
from tests.library_builder import searcher_of
from tests.snapshot_builder import build_tiny_snapshot, publish_tiny_snapshot


def test_a_store_on_a_read_only_disk_is_searched_and_refuses_a_run_at_once(library: Store) -> None:
    with using(FailingDisk(1, errno.EROFS, for_ever=True)):
        with searcher_of(Store(library.root)) as searcher:
            assert searcher.search("boats").hits
        with pytest.raises(WriteFailed, match="Read-only file system") as caught, library.lock("index"):
            pytest.fail("the lock of a store that cannot be written was given")
    assert "writable" in caught.value.hint


def test_a_query_ends_on_the_snapshot_it_began_with(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    old = publish_tiny_snapshot(store, 0).snapshot_id
    with store.open() as reading, reading.connect() as connection:
        before = connection.execute("select text from documents order by doc_id").fetchall()
        for edition in range(1, 5):
            publish_tiny_snapshot(store, edition)
            store.prune(0)
        assert old in {info.snapshot_id for info in store.snapshots()}
        assert connection.execute("select text from documents order by doc_id").fetchall() == before
        check_deep(reading.path, old)
    store.prune(0)
    assert old not in {info.snapshot_id for info in store.snapshots()}


@pytest.mark.parametrize("asked_before", [False, True])
def test_a_snapshot_that_another_host_removes_gives_an_error_or_the_same_answer(
    asked_before: bool, library: Store, tmp_path: Path
) -> None:
    """Where locks stay on one host, the other's ``prune`` sees no pin of this reader."""
    asks: dict[str, Callable[[Searcher], object]] = {
        "words": lambda s: [hit.passage_id for hit in s.search("boats", 5).hits],
        "a condition": lambda s: [hit.passage_id for hit in s.search("boats", 5, filters=["tag:sea"]).hits],
        "likeness": lambda s: [hit.doc_id for hit in s.similar("notes:boats.md").hits],
        "facets": lambda s: s.facets("collection"),
        "SQL": lambda s: s.sql("select count(*) from passages").fetchall(),
    }
    with searcher_of(library, caches={"answers": 0}) as searcher:
        right = {name: ask(searcher) for name, ask in asks.items()}
    store = Store(shutil.copytree(library.root, tmp_path / "store"))
    with searcher_of(store, caches={"answers": 0}) as searcher:
        for ask in asks.values() if asked_before else ():
            ask(searcher)
        shutil.rmtree(store.root / SNAPSHOTS)
        for name, ask in asks.items():
            try:
                found = ask(searcher)
            except NoctuleError:
                continue
            assert found == right[name], name
    with pytest.raises(ArtifactError):
        store.open()


_FORKS = """
import os, sys
from pathlib import Path
from noctule.artifacts.store.store import Store

store = Store(Path(sys.argv[1]))
opened = store.open()
def count(snapshot):
    with snapshot.connect() as connection:
        return connection.execute("select count(*) from passages").fetchone()[0]
children = []
for _ in range(3):
    child = os.fork()
    if child == 0:
        # The parent's snapshot, verified and pinned, and one of its own: each with a connection of its own.
        with store.open() as own:
            rows = own.table("passages", ["tokens"]).num_rows
            os._exit(0 if count(opened) == count(own) == rows > 0 else 1)
    children.append(child)
codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
print(codes, count(opened) > 0)
"""


def test_processes_that_were_forked_read_a_snapshot_with_a_connection_each(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    publish_tiny_snapshot(store)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _FORKS, str(store.root)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.strip() == "[0, 0, 0] True", done.stderr


def test_a_snapshot_that_lost_a_row_of_another_table_is_not_published(tmp_path: Path) -> None:
    from noctule.artifacts.disk.layout import table_file
    from noctule.artifacts.tables.parquet import write_table
    from noctule.pipeline.errors import DamagedSnapshot
    from tests.snapshot_builder import manifest_of, tiny_tables

    store = Store(tmp_path / "store")
    before = publish_tiny_snapshot(store, 0).snapshot_id
    with store.lock("test"):
        staging = store.stage()
        build_tiny_snapshot(staging.path, 1)
        tables = tiny_tables(1)
        tables["documents"] = tables["documents"].slice(1)
        (staging.path / table_file("documents")).unlink()
        write_table(tables["documents"], staging.path / table_file("documents"))
        with pytest.raises(DamagedSnapshot, match="failed its own check"):
            store.publish(staging, manifest_of(staging.path, tables, 1))
    assert store.current() == before
