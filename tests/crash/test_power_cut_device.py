"""A power cut of a real file system: what is on its device around each flush of a publish or a site's build.

The device is a file with ext4 in it. Its copy at an instant has what the kernel had written by then, and
lacks what was still in memory, as after a power cut. Mounting a loop device takes root and Linux.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from noctule.artifacts.disk.system_calls import Disk
from noctule.artifacts.store.store import Store
from noctule.docsite.verify import check_site
from tests.crash.power_cut import using
from tests.crash.test_power_cut_site import FIRST, SECOND, Night
from tests.snapshot_builder import publish_tiny_snapshot

SIZE = "24M"


@contextmanager
def _mounted(image: Path, at: Path) -> Iterator[Path]:
    at.mkdir(exist_ok=True)
    done = subprocess.run(["mount", "-o", "loop", image, at], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no loop device can be mounted here: {done.stderr.strip()}")
    try:
        yield at
    finally:
        subprocess.run(["umount", at], check=True)


@pytest.fixture
def device(tmp_path: Path) -> Path:
    """A file with an empty ext4 in it."""
    if os.geteuid() != 0 or not shutil.which("mkfs.ext4"):
        pytest.skip("mounting takes root, and making a file system mkfs.ext4")
    image = tmp_path / "device"
    subprocess.run(["truncate", "-s", SIZE, image], check=True)
    subprocess.run(["mkfs.ext4", "-q", image], check=True)
    return image


class Copying(Disk):
    """Copies the device before and after every flush, and at every change of names."""

    def __init__(self, device: Path, to: Path) -> None:
        self._device, self._to, self.copies = device, to, list[Path]()

    def _copy(self) -> None:
        copy = self._to / f"copy{len(self.copies)}"
        subprocess.run(["cp", "--sparse=always", self._device, copy], check=True)
        self.copies.append(copy)

    def fsync(self, descriptor: int) -> None:
        self._copy()
        super().fsync(descriptor)
        self._copy()

    def sync_file_system(self, descriptor: int) -> None:
        self._copy()
        super().sync_file_system(descriptor)
        self._copy()

    def exchange(self, first: Path, second: Path) -> None:
        super().exchange(first, second)
        self._copy()

    def rename(self, source: Path, target: Path) -> None:
        super().rename(source, target)
        self._copy()


def _after_each_cut(device: Path, tmp_path: Path, work: Callable[[Path], object]) -> Iterator[Path]:
    """Do the work on the device, and yield the folder as each copy of the device has it."""
    copies = tmp_path / "copies"
    copies.mkdir()
    with _mounted(device, tmp_path / "mounted") as folder, using(copying := Copying(device, copies)):
        work(folder)
        copying._copy()
    for copy in copying.copies:
        with _mounted(copy, tmp_path / "after") as folder:
            yield folder
        copy.unlink()


def test_a_device_that_loses_power_in_a_publish_has_the_old_snapshot_or_the_new_one(
    device: Path, tmp_path: Path
) -> None:
    with _mounted(device, tmp_path / "mounted") as folder:
        old = publish_tiny_snapshot(Store(folder / "store")).snapshot_id
        os.sync()
    found = []
    work = lambda folder: publish_tiny_snapshot(Store(folder / "store"), 1)  # noqa: E731
    for folder in _after_each_cut(device, tmp_path, work):
        store = Store(folder / "store")
        with store.open() as snapshot:
            found.append(snapshot.id)  # every byte has been verified
    new = found[-1]
    assert new != old and found == sorted(found, key=[old, new].index)
    print(f"a publish on ext4: {len(found)} power cuts, {found.count(old)} before the new snapshot")


def test_a_device_that_loses_power_in_a_sites_build_has_the_old_site_or_the_new_one(
    device: Path, tmp_path: Path
) -> None:
    with _mounted(device, tmp_path / "mounted") as folder:
        Night(folder).build(FIRST)
        os.sync()
    found = []
    for folder in _after_each_cut(device, tmp_path, lambda folder: Night(folder).build(SECOND)):
        site = check_site(folder / "www" / "site")
        assert not site.faults and not site.foreign
        found.append(site.snapshot)
    assert found == sorted(found, key=[FIRST.id, SECOND.id].index) and set(found) == {FIRST.id, SECOND.id}
    print(f"a site's build on ext4: {len(found)} power cuts, {found.count(FIRST.id)} before the new site")
