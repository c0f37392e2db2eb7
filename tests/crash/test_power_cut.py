"""A power cut at any point of a publish leaves the old snapshot or the new one; and each fsync is needed.

``NOCTULE_POWER_CUTS`` says how many trees are sampled before each flush that leaves too many for all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from noctule.artifacts.disk import durable, folders
from noctule.artifacts.disk.layout import FILES
from noctule.artifacts.store.check import check_deep
from noctule.artifacts.store.store import Store
from noctule.pipeline.errors import NoctuleError
from tests.crash.failing_disk import CountingDisk
from tests.crash.power_cut import FEW, Killed, KilledOnce, RecordingDisk, materialise, using
from tests.repetitions import POWER_CUTS
from tests.snapshot_builder import publish_tiny_snapshot

_numbers = count()


def _readable_states(recording: RecordingDisk, scratch: Path) -> list[str]:
    """For each state: the snapshot that a reader gets, or the error's kind."""
    states = []
    for tree in recording.trees():
        folder = scratch / f"state{next(_numbers)}"
        materialise(tree, folder)
        try:
            with Store(folder).open() as snapshot:
                states.append(snapshot.id)
        except NoctuleError as error:
            states.append(error.kind)
    return states


def _published_twice(
    tmp_path: Path, forget: Callable[[Path], bool], keep: int = 0, samples: int = POWER_CUTS
) -> tuple[RecordingDisk, set[str]]:
    store = Store(tmp_path / "store")
    old = publish_tiny_snapshot(store, 0).snapshot_id
    recording = RecordingDisk(store.root, lambda flush: forget(flush.path), keep=keep, samples=samples)
    with using(recording):
        new = publish_tiny_snapshot(store, 1).snapshot_id
    recording.cut()
    return recording, {old, new}


def test_every_power_cut_leaves_the_old_snapshot_or_the_new_one(tmp_path: Path) -> None:
    recording, either = _published_twice(tmp_path, forget=lambda _: False)
    states = _readable_states(recording, tmp_path)
    assert set(states) == either
    assert len(states) >= 5
    assert recording.made > 1_000
    differ = f"{len(states):,} that differ for readers"
    print(f"a publish: {len(recording.flushes)} flushes, {recording.made:,} trees, {differ}")


