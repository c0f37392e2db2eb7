"""Mounts as the kernel lists them, and whose locks stay on one host."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest

from noctule.artifacts.disk import locks
from noctule.artifacts.store.store import Store
from noctule.pipeline.errors import SettingsError, StoreBusy
from noctule.pipeline.filesystems import mounts

SHARED = [
    ("ext4", "rw"),
    ("nfs4", "rw,vers=4.2,local_lock=none"),
    ("nfs", "rw,vers=3,local_lock=posix"),
    ("cifs", "rw,vers=3.1.1"),
    ("lustre", "rw,flock"),
    ("fuse.glusterfs", "rw"),
    ("ceph", "rw"),
    ("smb3", "rw,vers=3.1.1"),
    # These do not say whether their locks reach other hosts.
    ("virtiofs", "rw"),
    ("fuse.mergerfs", "rw"),
]
LOCAL = [
    ("nfs", "rw,vers=3,nolock,local_lock=all"),
    ("nfs4", "rw,local_lock=flock"),
    ("cifs", "rw,nobrl"),
    ("smb3", "rw,nobrl"),
    ("lustre", "rw,localflock"),
    ("9p", "rw,trans=virtio"),
    ("fuse.sshfs", "rw,user_id=0"),
    *((f"fuse.{name}", "rw") for name in ("rclone", "s3fs", "gcsfuse", "mount-s3", "goofys", "blobfuse",
                                          "blobfuse2", "curlftpfs", "davfs")),
    ("davfs", "rw"),
]  # fmt: skip


def _mounted(folder: Path, listed: Path, kind: str, options: str) -> Path:
    """The folder, as if its file system were of this kind."""
    device = folder.stat().st_dev
    listed.write_text(
        "22 1 0:999 / /proc rw - proc proc rw\n"
        f"30 1 {os.major(device)}:{os.minor(device)} / /mnt/a\\040b rw,relatime shared:1 "
        f"- {kind} host:/x {options}\n"
    )
    return listed


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that lists mounts in place of the kernel's."""
    monkeypatch.setattr(mounts, "MOUNTINFO", tmp_path / "mountinfo")
    monkeypatch.delenv(locks.ONE_HOST, raising=False)
    return tmp_path / "mountinfo"


@pytest.mark.parametrize(("kind", "options"), SHARED)
def test_locks_that_go_to_the_server_are_relied_on(
    kind: str, options: str, fake: Path, tmp_path: Path
) -> None:
    _mounted(tmp_path, fake, kind, options)
    assert mounts.mount_of(tmp_path) == mounts.Mount(kind, frozenset({*options.split(","), "relatime"}))
    with Store(tmp_path / "store").lock("test"):
        pass


@pytest.mark.parametrize(("kind", "options"), LOCAL)
def test_a_run_is_refused_where_locks_stay_on_one_host(
    kind: str, options: str, fake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _mounted(tmp_path, fake, kind, options)
    with pytest.raises(SettingsError, match=kind) as caught, Store(tmp_path / "store").lock("test"):
        pass
    assert locks.ONE_HOST in caught.value.hint and "store/promises" in caught.value.hint
    monkeypatch.setenv(locks.ONE_HOST, "1")
    with Store(tmp_path / "store").lock("test"):
        pass


def _leave_a_note(lock: Path, **changed: str) -> None:
    """As a run does that another host has begun."""
    note = {"pid": 7, "host": "other", "boot": "0-0", "since": "2026-01-31T02:00:00+00:00"}
    lock.write_text(json.dumps({**note, "purpose": "nightly", "command": "noctule nightly", **changed}))


def test_the_run_of_another_host_is_named_and_waited_for(
    fake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _mounted(tmp_path, fake, "nfs", "rw,nolock")
    lock = tmp_path / "lock"
    _leave_a_note(lock)
    with pytest.raises(SettingsError, match="process 7 on other since 2026-01-31"), locks.exclusive(lock):
        pass
    monkeypatch.setenv(locks.ONE_HOST, "1")
    with pytest.raises(StoreBusy, match="process 7 on other since 2026-01-31") as caught:
        locks.exclusive(lock).__enter__()
    assert "remove this file" in caught.value.hint
    for mine in ({"host": socket.gethostname()}, {"boot": locks._boot_id()}):  # restarted, or in a container
        _leave_a_note(lock, **mine)
        with locks.exclusive(lock):
            pass
        assert lock.read_bytes() == b""


def test_where_locks_reach_the_server_the_note_of_a_dead_run_is_nothing(fake: Path, tmp_path: Path) -> None:
    _mounted(tmp_path, fake, "nfs4", "rw,local_lock=none")
    _leave_a_note(tmp_path / "lock")
    with locks.exclusive(tmp_path / "lock"):
        pass


@pytest.mark.parametrize("content", [None, "", "garbage\n", "1 2 3:4 / /\n"])
def test_a_kernel_that_lists_nothing_refuses_nothing(content: str | None, fake: Path, tmp_path: Path) -> None:
    if content is not None:
        fake.write_text(content)
    assert mounts.mount_of(tmp_path) is None
    assert mounts.local_locks(tmp_path) == ""


@pytest.mark.skipif(not mounts.MOUNTINFO.exists(), reason="only Linux lists mounts so")
def test_the_real_list_is_read() -> None:
    found = mounts.mount_of(Path("/proc"))
    assert found is not None and found.kind == "proc"
