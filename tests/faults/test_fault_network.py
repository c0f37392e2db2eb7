"""What network file systems do: handles go stale, replies are lost, removed files stay while they are open,
and locks are missing. Each ends in a success that is true, or in an error of the house.
"""

from __future__ import annotations

import errno
import fcntl
import io
import os
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from noctule.artifacts.disk import durable, locks
from noctule.artifacts.disk.layout import is_held_open
from noctule.artifacts.disk.system_calls import Disk
from noctule.artifacts.store.check import check_deep
from noctule.artifacts.store.staging import sweep
from noctule.artifacts.store.store import Store
from noctule.docsite.build import build_site
from noctule.docsite.verify import check_site
from noctule.pipeline.errors import NoctuleError, NoSnapshot, WriteFailed
from noctule.pipeline.settings.site import Site
from tests.crash.failing_disk import CountingDisk
from tests.crash.power_cut import using
from tests.repetitions import ALL, LONG_S, WHOLE, Part, in_parts
from tests.site_builder import snapshot_of
from tests.snapshot_builder import publish_tiny_snapshot

STRIDE = 1 if ALL else 23
HELD = ".nfs0000000000ab12cd00000001"


class LostReply(CountingDisk):
    """The n-th call of a kind is made, its reply is lost, and asking again fails."""

    def __init__(self, kind: str, nth: int, again: int) -> None:
        self._kind, self._left, self._again = kind, nth, again
        self.is_lost = False

    def _call(self, name: str, method: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        is_it = name == self._kind and (name != "open" or bool(arguments[1] & os.O_EXCL))
        self._left -= is_it
        if not is_it or self._left != 0:
            return super()._call(name, method, arguments)
        self.is_lost = True
        done = method(*arguments)
        if name == "open":
            os.close(done)
        raise OSError(self._again, os.strerror(self._again))

    def _failure(self, name: str) -> None:
        return None


@pytest.mark.parametrize(
    ("kind", "again"),
    [("open", errno.EEXIST), ("open", errno.EIO), ("mkdir", errno.EEXIST), ("rename", errno.ENOENT)],
)
def test_a_lost_reply_ends_in_a_true_success_or_an_error(kind: str, again: int, tmp_path: Path) -> None:
    store, lost = Store(tmp_path / "store"), 0
    old = publish_tiny_snapshot(store).snapshot_id
    for nth in range(1, 1000, min(STRIDE, 7) if kind == "open" else 1):
        disk = LostReply(kind, nth, again)
        try:
            with using(disk):
                old = publish_tiny_snapshot(store, nth).snapshot_id
        except WriteFailed as error:
            assert kind == "open" and error.hint and errno.errorcode[again] in error.what
        assert store.current() == old
        check_deep(store.path_of(old), old)
        lost += disk.is_lost
        if not disk.is_lost:
            break
    assert lost >= (2 if kind in ("open", "rename") else 1)
    with store.lock("the next run"):
        assert not list(store.root.rglob(".*"))


@pytest.mark.parametrize("nth", [1, 2])  # the second name is one of a snapshot's files
@pytest.mark.parametrize("kind", ["unlink", "rmdir", "rename"])
def test_a_prune_whose_replies_are_lost_removes_what_it_says(kind: str, nth: int, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    ids = [publish_tiny_snapshot(store, edition).snapshot_id for edition in range(4)]
    with using(lost := LostReply(kind, nth, errno.ENOENT)):
        assert store.prune(0) == (ids[1], ids[0])
    assert lost.is_lost
    assert [info.snapshot_id for info in store.snapshots()] == [ids[3], ids[2]]


def test_a_second_name_whose_reply_was_lost_is_there(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a")
    (tmp_path / "other").write_bytes(b"a")
    with using(LostReply("link", 1, errno.EEXIST)):
        assert durable.link(tmp_path / "a", tmp_path / "b")
    assert not durable.link(tmp_path / "a", tmp_path / "other")


def test_a_rename_is_not_believed_for_another_file_of_that_name(tmp_path: Path) -> None:
    (tmp_path / "there").write_bytes(b"another")
    with pytest.raises(WriteFailed, match="ENOENT"):
        durable.replace(tmp_path / "gone", tmp_path / "there")


def test_a_page_that_is_taken_over_survives_a_lost_reply(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site, really = tmp_path / "site", os.link
    texts = {"a.md": "# A\n", "b.md": "# B\n"}
    build_site(snapshot_of({"n": texts}), site, Site())

    def link(*arguments: Any, **named: Any) -> None:
        really(*arguments, **named)
        raise FileExistsError(errno.EEXIST, "File exists")

    monkeypatch.setattr(os, "link", link)
    later = snapshot_of({"n": texts | {"c.md": "# C\n"}})
    assert build_site(later, site, Site()).written < build_site(later, tmp_path / "fresh", Site()).written
    assert not check_site(site).faults


class Stale:
    """The n-th call that reads below a folder finds its handle stale, once or from then on."""

    def __init__(self, root: Path, nth: int, for_ever: bool) -> None:
        self._root, self._nth, self._for_ever, self.calls = str(root), nth, for_ever, 0

    def _ask(self, path: object) -> None:
        if isinstance(path, str | os.PathLike) and os.fspath(path).startswith(self._root):
            self.calls += 1
            if self.calls == self._nth or (self._for_ever and self.calls > self._nth):
                raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), os.fspath(path))

    def patch(self, patched: pytest.MonkeyPatch) -> None:
        for module, name in ((io, "open"), (os, "open"), (os, "stat"), (os, "listdir"), (os, "scandir")):
            really = getattr(module, name)

            def call(path: Any = ".", *rest: Any, really: Any = really, **named: Any) -> Any:
                self._ask(path)
                return really(path, *rest, **named)

            patched.setattr(module, name, call)


def _stale(
    root: Path, for_ever: bool, work: Callable[[], object], stride: int = STRIDE, part: Part = WHOLE
) -> Iterator[NoctuleError | None]:
    """Do the work with the n-th reading call failing, for every n (or every ``stride``) that is made."""
    for nth in part.of(range(1, 5000, stride)):
        stale, error = Stale(root, nth, for_ever), None
        with pytest.MonkeyPatch.context() as patched:
            stale.patch(patched)
            try:
                work()
            except NoctuleError as caught:
                error = caught
        yield error
        if stale.calls < nth:
            return


@pytest.mark.parametrize("for_ever", [False, True], ids=["once", "for ever"])
def test_a_stale_handle_is_no_missing_and_no_damaged_snapshot(for_ever: bool, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    current = [publish_tiny_snapshot(store, edition).snapshot_id for edition in range(2)][1]

    def read() -> None:
        with store.open() as snapshot:
            assert snapshot.id == current
            assert len(store.snapshots()) == 2

    errors = list(_stale(store.root, for_ever, read))
    assert errors[-1] is None and any(errors)
    for error in filter(None, errors):
        assert "Stale" in error.what and error.hint and "rollback" not in error.hint
        assert not isinstance(error, NoSnapshot)


def test_a_pointer_that_another_host_replaces_is_read_again(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    current = publish_tiny_snapshot(store).snapshot_id
    stale = Stale(store.root, 1, for_ever=False)
    with pytest.MonkeyPatch.context() as patched:
        stale.patch(patched)
        assert store.current() == current
    assert stale.calls >= 2


@in_parts
@pytest.mark.timeout(LONG_S)
def test_a_stale_handle_costs_a_publish_or_a_prune_but_no_snapshot(part: Part, tmp_path: Path) -> None:
    store, edition = Store(tmp_path / "store"), count()
    for _ in range(2):
        publish_tiny_snapshot(store, next(edition))

    def night() -> None:
        publish_tiny_snapshot(store, next(edition))
        store.prune(1)

    for error in _stale(store.root, False, night, part=part):
        assert error is None or ("Stale" in error.what and error.hint)
        infos = {info.snapshot_id: info for info in store.snapshots()}
        current = store.current()
        assert current is not None and max(infos.values(), key=lambda i: i.generation).snapshot_id == current
        check_deep(store.path_of(current), current)
        # What was before it is still known, and still there.
        assert [info.previous for info in infos.values()].count(True) == 1
        check_deep(store.path_of(store.rollback()))
        assert store.rollback() == current


def test_every_listing_of_a_prune_may_be_stale(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    for edition in range(3):
        publish_tiny_snapshot(store, edition)
    refused = [error for error in _stale(store.root, True, lambda: store.prune(1), stride=1) if error]
    assert {Path(error.where).name for error in refused} >= {"shards", "models", "snapshots"}
    assert all("Stale" in error.what and error.hint for error in refused)


class HoldsOpen(Disk):
    """Renames a removed file of this name, as NFS does while somebody has it open."""

    def unlink(self, path: Path | str) -> None:
        path = Path(path)
        if path.name == "passages.parquet":
            path.rename(path.with_name(HELD))
        else:
            super().unlink(path)


def test_files_that_are_removed_while_they_are_read_go_with_a_later_sweep(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    ids = [publish_tiny_snapshot(store, edition).snapshot_id for edition in range(4)]
    with using(HoldsOpen()):
        assert store.prune(0) == (ids[1], ids[0])
    held = [path for path in store.root.rglob(".nfs*") if is_held_open(path.name)]
    assert len(held) == 2 and {info.snapshot_id for info in store.snapshots()} == set(ids[2:])
    publish_tiny_snapshot(store, 5)  # while they are still read
    for path in held:
        path.unlink()
    with store.lock("the next run"):
        assert not list(store.root.rglob(".*"))


def test_files_that_are_held_open_belong_to_no_snapshot_and_no_site(tmp_path: Path) -> None:
    store, site = Store(tmp_path / "store"), tmp_path / "site"
    old = publish_tiny_snapshot(store).snapshot_id
    texts = {"a.md": "# A\n", "b/c.md": "# C\n"}
    build_site(snapshot_of({"n": texts}), site, Site())
    for folder in [tmp_path, *tmp_path.rglob("*")]:
        if folder.is_dir():
            (folder / HELD).write_bytes(b"removed")
    check_deep(store.path_of(old), old)
    found = check_site(site)
    assert (found.faults, found.foreign) == (0, ())
    assert build_site(snapshot_of({"n": texts}), site, Site()).written == 0
    with store.lock("test"):
        staging = store.stage()
        (staging.path / HELD).write_bytes(b"removed")
        sweep(store.root)
    new = publish_tiny_snapshot(store, 1).snapshot_id
    assert store.rollback() == old and store.rollback() == new


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS])
def test_without_locks_a_store_is_read_and_refuses_to_be_written(
    code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path / "store")
    current = publish_tiny_snapshot(store).snapshot_id

    def refuse(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with store.open() as snapshot:
        assert snapshot.id == current
    for write in (lambda: publish_tiny_snapshot(store, 1), lambda: store.prune(0), store.rollback):
        with pytest.raises(WriteFailed, match="no locks") as caught:
            write()
        assert caught.value.where == str(store.root / "lock") and "store/promises" in caught.value.hint
    assert store.current() == current


def test_a_server_that_is_gone_when_a_lock_is_released_undoes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    really = fcntl.flock

    def flock(descriptor: int, operation: int) -> None:
        if operation == fcntl.LOCK_UN:
            raise OSError(errno.ESTALE, "Stale file handle")
        really(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", flock)
    with locks.exclusive(tmp_path / "lock"):
        pass
    with locks.exclusive(tmp_path / "lock"):
        pass
