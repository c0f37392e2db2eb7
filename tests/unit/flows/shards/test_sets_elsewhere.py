"""A set of shards at an address: readers see one edition or the other, and only what changed travels."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import fsspec
import pytest

import noctule
from noctule.artifacts.disk import durable
from noctule.artifacts.disk.layout import CURRENT, MANIFEST, SHARDS, SNAPSHOTS
from noctule.artifacts.disk.manifest import Manifest
from noctule.artifacts.disk.manifest_records import ShardRecord
from noctule.artifacts.query import Searcher
from noctule.artifacts.remote.fetch import Fetched
from noctule.artifacts.remote.files import RemoteFiles
from noctule.artifacts.remote.mirror import mirror_folder
from noctule.artifacts.remote.send import send
from noctule.artifacts.remote.target import RemoteTarget, snapshot_folder
from noctule.artifacts.store.check import check_deep
from noctule.artifacts.store.pointer import Pointer
from noctule.artifacts.store.store import Store
from noctule.flows.api import build_snapshot
from noctule.pipeline.errors import DamagedSnapshot, RemoteUnavailable, StoreBusy, WriteFailed
from noctule.pipeline.model import SnapshotId
from noctule.pipeline.settings.reading import parse
from noctule.pipeline.settings.settings import Settings
from noctule.pipeline.settings.shard_choice import ShardChoice
from tests.command_line import CommandLine
from tests.crash.failing_disk import FailingDisk
from tests.loopback_server import running
from tests.object_server import ObjectServer
from tests.shared_folder import copied_store, shared_folder
from tests.unit.flows.shards.test_shards import settings_for, shown, write_library

EDITIONS = 3


def _build_editions(base: Path) -> None:
    """A store with several sets, of which each differs from the one before in one shard."""
    write_library(base / "notes")
    book, names = base / "notes/shelf0/book04.md", []
    for number in range(EDITIONS):
        book.write_text(f"{book.read_text()}\nEdition{number} is about herons.\n")
        wanted = settings_for(base / "notes", count=3, drift=0.9)
        names.append(build_snapshot(wanted, Store(base / "store")).snapshot)
    (base / "names").write_text(" ".join(names))


@pytest.fixture
def editions(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[SnapshotId]]:
    base = shared_folder(tmp_path_factory, "editions of a set", _build_editions)
    return base / "store", [SnapshotId(name) for name in (base / "names").read_text().split()]


@pytest.fixture
def store(editions: tuple[Path, list[SnapshotId]], tmp_path: Path) -> Store:
    """A store of the test's own, whose first edition is current."""
    copied_store(editions[0], tmp_path / "store")
    found = Store(tmp_path / "store")
    found.rollback(editions[1][0])
    return found


@pytest.fixture
def names(editions: tuple[Path, list[SnapshotId]]) -> list[SnapshotId]:
    return editions[1]


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("NOCTULE_CACHE", str(tmp_path / "cache"))
    yield f"memory://set-{tmp_path.name}"
    fsspec.filesystem("memory").rm(f"/set-{tmp_path.name}", recursive=True)


