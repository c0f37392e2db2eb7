"""A snapshot sent over SSH to a real server, and read from there: only a known host is trusted, whatever is
damaged.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from noctule.artifacts.disk.layout import CURRENT
from noctule.artifacts.remote.send import send
from noctule.artifacts.store.check import check_deep
from noctule.artifacts.store.store import Store
from noctule.pipeline.discover import list_files
from noctule.pipeline.errors import (
    DamagedSnapshot,
    MissingRoot,
    RejectedDocument,
    RemoteUnavailable,
    SettingsError,
)
from noctule.pipeline.includes.source import read_source
from noctule.pipeline.settings.collection import Collection
from tests.command_line import CommandLine
from tests.loopback_server import running
from tests.snapshot_builder import publish_tiny_snapshot
from tests.ssh_server import SshServer

pytest.importorskip("paramiko")
pytest.importorskip("asyncssh")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshServer]:
    with running(SshServer(tmp_path_factory.mktemp("ssh"))) as started:
        yield started


@pytest.fixture
def target(server: SshServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An address of the test's own, in the home whose key the server knows."""
    monkeypatch.setenv("HOME", str(server.home))
    monkeypatch.setenv("NOCTULE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    return f"{server.address}/{tmp_path.name}/docs"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    built = Store(tmp_path / "store")
    publish_tiny_snapshot(built, 0)
    return built


def there(server: SshServer, target: str) -> Path:
    return server.files / target.removeprefix(f"{server.address}/")


def edition(store: Store) -> int:
    with store.open() as snapshot:
        return int(str(snapshot.manifest.settings["edition"]))


def test_what_was_sent_is_read_back_whole_and_old_snapshots_leave(
    server: SshServer, target: str, store: Store
) -> None:
    sent = send(store, target, keep=1)
    assert sent.changed and sent.kept == 0 and sent.sent > 10
    assert (there(server, target) / CURRENT).is_file()
    assert send(store, target, keep=1).sent == 0
    remote = Store(target)
    assert edition(remote) == 0
    check_deep(remote.path_of(sent.snapshot_id), sent.snapshot_id)
    ids = []
    for number in range(1, 5):
        publish_tiny_snapshot(store, number)
        ids.append(send(store, target, keep=1).snapshot_id)
    assert edition(Store(target)) == 4
    assert set(ids[1:]) == {path.name for path in (there(server, target) / "pins").iterdir()}
    assert not list(there(server, target).rglob(".*")), "nothing is left of what was written aside"


def test_what_is_damaged_there_is_refused_and_mended_by_a_deep_sending(
    server: SshServer, target: str, store: Store
) -> None:
    sent = send(store, target, keep=1)
    path = there(server, target) / "snapshots" / sent.snapshot_id / "passages.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(DamagedSnapshot):
        Store(target).open()
    assert send(store, target, keep=1, deep=True).sent == 1
    assert edition(Store(target)) == 0


def test_a_host_that_is_not_known_or_shows_another_key_gets_nothing(
    server: SshServer, target: str, store: Store
) -> None:
    known = server.known_hosts.read_text()
    try:
        server.known_hosts.write_text("")
        with pytest.raises(RemoteUnavailable, match="not found in known_hosts") as caught:
            send(store, target, keep=1)
        assert "once with ssh" in caught.value.hint
        name, kind, key = known.split()[:3]
        server.known_hosts.write_text(f"{name} {kind} {key[:-8]}{key[-8:].swapcase()}\n")
        with pytest.raises(RemoteUnavailable):
            send(store, target, keep=1)
    finally:
        server.known_hosts.write_text(known)
    assert not there(server, target).exists()


def test_a_host_may_have_the_name_that_the_ssh_config_gives_it(
    server: SshServer, target: str, store: Store
) -> None:
    config = server.home / ".ssh/config"
    config.write_text(f"Host roost\n  HostName 127.0.0.1\n  Port {server.port}\n  User owl\n")
    try:
        folder = target.removeprefix(f"{server.address}/")
        assert send(store, f"ssh://roost/{folder}", keep=1).changed
    finally:
        config.unlink()
    assert edition(Store(target)) == 0


def test_an_address_with_a_password_is_refused_and_does_not_show_it(store: Store) -> None:
    with pytest.raises(SettingsError, match="password") as caught:
        send(store, "sftp://owl:hoot-hoot@127.0.0.1/docs", keep=1)
    assert "hoot-hoot" not in str(caught.value)


def test_a_server_that_is_gone_is_said_and_the_cache_answers(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(SshServer(tmp_path / "ssh")) as short:
        monkeypatch.setenv("HOME", str(short.home))
        monkeypatch.setenv("NOCTULE_CACHE", str(tmp_path / "cache"))
        address = f"{short.address}/docs"
        home = {"HOME": str(short.home)}
        sent = CommandLine(tmp_path, store.root, home).run("publish", "--to", address, "--json")
        assert sent.code == 0, sent.err
        assert edition(Store(address)) == 0
    with pytest.raises(RemoteUnavailable, match="did not respond as expected"):
        send(store, address, keep=1)
    assert edition(Store(address)) == 0


def test_documents_are_read_over_ssh_where_they_lie(server: SshServer, target: str) -> None:
    folder = there(server, target)
    (folder / "sub").mkdir(parents=True)
    for number in range(20):
        (folder / "sub" / f"{number:02}.md").write_text(f"# Owl {number}\n")
    (folder / "link.md").symlink_to(folder / "sub" / "00.md")
    collection = Collection(root=target)
    listing = list_files("c", collection)
    assert len(listing.files) == 20 and [each.path for each in listing.rejections] == ["link.md"]
    with ThreadPoolExecutor(8) as pool:
        read = list(pool.map(lambda file: read_source(file, collection), listing.files))
    assert [source.content.decode() for source in read] == [f"# Owl {number}\n" for number in range(20)]
    assert [source.version for source in read] == [file.version for file in listing.files]
    (folder / "sub" / "00.md").unlink()
    with pytest.raises(RejectedDocument, match="gone"):
        read_source(listing.files[0], collection)
    with pytest.raises(MissingRoot):
        list_files("c", Collection(root=f"{target}/none"))
