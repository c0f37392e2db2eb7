"""Each call to the disk fails in turn, until a publish makes it: no failure harms the current snapshot."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from noctule.artifacts.disk.system_calls import Disk
from noctule.artifacts.store.check import check_deep
from noctule.artifacts.store.store import Store
from noctule.pipeline.errors import WriteFailed
from noctule.pipeline.model import SnapshotId
from tests.crash.failing_disk import FailingDisk
from tests.crash.power_cut import using
from tests.repetitions import ALL
from tests.snapshot_builder import build_tiny_snapshot, publish_tiny_snapshot


def _failures(
    store: Store, code: int, for_ever: bool
) -> Iterator[tuple[FailingDisk, WriteFailed | SnapshotId]]:
    """Yield each disk, and the error of a publish on it or what it says that it published.

    Each call fails with one of two errors; with ``make torture``, with each.
    """
    for nth in range(1 if ALL or for_ever else 2, 2000, 1 if ALL else 2):
        disk = FailingDisk(nth, code, for_ever)
        with using(disk):
            try:
                ended: WriteFailed | SnapshotId = publish_tiny_snapshot(store, edition=nth).snapshot_id
            except WriteFailed as failure:
                ended = failure
        yield disk, ended
        if not disk.refused:
            return
    raise AssertionError("the publish never got through")


@pytest.mark.parametrize(
    ("code", "for_ever"),
    [(errno.EIO, False), (errno.ENOSPC, True), (errno.EDQUOT, True), (errno.EROFS, True)][: 4 if ALL else 2],
)
def test_whatever_call_fails_the_current_snapshot_is_whole(code: int, for_ever: bool, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    old = publish_tiny_snapshot(store, 0).snapshot_id
    attempts = 0
    for disk, ended in _failures(store, code, for_ever):
        attempts += 1
        error = ended if isinstance(ended, WriteFailed) else None
        if error is not None:
            assert os.strerror(code) in error.what
            assert errno.errorcode[code] in error.what
            assert str(store.root) in error.where
            assert error.hint
        now = store.current()
        with store.open() as snapshot:
            assert snapshot.id == now
        assert error is not None or now == ended, f"call {disk.nth} ({disk.refused[:1]}) failed in silence"
        if error is not None and "is current" not in error.what:
            assert now == old, f"call {disk.nth} ({disk.refused[0]}) failed, and the new snapshot is current"
        assert now is not None
        old = now
        with store.lock("the next run"):
            pass
        assert not list(store.root.rglob(".*")), "litter was not swept"
    assert attempts > (60 if ALL else 30)
    check_deep(store.path_of(old), old)


def test_staged_files_are_removed_at_once_when_the_disk_is_full(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    with store.lock("test"):
        staging = store.stage()
        manifest = build_tiny_snapshot(staging.path)
        with using(FailingDisk(5, errno.ENOSPC, True)), pytest.raises(WriteFailed, match="No space left"):
            store.publish(staging, manifest)
        assert not staging.path.exists()


def test_a_full_disk_can_still_be_pruned(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    ids = [publish_tiny_snapshot(store, edition).snapshot_id for edition in range(4)]
    with using(FullDisk()):
        assert store.prune(0) == (ids[1], ids[0])
    with store.open() as snapshot:
        assert snapshot.id == ids[-1]


class FullDisk(Disk):
    """Takes no more bytes."""

    def write(self, descriptor: int, content: bytes | memoryview) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
