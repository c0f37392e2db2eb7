"""Publish, open, roll back, prune: what a run and a reader are promised."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest

from noctule.artifacts.disk.layout import CURRENT, MANIFEST, PINS
from noctule.artifacts.disk.system_calls import Disk
from noctule.artifacts.store.check import check_deep, check_structure
from noctule.artifacts.store.contents import pin_content
from noctule.artifacts.store.store import Store
from noctule.pipeline.errors import (
    ArtifactError,
    DamagedSnapshot,
    NoEarlierSnapshot,
    NoSnapshot,
    StoreBusy,
    WriteFailed,
)
from noctule.pipeline.model import SnapshotId
from tests.crash.power_cut import using
from tests.snapshot_builder import build_tiny_snapshot, publish_tiny_snapshot


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def _publish(store: Store, *editions: int) -> list[SnapshotId]:
    return [publish_tiny_snapshot(store, edition).snapshot_id for edition in editions]


def test_an_empty_store_says_how_to_begin(store: Store) -> None:
    assert store.current() is None
    assert store.generation() == 0
    assert store.snapshots() == ()
    with pytest.raises(NoSnapshot, match="noctule index"):
        store.open()
    assert not store.root.exists(), "reading made something"


def test_what_was_published_is_current(store: Store) -> None:
    published = publish_tiny_snapshot(store)
    assert (published.generation, published.changed) == (1, True)
    assert store.current() == published.snapshot_id
    with store.open() as snapshot:
        assert snapshot.id == published.snapshot_id == snapshot.path.name
        assert snapshot.manifest.counts["documents"] == 3
    check_structure(snapshot.path, snapshot.id)


def test_the_same_content_again_changes_nothing(store: Store) -> None:
    publish_tiny_snapshot(store)
    before = (store.root / CURRENT).read_bytes()
    published = publish_tiny_snapshot(store)
    assert (published.generation, published.changed) == (1, False)
    assert (store.root / CURRENT).read_bytes() == before
    assert len(store.snapshots()) == 1
    assert not list(store.root.rglob(".*"))


def test_content_that_comes_back_is_current_again(store: Store) -> None:
    first, second = _publish(store, 0, 1)
    again = publish_tiny_snapshot(store, 0)
    assert (again.snapshot_id, again.generation, again.changed) == (first, 3, True)
    assert [info.snapshot_id for info in store.snapshots()] == [first, second]


def test_published_files_may_not_be_written(store: Store) -> None:
    _publish(store, 0)
    with store.open() as snapshot:
        assert all(path.stat().st_mode & 0o222 == 0 for path in snapshot.path.iterdir())


def test_two_stores_of_the_same_content_are_the_same_bytes(tmp_path: Path) -> None:
    stores = [Store(tmp_path / name) for name in ("one", "another")]
    trees = []
    for store in stores:
        _publish(store, 0)
        with store.open() as snapshot:
            trees.append({path.name: path.read_bytes() for path in snapshot.path.iterdir()})
    assert trees[0] == trees[1]


def test_writing_needs_the_lock(store: Store) -> None:
    with pytest.raises(RuntimeError, match="lock"):
        store.stage()


def test_a_second_run_in_the_same_process_is_refused(store: Store) -> None:
    with store.lock("one"), pytest.raises(StoreBusy), Store(store.root).lock("two"):
        pass


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"null",
        b"7",
        b'{"id": "x"}',
        b'{"generation":1,"id":"../../x","previous":null}',
        b'{"generation":1,"id":"%s/../../x","previous":null}' % (b"0" * 20),
        b'{"generation":true,"id":"%s","previous":null}' % (b"0" * 20),
        b'{"generation":0,"id":"%s","previous":null}' % (b"0" * 20),
        b'{"generation":1,"id":"%s","previous":3}' % (b"0" * 20),
        b'{"generation":1,"id":["%s"],"previous":null}' % (b"0" * 20),
        b'{"generation":1,"id":"%s","more":1,"previous":null}' % (b"0" * 20),
        b"[" * 4000,
        b"\0" * 80,
        b" " * 10_000,
        b"\xff\xfe",
    ],
)
def test_a_hostile_pointer_is_refused_and_a_rollback_mends_it(content: bytes, store: Store) -> None:
    first, second = _publish(store, 0, 1)
    (store.root / CURRENT).write_bytes(content)
    for read in (store.current, store.generation, store.open):
        with pytest.raises(DamagedSnapshot, match="noctule rollback") as caught:
            read()
        assert caught.value.where.endswith(CURRENT)
        assert first in caught.value.hint
        assert second in caught.value.hint
    with pytest.raises(DamagedSnapshot):
        store.prune(1)
    assert store.rollback() == second
    assert store.current() == second
    assert store.generation() == 3


def test_a_publish_mends_a_damaged_pointer_too(store: Store) -> None:
    _publish(store, 0)
    (store.root / CURRENT).write_bytes(b"torn")
    published = publish_tiny_snapshot(store, 0)
    assert published.changed
    assert store.current() == published.snapshot_id


def test_a_pointer_to_nothing_lists_what_is_there(store: Store) -> None:
    first, second = _publish(store, 0, 1)
    store.path_of(second).rename(store.root / "away")
    with pytest.raises(DamagedSnapshot, match=first) as caught:
        store.open()
    assert caught.value.where.endswith(CURRENT)
    assert store.rollback() == first
    assert store.open().id == first


def test_a_lost_pointer_is_found_again_by_a_rollback(store: Store) -> None:
    _, second = _publish(store, 0, 1)
    (store.root / CURRENT).unlink()
    with pytest.raises(NoSnapshot, match="noctule rollback"):
        store.open()
    assert store.rollback() == second


def test_rollback_twice_is_where_it_began(store: Store) -> None:
    first, second = _publish(store, 0, 1)
    assert store.rollback() == first
    assert store.current() == first
    assert store.rollback() == second
    assert store.current() == second
    assert store.generation() == 4


def test_rollback_to_a_named_snapshot(store: Store) -> None:
    first, _, third = _publish(store, 0, 1, 2)
    assert store.rollback(first) == first
    assert store.rollback() == third
    assert store.rollback(third) == third
    assert store.generation() == 5


def test_rollback_with_nothing_before_says_so(store: Store) -> None:
    with pytest.raises(NoSnapshot, match="no other snapshot"):
        store.rollback()
    _publish(store, 0)
    with pytest.raises(NoEarlierSnapshot, match="no other snapshot") as caught:
        store.rollback()
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("name", ["0" * 20, "../../etc", "", "0" * 19, "A" * 20, "0" * 20 + "\n"])
def test_a_name_that_is_no_snapshot_is_refused(name: str, store: Store) -> None:
    (known,) = _publish(store, 0)
    for act in (store.open, store.rollback):
        with pytest.raises(NoSnapshot):
            act(SnapshotId(name))
    assert store.current() == known


def test_rollback_refuses_a_damaged_snapshot_and_names_another(store: Store) -> None:
    first, second, third = _publish(store, 0, 1, 2)
    file = store.path_of(second) / "links.parquet"
    file.chmod(0o644)
    file.write_bytes(b"damaged")
    with pytest.raises(DamagedSnapshot, match=first):
        store.rollback()
    assert store.current() == third
    assert store.rollback(first) == first


def test_publishing_the_content_of_a_damaged_snapshot_mends_it(store: Store) -> None:
    (name,) = _publish(store, 0)
    (store.path_of(name) / "links.parquet").unlink()
    with pytest.raises(DamagedSnapshot):
        store.open()
    assert publish_tiny_snapshot(store, 0).changed is False
    check_deep(store.path_of(name), name)


def test_prune_keeps_current_previous_and_the_latest_others(store: Store) -> None:
    names = _publish(store, 0, 1, 2, 3, 4)
    assert store.prune(1) == (names[1], names[0])
    assert [info.snapshot_id for info in store.snapshots()] == [names[4], names[3], names[2]]
    assert sorted(path.name for path in (store.root / PINS).iterdir()) == sorted(names[2:])
    assert store.prune(1) == ()


def test_prune_spares_what_is_being_read(store: Store) -> None:
    names = _publish(store, 0, 1, 2)
    reader = store.open(names[0])
    assert store.prune(0) == ()
    assert reader.table("documents").num_rows == 3
    reader.close()
    reader.close()
    assert store.prune(0) == (names[0],)
    with pytest.raises(NoSnapshot):
        store.open(names[0])


def test_prune_after_a_rollback_keeps_both_ends_of_it(store: Store) -> None:
    names = _publish(store, 0, 1, 2)
    store.rollback(names[0])
    assert store.prune(0) == (names[1],)
    assert store.rollback() == names[2]


def test_a_snapshot_whose_run_ended_before_it_was_current_is_the_oldest(store: Store) -> None:
    """It would take the place of one that was current: in a prune, and where a rollback goes."""
    first, second = (publish_tiny_snapshot(store, edition).snapshot_id for edition in range(2))
    never = _publish_without_becoming_current(store, 2)
    for later in (0, 1):
        assert [info.snapshot_id for info in store.snapshots()][-1] == never
        assert [info.current for info in store.snapshots()] == [True, *[False] * (2 + later)]
        last = publish_tiny_snapshot(store, 3 + later)
    assert last.generation == 4
    assert store.prune(1) == (first, never)
    assert [info.snapshot_id for info in store.snapshots()][-1] == second


def test_a_rollback_that_is_refused_makes_its_snapshot_no_older(store: Store) -> None:
    ids = [publish_tiny_snapshot(store, edition).snapshot_id for edition in range(4)]
    with using(PointerIsRefused()), pytest.raises(WriteFailed):
        store.rollback(ids[1])
    assert [info.generation for info in store.snapshots()] == [4, 3, 2, 1]
    assert store.rollback(ids[1]) == ids[1]
    assert [info.snapshot_id for info in store.snapshots()] == [ids[1], ids[3], ids[2], ids[0]]


def test_a_damaged_pointer_is_mended_to_what_was_current(store: Store) -> None:
    publish_tiny_snapshot(store, 0)
    second = publish_tiny_snapshot(store, 1).snapshot_id
    _publish_without_becoming_current(store, 2)
    (store.root / CURRENT).write_bytes(b"damaged")
    assert store.rollback() == second


def test_a_pin_that_a_dead_run_did_not_write_is_written_by_the_next(store: Store) -> None:
    publish_tiny_snapshot(store, 0)
    second = publish_tiny_snapshot(store, 1).snapshot_id
    (store.root / PINS / second).write_bytes(pin_content(0))
    assert [info.generation for info in store.snapshots()] == [2, 1]
    publish_tiny_snapshot(store, 2)
    assert [info.generation for info in store.snapshots()] == [3, 2, 1]


def _publish_without_becoming_current(store: Store, edition: int) -> SnapshotId:
    with using(PointerIsRefused()), pytest.raises(WriteFailed):
        publish_tiny_snapshot(store, edition)
    before = {info.snapshot_id for info in store.snapshots() if info.generation}
    [never] = {info.snapshot_id for info in store.snapshots()} - before
    return never


class PointerIsRefused(Disk):
    """Cannot replace ``CURRENT``."""

    def rename(self, source: Path, target: Path) -> None:
        if target.name == CURRENT:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        super().rename(source, target)


def test_keep_must_be_a_number_of_snapshots(store: Store) -> None:
    with pytest.raises(ValueError, match="keep"):
        store.prune(-1)


def test_the_litter_of_a_dead_run_is_swept_by_the_next(store: Store) -> None:
    _publish(store, 0)
    for name in ("snapshots/.staging-dead", "snapshots/.rejected-kept"):
        (store.root / name).mkdir()
        (store.root / name / "file").write_bytes(b"")
    (store.root / ".CURRENT-dead").write_bytes(b"")
    with store.lock("next"):
        left = sorted(path.name for path in store.root.rglob(".*"))
    assert left == [".rejected-kept"]


class _Meanwhile(Store):
    """A store in which another run does something just after the reader has resolved CURRENT."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.meanwhile = lambda: None

    def _open(self, snapshot_id: SnapshotId):  # type: ignore[no-untyped-def]
        act, self.meanwhile = self.meanwhile, lambda: None
        act()
        return super()._open(snapshot_id)


