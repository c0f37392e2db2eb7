"""Writing and swapping: whole or not at all, and errors that name the path."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest

from noctule.artifacts.disk import durable, folders
from noctule.artifacts.disk.system_calls import Disk
from noctule.pipeline.errors import WriteFailed
from tests.crash.power_cut import using
from tests.snapshot_builder import QuickDisk


def test_a_failed_block_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="mine"), durable.writer(tmp_path / "a") as file:
        file.write(b"x" * 3_000_000)
        raise ValueError("mine")
    assert not (tmp_path / "a").exists()


def test_what_was_written_can_be_read(tmp_path: Path) -> None:
    content = os.urandom(3_000_001)
    with durable.writer(tmp_path / "a") as file:
        file.write(content[:5])
        file.write(memoryview(content)[5:])
    assert (tmp_path / "a").read_bytes() == content


def test_files_are_written_once(tmp_path: Path) -> None:
    durable.write_file(tmp_path / "a", b"first")
    with pytest.raises(WriteFailed, match="EEXIST") as caught:
        durable.write_file(tmp_path / "a", b"second")
    assert caught.value.where == str(tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == b"first"


def test_a_missing_folder_is_an_error_that_names_the_path(tmp_path: Path) -> None:
    with pytest.raises(WriteFailed, match="ENOENT") as caught:
        durable.write_file(tmp_path / "no" / "a", b"")
    assert caught.value.where.endswith("no/a")


class _FewBytes(Disk):
    """Takes seven bytes at a time, as a disk may."""

    def write(self, descriptor: int, content: bytes | memoryview) -> int:
        return super().write(descriptor, content[:7])


def test_short_writes_are_completed(tmp_path: Path) -> None:
    with using(_FewBytes()):
        durable.write_file(tmp_path / "a", b"0123456789" * 10)
    assert (tmp_path / "a").read_bytes() == b"0123456789" * 10


class _FullAtTheEnd(Disk):
    """Has room for nothing, and says so at the sync, as some file systems do."""

    def fsync(self, descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_failed_sync_is_a_failed_write(tmp_path: Path) -> None:
    with using(_FullAtTheEnd()), pytest.raises(WriteFailed, match="No space left") as caught:
        durable.write_file(tmp_path / "a", b"content")
    assert "noctule prune" in caught.value.hint
    assert not (tmp_path / "a").exists()


def test_a_failed_replacement_keeps_the_old_content_and_leaves_no_litter(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    with using(_FullAtTheEnd()), pytest.raises(WriteFailed):
        durable.replace_file(tmp_path / "a", b"new")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a", b"old")]


def test_remove_tree_of_a_link_removes_the_link(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/a").write_text("a")
    (tmp_path / "link").symlink_to(tmp_path / "mine")
    folders.remove_tree(tmp_path / "link")
    assert [path.name for path in tmp_path.rglob("*")] == ["mine", "a"]


def test_remove_tree_does_not_follow_links(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_bytes(b"")
    doomed = tmp_path / "doomed"
    (doomed / "deep").mkdir(parents=True)
    (doomed / "deep" / "link").symlink_to(kept)
    (doomed / "file").symlink_to(kept / "file")
    folders.remove_tree(doomed)
    folders.remove_tree(doomed)
    assert not doomed.exists()
    assert (kept / "file").exists()


def test_read_only_files_can_still_be_removed(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    (folder / "file").write_bytes(b"")
    folders.make_read_only(folder)
    assert (folder / "file").stat().st_mode & 0o222 == 0
    folders.remove_tree(folder)


def _folder(path: Path, text: str) -> Path:
    path.mkdir()
    (path / "index.html").write_text(text)
    return path


class _NoExchange(Disk):
    def exchange(self, first: Path, second: Path) -> None:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))


@pytest.mark.parametrize("disk", [Disk(), _NoExchange()])
def test_a_folder_takes_the_place_of_another(disk: Disk, tmp_path: Path) -> None:
    target = _folder(tmp_path / "site", "old")
    with using(disk):
        folders.swap_directory(_folder(tmp_path / "staged", "new"), target)
        assert (target / "index.html").read_text() == "new"
        assert [path.name for path in tmp_path.iterdir()] == ["site"]
        target = tmp_path / "first"
        folders.swap_directory(_folder(tmp_path / "staged", "new"), target)
        assert (target / "index.html").read_text() == "new"


class _NoSecondRename(_NoExchange):
    def rename(self, source: Path, target: Path) -> None:
        if source.name == "staged":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        super().rename(source, target)


def test_a_failed_swap_leaves_the_old_folder_in_its_place(tmp_path: Path) -> None:
    target = _folder(tmp_path / "site", "old")
    with using(_NoSecondRename()), pytest.raises(WriteFailed, match="EIO"):
        folders.swap_directory(_folder(tmp_path / "staged", "new"), target)
    assert (target / "index.html").read_text() == "old"


def test_there_is_no_instant_without_the_folder(tmp_path: Path) -> None:
    target, seen, done = _folder(tmp_path / "site", "old"), set[bool](), threading.Event()

    def look() -> None:
        while not done.is_set():
            seen.add(target.is_dir())

    watcher = threading.Thread(target=look)
    watcher.start()
    with using(QuickDisk()):
        for _ in range(50):
            folders.swap_directory(_folder(tmp_path / "staged", "new"), target)
    done.set()
    watcher.join()
    assert seen == {True}