class Changes:
    """What is done at the target, by kind and path; ``before`` is called before each."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.made: list[tuple[str, str]] = []
        self.before: Callable[[], object] = lambda: None
        for kind in ("send", "copy", "replace", "remove"):
            monkeypatch.setattr(RemoteFiles, kind, self._counted(kind, getattr(RemoteFiles, kind)))

    def _counted(self, kind: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def counted(files: RemoteFiles, *given: Any) -> Any:
            self.before()
            self.made.append((kind, str(given[-2] if kind == "replace" else given[-1])))
            return method(files, *given)

        return counted

    def of(self, kind: str) -> list[str]:
        return [path for each, path in self.made if each == kind]


@pytest.fixture
def changes(monkeypatch: pytest.MonkeyPatch) -> Changes:
    return Changes(monkeypatch)


def require_whole(address: str) -> SnapshotId:
    """Return the edition that readers find; every file of its shards and of itself must be there."""
    target, files = RemoteTarget(remote := RemoteFiles(address)), dict[str, int]()
    pointer = target.pointer()
    assert pointer is not None
    there, manifest = remote.sizes(""), target.manifest(pointer.id)
    for record in manifest.shards:
        folder = snapshot_folder(record.snapshot, record.name)
        shard = target.manifest(record.snapshot, record.name)
        files |= {f"{folder}/{name}": entry.bytes for name, entry in shard.files.items()}
    files |= {f"{snapshot_folder(pointer.id)}/{name}": entry.bytes for name, entry in manifest.files.items()}
    assert files.items() <= there.items()
    return pointer.id


def shards_there(address: str) -> set[tuple[str, str]]:
    found = (path.split("/") for path in RemoteFiles(address).sizes(SHARDS))
    return {(parts[1], parts[3]) for parts in found}


def shards_of(store: Store, *names: SnapshotId) -> set[tuple[str, str]]:
    manifests = (store.read_unverified(name).manifest for name in names)
    return {(each.name, each.snapshot) for manifest in manifests for each in manifest.shards}


def test_what_was_sent_is_searched_and_checked_at_the_address(store: Store, address: str) -> None:
    sent = send(store, address, 1)
    assert sent.changed and sent.sent > 3 * 10 and sent.kept == 0
    there = Store(address)
    with Searcher(store.open(), Settings()) as one, Searcher(there.open(), Settings()) as other:
        answers = [each.search("owls at dusk and herons", 20) for each in (one, other)]
        assert shown(answers[0]) == shown(answers[1]) and answers[0].hits
    check_deep(there.path_of(sent.snapshot_id), sent.snapshot_id)
    with noctule.open(address) as opened:
        assert opened.search("owls at dusk and herons").hits


def test_the_command_line_publishes_and_searches_a_set_on_an_object_server(
    store: Store, tmp_path: Path
) -> None:
    pytest.importorskip("s3fs")
    pytest.importorskip("moto")
    with running(ObjectServer(tmp_path)) as server:
        bucket = server.bucket("sets") + "/docs"
        environment = server.environment | {"NOCTULE_CACHE": str(tmp_path / "cache")}
        command = CommandLine(tmp_path, store.root, environment)
        done = command.run("publish", "--to", bucket, "--json")
        assert done.code == 0, done.err
        shutil.rmtree(store.root)
        found = command.run("search", "owls at dusk", "--store", bucket, "--json")
        assert found.code == 0 and found.json["hits"], found.err
        checked = command.run("check", "--deep", "--store", bucket, "--json")
        assert checked.code == 0, checked.err
        assert checked.json["snapshot"] == done.json["published"][0]["snapshot"]


def test_only_shards_that_changed_travel(
    store: Store, address: str, names: list[SnapshotId], changes: Changes
) -> None:
    every = send(store, address, 1)
    changes.made.clear()
    again = send(store, address, 1)
    assert (again.changed, again.sent, again.kept) == (False, 0, every.sent) and not changes.made
    store.rollback(names[1])
    night = send(store, address, 1)
    (changed,) = shards_of(store, names[1]) - shards_of(store, names[0])
    touched = {path for _, path in changes.made if path.startswith(SHARDS)}
    assert touched and all(path.startswith(f"{SHARDS}/{changed[0]}/") for path in touched)
    assert night.changed and 0 < night.sent < every.sent / 2 and night.sent + night.kept == every.sent
    # What names others comes after them; the pin says that it became current, and comes last.
    written = [path.rpartition("/")[2] for path in changes.of("replace")]
    assert written == [MANIFEST, MANIFEST, CURRENT, names[1]]
    assert not send(store, address, 1, deep=True).sent
    assert require_whole(address) == names[1]


def test_a_sending_that_is_killed_anywhere_leaves_one_edition_or_the_other(
    store: Store, address: str, names: list[SnapshotId], changes: Changes
) -> None:
    send(store, address, 0)
    changes.made.clear()
    store.rollback(names[1])
    first, seen = fsspec.filesystem("memory").store.copy(), []

    class Killed(BaseException):
        pass

    def kill() -> None:
        if len(changes.made) == at:
            raise Killed

    changes.before, at = kill, 0
    while True:
        try:
            send(store, address, 0)
            break
        except Killed:
            seen.append(require_whole(address))
        at += 1
        changes.made.clear()
        fsspec.filesystem("memory").store.clear()
        fsspec.filesystem("memory").store.update(first)
    assert set(seen) <= {names[0], names[1]} and seen.count(names[0]) > 10
    changes.before = lambda: None
    # The remains of a killed sending are not sent again, but read back.
    assert send(store, address, 0).kept > 10 and require_whole(address) == names[1]


def test_a_target_that_fills_up_keeps_its_edition(
    store: Store, address: str, names: list[SnapshotId], changes: Changes, tmp_path: Path
) -> None:
    send(store, address, 1)
    store.rollback(names[1])
    changes.made.clear()

    def fill() -> None:
        if len(changes.of("send")) == 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    filesystem = type(fsspec.filesystem("memory"))
    with pytest.MonkeyPatch.context() as patched:
        put = filesystem.put_file
        patched.setattr(filesystem, "put_file", lambda *given: (fill(), put(*given)))
        with pytest.raises(RemoteUnavailable, match=r"the target is full: .*No space left") as caught:
            send(store, address, 1)
    assert "Free" in caught.value.hint and SHARDS in caught.value.where
    assert require_whole(address) == names[0]
    assert send(store, address, 1).changed and require_whole(address) == names[1]


def test_a_folder_that_fills_up_keeps_its_edition(
    store: Store, names: list[SnapshotId], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "there"
    send(store, str(folder), 1)
    store.rollback(names[1])
    for nth in (40, 70):
        monkeypatch.setattr(durable, "disk", disk := FailingDisk(nth, errno.ENOSPC, for_ever=True))
        with pytest.raises(WriteFailed, match="No space left") as caught:
            send(store, str(folder), 1)
        assert disk.refused
        assert "Free some space" in caught.value.hint and caught.value.where.startswith(str(folder))
        monkeypatch.undo()
        with Store(folder).open() as current:
            assert current.id == names[0]
    assert send(store, str(folder), 1).changed
    check_deep(Store(folder).path_of(names[1]), names[1])


def test_shards_leave_a_target_when_no_set_there_names_them(
    store: Store, address: str, names: list[SnapshotId]
) -> None:
    for name in names:
        store.rollback(name)
        send(store, address, 0)
    assert shards_there(address) == shards_of(store, *names[-2:])
    # While one set cannot be read, nobody knows what it names.
    RemoteFiles(address).replace(f"{snapshot_folder(names[-2])}/{MANIFEST}", b"{}")
    store.rollback(names[0])
    send(store, address, 1)
    assert shards_there(address) == shards_of(store, *names)
    send(store, address, 0)
    assert shards_there(address) == shards_of(store, names[0], names[-1])


@pytest.mark.parametrize("at", [0, 3, 20, -4, -1])
def test_two_drivers_at_once_on_one_target(
    at: int, store: Store, address: str, names: list[SnapshotId], changes: Changes, tmp_path: Path
) -> None:
    """Another publishes, and prunes, in the midst of a sending."""
    send(store, f"{address}/rehearsal", 0)
    moment = at if at >= 0 else len(changes.made) + at
    copied_store(store.root, tmp_path / "other")
    other = Store(tmp_path / "other")
    other.rollback(names[2])
    changes.made.clear()

    def publish() -> None:
        if len(changes.made) == moment:
            changes.before = lambda: None
            send(other, address, 0)

    changes.before = publish
    send(store, address, 0)
    assert require_whole(address) in {names[0], names[2]}
    with Store(address).open() as found:
        check_deep(found.path, found.id)


def test_of_two_drivers_at_once_on_a_folder_the_second_is_refused(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "there"
    with Store(folder).lock("another run"), pytest.raises(StoreBusy):
        send(store, str(folder), 1)
    assert not (folder / SHARDS).exists()


def test_a_reader_of_a_set_that_is_pruned_meanwhile_gets_the_next(
    store: Store, address: str, names: list[SnapshotId], monkeypatch: pytest.MonkeyPatch
) -> None:
    send(store, address, 0)
    fetch_shard, later = Fetched.fetch_shard, names[1:3]

    def late(fetched: Fetched, remote: RemoteFiles, record: ShardRecord, of: Manifest) -> None:
        while later:
            store.rollback(later.pop(0))
            send(store, address, 0)
        fetch_shard(fetched, remote, record, of)

    monkeypatch.setattr(Fetched, "fetch_shard", late)
    with Store(address).open() as found:
        assert found.id == names[2]


def test_a_reader_of_some_shards_fetches_these(store: Store, address: str) -> None:
    send(store, address, 1)
    with Store(address, ShardChoice.parse("1/3")).open() as some:
        assert len(some.parts) == 1
    cached = mirror_folder(address) / SHARDS
    assert len(list(cached.glob(f"*/{SNAPSHOTS}/*"))) == 1
    with Store(address).open() as every:
        assert len(every.parts) == 3


def test_the_cache_mends_and_forgets_shards(
    store: Store, address: str, names: list[SnapshotId], changes: Changes
) -> None:
    for name in names:
        store.rollback(name)
        send(store, address, 9)
        with Store(address).open() as opened:
            assert opened.id == name
            table = opened.parts[1].path / "passages.parquet"
    cached = mirror_folder(address)
    kept = {(path.parent.parent.name, path.name) for path in (cached / SHARDS).glob(f"*/{SNAPSHOTS}/*")}
    assert kept == shards_of(store, *names[-2:])
    content = bytearray(table.read_bytes())
    content[100] ^= 1
    table.chmod(0o644)
    table.write_bytes(content)
    with Store(address).open() as mended:
        check_deep(mended.path, mended.id)


# What a forger, or a careless copy, makes of a set at an address


def _forge(address: str, shard: Manifest) -> None:
    """Make a set current whose second shard is another."""
    target, remote = RemoteTarget(RemoteFiles(address)), RemoteFiles(address)
    pointer = target.pointer()
    assert pointer is not None
    given = json.loads(target.manifest(pointer.id).to_bytes())
    given["shards"][1]["snapshot"] = shard.snapshot_id()
    remote.replace(f"{snapshot_folder(shard.snapshot_id(), '0001')}/{MANIFEST}", shard.to_bytes())
    content = json.dumps(given, sort_keys=True, separators=(",", ":")).encode() + b"\n"
    forged = Manifest.from_bytes(content, "test")
    remote.replace(f"{snapshot_folder(forged.snapshot_id())}/{MANIFEST}", forged.to_bytes())
    remote.replace(CURRENT, Pointer(forged.snapshot_id(), pointer.generation + 1, pointer.id).to_bytes())


def _with_settings(shard: Manifest, settings: Settings) -> Manifest:
    return replace(shard, settings=settings.shaping(), settings_sha256=settings.fingerprint())


@pytest.mark.parametrize(
    ("why", "change"),
    [
        ("not of its set's", lambda shard: replace(shard, model=replace(shard.model, sha256="0" * 64))),
        (
            "other settings",
            lambda shard: _with_settings(shard, parse({"chunk": {"max_tokens": 300}}, "test")),
        ),
        ("expected shard 0001, found 0002", lambda shard: replace(shard, shard="0002")),
        ("expected .* passages", lambda shard: replace(shard, counts={**shard.counts, "passages": 1})),
    ],
)
def test_a_shard_of_another_model_or_set_is_refused_before_it_is_fetched(
    why: str, change: Callable[[Manifest], Manifest], store: Store, address: str
) -> None:
    send(store, address, 1)
    with store.open() as opened:
        _forge(address, change(opened.parts[1].manifest))
    with pytest.raises(DamagedSnapshot, match=why) as caught:
        Store(address, ShardChoice.parse("1")).open()
    assert caught.value.where.startswith(f"{address}/{SHARDS}/0001/")
    assert not list((mirror_folder(address) / "objects").iterdir()), "nothing of it was fetched"


def test_a_shard_that_is_missing_at_an_address_is_named_and_sent_again(store: Store, address: str) -> None:
    send(store, address, 1)
    with store.open() as opened:
        record = opened.manifest.shards[1]
    folder = snapshot_folder(record.snapshot, record.name)
    remote = RemoteFiles(address)
    for path in remote.sizes(folder):
        remote.remove(path)
    with pytest.raises(DamagedSnapshot, match="shard 0001 is missing") as caught:
        Store(address).open()
    assert folder in caught.value.where and "publish --deep" in caught.value.hint
    assert send(store, address, 1).sent > 10
    with Store(address).open() as whole:
        check_deep(whole.path, whole.id)