def test_a_reader_that_lost_the_race_with_prune_gets_the_new_snapshot(store: Store) -> None:
    _publish(store, 0)
    reader = _Meanwhile(store.root)
    reader.meanwhile = lambda: (_publish(store, 1, 2), store.prune(0))
    with reader.open() as snapshot:
        assert snapshot.manifest.settings["edition"] == 2


def test_a_reader_does_not_try_a_damaged_snapshot_for_ever(store: Store) -> None:
    (name,) = _publish(store, 0)
    (store.path_of(name) / MANIFEST).unlink()
    done = threading.Event()

    def read() -> None:
        with pytest.raises(DamagedSnapshot, match="missing"):
            store.open()
        done.set()

    threading.Thread(target=read, daemon=True).start()
    assert done.wait(10)


def test_a_store_without_pins_can_be_read_and_rolled_back(store: Store) -> None:
    first, second = _publish(store, 0, 1)
    for path in (store.root / PINS).iterdir():
        path.unlink()
    (store.root / PINS).rmdir()
    assert store.open().id == second
    assert store.rollback() == first
    assert store.generation() == 3


def test_the_pointer_is_a_folder(store: Store) -> None:
    store.root.mkdir()
    (store.root / CURRENT).mkdir()
    with pytest.raises(ArtifactError, match="which snapshot is current"):
        store.open()


def test_a_store_that_cannot_be_made_fails_early(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with (
        pytest.raises(WriteFailed, match="cannot make the directory") as caught,
        Store(tmp_path / "file").lock("x"),
    ):
        pass
    assert caught.value.where == str(tmp_path / "file")


def test_an_error_in_the_block_frees_the_lock_and_keeps_the_current_snapshot(store: Store) -> None:
    (name,) = _publish(store, 0)
    with pytest.raises(ZeroDivisionError), store.lock("one"):
        build_tiny_snapshot(store.stage().path, 1)
        _ = 1 / 0
    with store.lock("two"):
        assert store.current() == name
        assert not list(store.root.rglob(".*"))