def test_after_every_power_cut_the_next_run_publishes_and_leaves_no_litter(tmp_path: Path) -> None:
    recording, _ = _published_twice(tmp_path, forget=lambda _: False, keep=max(5, POWER_CUTS // 10))
    fresh = publish_tiny_snapshot(Store(tmp_path / "fresh"), 2).snapshot_id
    for number, tree in enumerate(recording.kept):
        materialise(tree, tmp_path / f"cut{number}")
        store = Store(tmp_path / f"cut{number}")
        assert publish_tiny_snapshot(store, 2).snapshot_id == store.current() == fresh
        check_deep(store.path_of(fresh), fresh)
        store.rollback()
        assert not list(store.root.rglob(".*"))


def _calls_of_a_publish(folder: Path) -> int:
    store = Store(folder)
    publish_tiny_snapshot(store, 0)
    with using(counting := _Counting()):
        publish_tiny_snapshot(store, 1)
    return counting.calls - counting.closed


class _Counting(CountingDisk):
    closed = 0

    def _failure(self, name: str) -> None:
        self.closed += name == "close"


@pytest.mark.parametrize("from_end", range(12) if POWER_CUTS > 20 else (0, 3))
def test_a_power_cut_after_the_run_that_follows_a_kill_loses_nothing(from_end: int, tmp_path: Path) -> None:
    """What the killed run did not flush, the next one must, before it says that it is published."""
    calls, store = _calls_of_a_publish(tmp_path / "counted"), Store(tmp_path / "store")
    publish_tiny_snapshot(store, 0)
    recording = KilledOnce(store.root, calls - from_end, samples=FEW)
    with using(recording):
        with pytest.raises(Killed):
            publish_tiny_snapshot(store, 1)
        recording.revive()
        new = publish_tiny_snapshot(store, 1).snapshot_id
    recording.cut_at_the_end()
    assert set(_readable_states(recording, tmp_path)) == {new}


def _is_root(path: Path) -> bool:
    return path.name == "store"


FSYNCS: dict[str, Callable[[Path], bool]] = {
    "a data file": lambda path: path.name == "passages.parquet",
    "the index": lambda path: path.name == "vectors.faiss",
    "the manifest": lambda path: path.name == "manifest.json",
    "the staging folder": lambda path: path.name.startswith(".staging-"),
    "the folder of snapshots": lambda path: path.name == "snapshots",
    "the pointer": lambda path: path.name.startswith(".CURRENT-"),
}
DROPPED = ("the pointer",) if POWER_CUTS <= 20 else FSYNCS
if POWER_CUTS > 20:
    FSYNCS |= {name: lambda path, name=name: path.name == name for name in FILES}  # type: ignore[misc]


@pytest.mark.parametrize("dropped", DROPPED)
def test_without_an_fsync_some_power_cut_loses_the_snapshot(dropped: str, tmp_path: Path) -> None:
    recording, either = _published_twice(tmp_path, forget=FSYNCS[dropped], samples=FEW)
    assert set(_readable_states(recording, tmp_path)) - either, "the enumeration is blind to this fsync"


def _after_publish(tmp_path: Path, forget: Callable[[Path], bool]) -> set[str]:
    recording, _ = _published_twice(tmp_path, forget, samples=FEW)
    recording.cut_at_the_end()
    return set(_readable_states(recording, tmp_path))


def test_what_was_published_survives_a_power_cut(tmp_path: Path) -> None:
    new = _after_publish(tmp_path, forget=lambda _: False)
    assert new == {Store(tmp_path / "store").current()}


def test_without_the_last_fsync_of_the_root_only_the_old_snapshot_may_return(tmp_path: Path) -> None:
    states = _after_publish(tmp_path, forget=_is_root)
    assert len(states) == 2
    assert Store(tmp_path / "store").current() in states


def test_a_power_cut_in_a_rollback_or_a_prune_leaves_a_whole_snapshot(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    ids = [publish_tiny_snapshot(store, edition).snapshot_id for edition in range(4)]
    recording = RecordingDisk(store.root)
    with using(recording):
        store.rollback()
        assert store.prune(0) == (ids[1], ids[0])
    assert set(_readable_states(recording, tmp_path)) == {ids[2], ids[3]}


def test_a_power_cut_while_a_damaged_snapshot_is_mended_loses_nothing_more(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    published = publish_tiny_snapshot(store)
    file = store.path_of(published.snapshot_id) / "passages.parquet"
    file.chmod(0o644)
    file.write_bytes(b"damaged")
    recording = RecordingDisk(store.root)
    with using(recording):
        publish_tiny_snapshot(store)
    assert set(_readable_states(recording, tmp_path)) == {published.snapshot_id, "DamagedSnapshot"}
    check_deep(store.path_of(published.snapshot_id), published.snapshot_id)


def _site(folder: Path, text: bytes) -> Path:
    folder.mkdir()
    for name in ("index.html", "page.html"):
        (folder / name).write_bytes(text)
    return folder


@pytest.mark.parametrize("aside", [None, "aside"])
def test_a_power_cut_in_a_swap_leaves_the_old_folder_or_the_new_one_whole(
    tmp_path: Path, aside: str | None
) -> None:
    base = tmp_path / "base"
    base.mkdir()
    target = _site(base / "site", b"old")
    recording = RecordingDisk(base)
    with using(recording):
        staged = base / ".staged"
        durable.make_directory(staged)
        for name in ("index.html", "page.html"):
            durable.write_file(staged / name, b"new")
        folders.swap_directory(staged, target, base / aside if aside else None)
    sites = {(tree["site/index.html"], tree["site/page.html"]) for tree in recording.trees()}
    assert sites == {(b"old", b"old"), (b"new", b"new")}
