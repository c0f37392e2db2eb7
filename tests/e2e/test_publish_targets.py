"""A snapshot sent to a real object server or a folder, whatever is damaged or interrupted, and read from
there.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from collections import deque
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

import pytest
from botocore.exceptions import ClientError
from s3fs import S3FileSystem
from s3fs.errors import translate_boto_error

from noctule.artifacts.disk.layout import CURRENT, MANIFEST
from noctule.artifacts.remote import files
from noctule.artifacts.remote.files import NotThere, RemoteFiles
from noctule.artifacts.remote.mirror import mirror_folder
from noctule.artifacts.remote.send import send
from noctule.artifacts.remote.upload import Upload
from noctule.artifacts.store.check import check_deep
from noctule.artifacts.store.pointer import Pointer
from noctule.artifacts.store.store import Store
from noctule.pipeline.errors import DamagedSnapshot, NoSnapshot, RemoteUnavailable, SettingsError
from tests.command_line import CommandLine, wait_until
from tests.loopback_server import running
from tests.object_server import ObjectServer
from tests.repetitions import ALL
from tests.snapshot_builder import publish_tiny_snapshot


@pytest.fixture
def target(bucket: str) -> str:
    """An address within the bucket."""
    return f"{bucket}/docs"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    built = Store(tmp_path / "store")
    publish_tiny_snapshot(built, 0)
    return built


def objects(server: ObjectServer, target: str) -> dict[str, int]:
    return {path: info["size"] for path, info in server.files().find(target, detail=True).items()}


def edition(store: Store) -> int:
    with store.open() as snapshot:
        assert (
            f"edition{snapshot.manifest.settings['edition']}" in snapshot.table("terms")["term"].to_pylist()
        )
        return int(str(snapshot.manifest.settings["edition"]))


def test_what_was_sent_is_read_back_whole(server: ObjectServer, target: str, store: Store) -> None:
    sent = send(store, target, keep=1)
    assert (sent.changed, sent.kept) == (True, 0) and sent.sent > 10 and sent.bytes > 10_000
    remote = Store(target)
    assert edition(remote) == 0
    check_deep(remote.path_of(sent.snapshot_id), sent.snapshot_id)
    assert remote.path_of(sent.snapshot_id).is_relative_to(mirror_folder(target))


def test_what_another_publisher_took_for_a_half_is_sent_again(
    server: ObjectServer, target: str, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    sending = Upload.send
    whole: list[int] = []

    def interrupted(upload: Upload, there: Mapping[str, int], have: Mapping[str, str]) -> dict[str, int]:
        moved = sending(upload, there, have)
        if not whole:
            RemoteFiles(target).remove(f"{upload.folder}/terms.parquet")
        whole.append(len(moved))
        return moved

    monkeypatch.setattr(Upload, "send", interrupted)
    sent = send(store, target, keep=1)
    assert whole == [whole[0], 1] and sent.changed and (sent.sent, sent.kept) == (whole[0], 0)
    assert edition(Store(target)) == 0
    check_deep(Store(target).path_of(sent.snapshot_id), sent.snapshot_id)


def test_the_same_snapshot_is_not_sent_again(server: ObjectServer, target: str, store: Store) -> None:
    first = send(store, target, keep=1)
    for deep in (False, True):
        again = send(store, target, keep=1, deep=deep)
        assert (again.changed, again.sent, again.bytes, again.kept) == (False, 0, 0, first.sent)


def test_files_that_did_not_change_do_not_travel_again(
    server: ObjectServer, target: str, store: Store
) -> None:
    first = send(store, target, keep=1)
    publish_tiny_snapshot(store, 1)
    second = send(store, target, keep=1)
    assert second.changed and 0 < second.sent < first.sent and second.sent + second.kept == first.sent
    assert edition(Store(target)) == 1


def test_old_snapshots_leave_the_target_by_the_stores_rules(
    server: ObjectServer, target: str, store: Store
) -> None:
    ids = []
    for number in range(1, 5):
        publish_tiny_snapshot(store, number)
        ids.append(send(store, target, keep=1).snapshot_id)
    there = {
        path.split("/snapshots/")[1].split("/")[0]
        for path in objects(server, target)
        if "/snapshots/" in path
    }
    assert there == set(ids[1:])
    assert {path.rpartition("/")[2] for path in objects(server, target) if "/pins/" in path} == there


@pytest.mark.parametrize("after", [1, 9] if ALL else [9])
def test_a_sending_that_is_killed_leaves_the_pointer_and_the_next_goes_on(
    after: int, server: ObjectServer, target: str, store: Store, tmp_path: Path
) -> None:
    send(store, target, keep=1)
    before = server.files().cat_file(f"{target}/{CURRENT}")
    folder = f"{target}/snapshots/{publish_tiny_snapshot(store, 1).snapshot_id}"
    environment = server.environment | {"NOCTULE_CACHE": str(tmp_path / "cache")}
    with server.accepting(after):
        started = CommandLine(tmp_path, store.root, environment).start("publish", "--to", target)
        wait_until(lambda: len(objects(server, folder)) == after, 60, "nothing was sent")
        os.kill(started.process.pid, signal.SIGKILL)
        started.process.wait(10)
    assert len(objects(server, folder)) == after, "another file came after the kill"
    assert server.files().cat_file(f"{target}/{CURRENT}") == before
    assert edition(Store(target)) == 0
    resumed = send(store, target, keep=1)
    assert resumed.changed and resumed.kept >= after
    assert edition(Store(target)) == 1


def test_a_damaged_remote_file_is_refused_named_and_mended_by_a_deep_sending(
    server: ObjectServer, target: str, store: Store
) -> None:
    sent = send(store, target, keep=1)
    path = f"{target}/snapshots/{sent.snapshot_id}/passages.parquet"
    content = bytearray(server.files().cat_file(path))
    content[len(content) // 2] ^= 1
    server.files().pipe_file(path, bytes(content))
    with pytest.raises(DamagedSnapshot, match=r"expected .* bytes with SHA-256") as caught:
        Store(target).open()
    assert caught.value.where == path and "--deep" in caught.value.hint
    assert send(store, target, keep=1).sent == 0, "only a deep sending reads what is there"
    assert send(store, target, keep=1, deep=True).sent == 1
    assert edition(Store(target)) == 0


def test_a_missing_remote_file_is_named_and_sent_again(
    server: ObjectServer, target: str, store: Store
) -> None:
    sent = send(store, target, keep=1)
    path = f"{target}/snapshots/{sent.snapshot_id}/vectors.faiss"
    server.files().rm_file(path)
    with pytest.raises(DamagedSnapshot, match="the file is missing") as caught:
        Store(target).open()
    assert caught.value.where == path
    assert send(store, target, keep=1).sent == 1
    assert edition(Store(target)) == 0


@pytest.mark.parametrize("torn", [b'{"generation":1,"id":"', *([b"", b"\x00" * 5000] if ALL else [])])
def test_a_torn_pointer_is_refused_and_mended_by_the_next_sending(
    torn: bytes, server: ObjectServer, target: str, store: Store
) -> None:
    send(store, target, keep=1)
    server.files().pipe_file(f"{target}/{CURRENT}", torn)
    with pytest.raises(DamagedSnapshot, match="does not name a snapshot") as caught:
        Store(target).open()
    assert caught.value.where == f"{target}/{CURRENT}"
    assert send(store, target, keep=1).changed
    pointer = Pointer.from_bytes(server.files().cat_file(f"{target}/{CURRENT}"), "", "")
    assert pointer.generation == 2
    assert edition(Store(target)) == 0


def test_what_is_cached_is_read_offline_and_what_is_not_says_so(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOCTULE_CACHE", str(tmp_path / "cache"))
    with running(ObjectServer(tmp_path)) as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        target = server.bucket("offline") + "/docs"
        send(store, target, keep=1)
        assert edition(Store(target)) == 0
    began = time.monotonic()
    assert edition(Store(target)) == 0
    assert time.monotonic() - began < 30
    with pytest.raises(RemoteUnavailable, match="did not respond") as caught:
        Store(f"{target}-another").open()
    assert caught.value.exit_code == 3
    with pytest.raises(RemoteUnavailable):
        send(store, target, keep=1)


def test_a_damaged_cache_is_fetched_again(server: ObjectServer, target: str, store: Store) -> None:
    send(store, target, keep=1)
    remote = Store(target)
    with remote.open() as snapshot:
        path = snapshot.path / "passages.parquet"
    path.chmod(0o644)
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(content)
    assert edition(remote) == 0
    assert edition(Store(target)) == 0


def test_the_cache_keeps_the_current_and_the_previous_snapshot_and_shared_files_once(
    server: ObjectServer, target: str, store: Store
) -> None:
    remote = Store(target)
    for number in range(1, 5):
        publish_tiny_snapshot(store, number)
        send(store, target, keep=1)
        assert edition(remote) == number
    kept = [path for path in (remote.root / "snapshots").iterdir() if path.is_dir()]
    assert len(kept) == 2
    files = [path for folder in kept for path in folder.iterdir() if path.name != MANIFEST]
    inodes = {path.stat().st_ino for path in files}
    assert len(inodes) < len(files)
    assert inodes == {path.stat().st_ino for path in (remote.root / "objects").iterdir()}


@pytest.mark.parametrize(("size", "requests"), [(0, 1), (7, 1), (8, 2), (17, 3)])
def test_a_file_is_read_with_one_request_a_block(
    server: ObjectServer, target: str, size: int, requests: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_BLOCK", 8)
    content, remote = os.urandom(size), RemoteFiles(target)
    remote.replace("a", content)
    asked: list[str] = []
    call = S3FileSystem._call_s3
    monkeypatch.setattr(
        S3FileSystem,
        "_call_s3",
        lambda client, method, *given, **named: asked.append(method) or call(client, method, *given, **named),
    )
    assert b"".join(remote.blocks("a")) == content and asked == ["get_object"] * requests
    assert remote.read("a", 5) == content[:5] and asked == ["get_object"] * (requests + 1)
    with pytest.raises(NotThere):
        remote.read("b", 5)
    with pytest.raises(NotThere):
        list(remote.blocks("b"))


@pytest.mark.parametrize("code", ["400", "InvalidArgument", "AuthorizationHeaderMalformed", "InvalidToken"])
def test_a_refusal_is_no_empty_file(
    server: ObjectServer, target: str, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refusing(*_given: object, **_named: object) -> None:
        raise translate_boto_error(ClientError({"Error": {"Code": code, "Message": "no"}}, "GetObject"))

    monkeypatch.setattr(S3FileSystem, "_call_s3", refusing)
    with pytest.raises(RemoteUnavailable, match="did not respond as expected"):
        RemoteFiles(target).read("a", 5)
    with pytest.raises(RemoteUnavailable, match="did not respond as expected"):
        list(RemoteFiles(target).blocks("a"))


def test_a_server_that_sends_whole_files_where_parts_are_asked_for_is_refused(
    server: ObjectServer, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_BLOCK", 8)
    monkeypatch.setattr(S3FileSystem, "cat_file", lambda *_given, **_named: b"9" * 9)
    with pytest.raises(RemoteUnavailable, match="sent 9 bytes where 8"):
        deque(islice(RemoteFiles(target).blocks("a"), 50))


def test_a_store_elsewhere_is_not_written_to(server: ObjectServer, target: str, store: Store) -> None:
    with pytest.raises(NoSnapshot, match="nothing has been published there"):
        Store(target).open()
    send(store, target, keep=1)
    with pytest.raises(SettingsError, match="read-only") as caught, Store(target).lock("test"):
        pass
    assert caught.value.where == target


def test_a_bucket_that_is_not_there_is_an_error_of_the_house(
    server: ObjectServer, target: str, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RemoteUnavailable) as caught:
        send(store, "s3://no-such-bucket/docs", keep=1)
    assert caught.value.where.startswith("s3://no-such-bucket/docs")
    assert caught.value.what == "there is no bucket 'no-such-bucket'" and "Make it" in caught.value.hint
    monkeypatch.setitem(sys.modules, "gcsfs", None)
    with pytest.raises(SettingsError, match="needs gcsfs"):
        send(store, "gs://no-such-bucket/docs", keep=1)


def test_a_folder_is_a_target_and_then_a_store(store: Store, tmp_path: Path) -> None:
    folder = str(tmp_path / "elsewhere")
    first = send(store, folder, keep=1)
    assert first.changed and edition(Store(folder)) == 0
    publish_tiny_snapshot(store, 1)
    second = send(store, folder, keep=0)
    assert 0 < second.sent < first.sent and edition(Store(folder)) == 1
    assert not send(store, folder, keep=0).changed
    with pytest.raises(SettingsError, match="the store itself"):
        send(store, str(store.root), keep=1)


def test_the_address_of_a_folder_goes_the_way_of_any_other(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOCTULE_CACHE", str(tmp_path / "cache"))
    address = f"file://{tmp_path}/by-address"
    assert send(store, address, keep=1).changed
    assert edition(Store(address)) == 0
    # It has the layout of a store, so it is one.
    assert edition(Store(tmp_path / "by-address")) == 0


def test_the_command_line_publishes_and_searches_elsewhere(
    server: ObjectServer, target: str, store: Store, tmp_path: Path
) -> None:
    environment = server.environment | {"NOCTULE_CACHE": str(tmp_path / "cache")}
    command = CommandLine(tmp_path, store.root, environment)
    done = command.run("publish", "--to", target, "--json")
    assert done.code == 0, done.err
    assert done.json["published"][0]["changed"]
    shutil.rmtree(store.root)
    shown = command.run("check", "--deep", "--store", target, "--json")
    assert shown.code == 0, shown.err
    assert shown.json["snapshot"] == done.json["published"][0]["snapshot"]
    refused = command.run("index", str(tmp_path), "--store", target, "--no-prefect", "--json")
    assert refused.code == 2 and refused.error["kind"] == "SettingsError"
    assert "Traceback" not in refused.err
    (tmp_path / "store").mkdir()
    failed = command.run("publish", "--json")
    assert failed.code == 2 and failed.error["where"] == "publish.targets"
