"""What a server lists is not trusted: plain names below the address count, and nothing else is removed."""

from __future__ import annotations

from pathlib import Path

import pytest

from noctule.artifacts.disk.layout import CURRENT, SNAPSHOTS
from noctule.artifacts.remote.files import RemoteFiles
from noctule.artifacts.remote.send import send
from noctule.artifacts.remote.target import RemoteTarget
from noctule.artifacts.store.pointer import Pointer
from noctule.artifacts.store.store import Store
from noctule.pipeline.errors import RemoteUnavailable
from noctule.pipeline.model import SnapshotId
from tests.snapshot_builder import publish_tiny_snapshot

_OLD = "0123456789abcdef0123"
FORGED = [
    "../x", "a/../../x", "/etc/passwd", "", ".", "..", "a//b", "a/", "a\0b", "a\nb", "a\x1b[2Jb", "a\x7fb",
    "..\\x", f"{SNAPSHOTS}/{_OLD}/../../{CURRENT}", f"{SNAPSHOTS}/{_OLD}/../manifest.json",
    f"{SNAPSHOTS}/{_OLD}//{CURRENT}", f"{SNAPSHOTS}//{_OLD}/manifest.json", f"{SNAPSHOTS}/./{_OLD}/a",
]  # fmt: skip
STRANGE = [
    f"{SNAPSHOTS}/{_OLD.upper()}/manifest.json",
    f"{SNAPSHOTS}/{'0' * 5_000}/a",
    f"{SNAPSHOTS}/{_OLD}/A b",
    f"{SNAPSHOTS}/{_OLD}/deeper/manifest.json",
    f"{SNAPSHOTS}/{_OLD}/" + "a" * 100_000 + "!",
]


def test_a_snapshot_whose_publisher_ended_before_it_was_current_is_the_oldest_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, address = Store(tmp_path / "store"), f"file://{tmp_path}/target"
    really, ids = RemoteFiles.replace, list[SnapshotId]()

    def killed(self: RemoteFiles, name: str, content: bytes) -> None:
        if name == CURRENT:
            raise RuntimeError("killed")
        really(self, name, content)

    for edition in range(5):
        ids.append(publish_tiny_snapshot(store, edition).snapshot_id)
        if edition == 3:
            monkeypatch.setattr(RemoteFiles, "replace", killed)
            with pytest.raises(RuntimeError):
                send(store, address, 9)
            monkeypatch.setattr(RemoteFiles, "replace", really)
        else:
            send(store, address, 9)
    send(store, address, keep=1)
    assert set(RemoteTarget(RemoteFiles(address)).names()) == {ids[4], ids[2], ids[1]}


class _Listing:
    """A file system that lists what it was told to, and notes what is removed."""

    def __init__(self, found: dict[str, dict[str, object]]) -> None:
        self.found, self.removed = found, list[str]()

    def invalidate_cache(self) -> None:
        """There is none."""

    def find(self, path: str, *, detail: bool) -> dict[str, dict[str, object]]:
        return self.found

    def open(self, path: str, *_: object, **__: object) -> None:
        raise FileNotFoundError(path)

    def rm_file(self, path: str) -> None:
        self.removed.append(path)


def _remote(folder: Path, names: list[str], size: object = 1) -> tuple[RemoteFiles, _Listing]:
    remote = RemoteFiles(f"file://{folder}")
    listing = _Listing({f"{folder}/{name}": {"size": size} for name in names})
    remote._files = listing
    return remote, listing


def test_names_that_lead_elsewhere_are_not_listed(tmp_path: Path) -> None:
    remote, listing = _remote(tmp_path, [*FORGED, f"{SNAPSHOTS}/{_OLD}/a.parquet"])
    listing.found |= {"/etc/passwd": {"size": 1}, f"{tmp_path}-other/{SNAPSHOTS}/b": {"size": 1}}
    assert remote.sizes(SNAPSHOTS) == {f"{SNAPSHOTS}/{_OLD}/a.parquet": 1}


def test_pruning_removes_nothing_but_files_of_snapshots(tmp_path: Path) -> None:
    remote, listing = _remote(tmp_path, [*FORGED, *STRANGE, f"{SNAPSHOTS}/{_OLD}/a.parquet"])
    RemoteTarget(remote).prune(0, Pointer(SnapshotId("f" * 20), 2, None))
    below = f"{tmp_path}/{SNAPSHOTS}/{_OLD}/a.parquet"
    assert [path for path in listing.removed if "/pins/" not in path] == [below]
    assert {path for path in listing.removed if "/pins/" in path} == {f"{tmp_path}/pins/{_OLD}"}


@pytest.mark.parametrize("size", [None, "huge", [], {}])
def test_a_size_that_is_none_is_the_servers_fault(size: object, tmp_path: Path) -> None:
    remote, _ = _remote(tmp_path, [f"{SNAPSHOTS}/{_OLD}/a.parquet"], size)
    with pytest.raises(RemoteUnavailable, match="did not respond as expected"):
        remote.sizes(SNAPSHOTS)
